#include "one_by_one.h"

#include <xenium/vyukov_bounded_queue.hpp>

namespace {
/* xenium's queue after Vyukov, in the form that may report "full" falsely. */
class XeniumQueue {
  xenium::vyukov_bounded_queue<Item> queue{CAPACITY};

public:
  explicit XeniumQueue(unsigned) {}
  size_t send(unsigned, const Item *items, size_t count) {
    return send_each(items, count, [&](Item item) { return queue.try_push_weak(item); });
  }
  size_t receive(Item *items, size_t most) {
    return receive_each(items, most, [&](Item &item) { return queue.try_pop_weak(item); });
  }
};
PEER(XeniumQueue, "xenium weak", true, true, false)
} // namespace
