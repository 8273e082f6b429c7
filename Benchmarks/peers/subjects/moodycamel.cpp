#include "peer.h"

#include <concurrentqueue.h>

namespace {
/* moodycamel's queue with a token for each producer: the order of one producer only, and no bound.
 */
class Moodycamel {
  moodycamel::ConcurrentQueue<Item> queue{CAPACITY};
  std::vector<moodycamel::ProducerToken> producers;
  moodycamel::ConsumerToken consumer{queue};

public:
  explicit Moodycamel(unsigned count) {
    for (unsigned i = 0; i < count; i++) producers.emplace_back(queue);
  }
  size_t send(unsigned producer, const Item *items, size_t count) {
    if (count == 1) return queue.enqueue(producers[producer], *items) ? 1 : 0;
    return queue.enqueue_bulk(producers[producer], items, count) ? count : 0;
  }
  size_t receive(Item *items, size_t most) { return queue.try_dequeue_bulk(consumer, items, most); }
};
PEER(Moodycamel, "moodycamel", false, false, true)
} // namespace
