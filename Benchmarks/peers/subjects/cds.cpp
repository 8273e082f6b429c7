#include "one_by_one.h"

#include <cds/container/vyukov_mpmc_cycle_queue.h>

namespace {
/* libcds' queue after Vyukov, with one consumer. */
class CdsQueue {
  cds::container::VyukovMPSCCycleQueue<Item> queue{CAPACITY};

public:
  explicit CdsQueue(unsigned) {}
  size_t send(unsigned, const Item *items, size_t count) {
    return send_each(items, count, [&](Item item) { return queue.enqueue(item); });
  }
  size_t receive(Item *items, size_t most) {
    return receive_each(items, most, [&](Item &item) { return queue.dequeue(item); });
  }
};
PEER(CdsQueue, "libcds vyukov", true, true, false)
} // namespace
