#include "one_by_one.h"

#include <atomic_queue/atomic_queue.h>

namespace {
/* Items must not be 0. With a total order, an operation may not begin before an earlier one of the
 * same thread. */
template <bool HAS_TOTAL_ORDER> class AtomicQueue {
  atomic_queue::AtomicQueue<Item, CAPACITY, Item(0), true, true, HAS_TOTAL_ORDER> queue;

public:
  explicit AtomicQueue(unsigned) {}
  size_t send(unsigned, const Item *items, size_t count) {
    return send_each(items, count, [&](Item item) { return queue.try_push(item); });
  }
  size_t receive(Item *items, size_t most) {
    return receive_each(items, most, [&](Item &item) { return queue.try_pop(item); });
  }
};
using AtomicQueueRelaxed = AtomicQueue<false>;
using AtomicQueueTotal = AtomicQueue<true>;
PEER(AtomicQueueRelaxed, "atomic_queue", true, true, false)
PEER(AtomicQueueTotal, "atomic_queue total", true, true, false)
} // namespace
