#include "one_by_one.h"

#include <tbb/concurrent_queue.h>

namespace {
class TbbQueue {
  tbb::concurrent_bounded_queue<Item> queue;

public:
  explicit TbbQueue(unsigned) { queue.set_capacity(CAPACITY); }
  size_t send(unsigned, const Item *items, size_t count) {
    return send_each(items, count, [&](Item item) { return queue.try_push(item); });
  }
  size_t receive(Item *items, size_t most) {
    return receive_each(items, most, [&](Item &item) { return queue.try_pop(item); });
  }
};
PEER(TbbQueue, "tbb bounded", true, true, false)
} // namespace
