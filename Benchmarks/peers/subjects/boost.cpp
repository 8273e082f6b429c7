#include "one_by_one.h"

#include <boost/lockfree/queue.hpp>

namespace {
/* Boost's queue of nodes, which are all allocated beforehand: at most 65,534 by its 16-bit indices.
 */
class BoostQueue {
  boost::lockfree::queue<Item, boost::lockfree::capacity<65534>> queue;

public:
  explicit BoostQueue(unsigned) {}
  size_t send(unsigned, const Item *items, size_t count) {
    return send_each(items, count, [&](Item item) { return queue.bounded_push(item); });
  }
  size_t receive(Item *items, size_t most) {
    return receive_each(items, most, [&](Item &item) { return queue.pop(item); });
  }
};
PEER(BoostQueue, "boost::lockfree", true, true, false)
} // namespace
