#include "one_by_one.h"

#include <atomic_queue/atomic_queue.h>

namespace {
/* Items must not be 0. */
class AtomicQueue {
  atomic_queue::AtomicQueue<Item, CAPACITY> queue;

public:
  explicit AtomicQueue(unsigned) {}
  size_t send(unsigned, const Item *items, size_t count) {
    return send_each(items, count, [&](Item item) { return queue.try_push(item); });
  }
  size_t receive(Item *items, size_t most) {
    return receive_each(items, most, [&](Item &item) { return queue.try_pop(item); });
  }
};
PEER(AtomicQueue, "atomic_queue", true, true, false)
} // namespace
