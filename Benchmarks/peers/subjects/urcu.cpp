#include "one_by_one.h"

#include <algorithm>

extern "C" {
#include "bl_wfcqueue.h"
}

namespace {
/* liburcu's wait-free queue, with a node from malloc for each item. */
class UrcuQueue {
  bl_wfcqueue *queue = bl_wfcqueue_create();

public:
  explicit UrcuQueue(unsigned) {}
  ~UrcuQueue() { bl_wfcqueue_destroy(queue); }
  size_t send(unsigned, const Item *items, size_t count) {
    return send_each(items, count, [&](Item item) {
      return bl_wfcqueue_enqueue(queue, {0, item});
    });
  }
  size_t receive(Item *items, size_t most) {
    bl_item nodes[64];
    const size_t count = bl_wfcqueue_drain(queue, nodes, std::min<size_t>(most, 64));
    for (size_t i = 0; i < count; i++) items[i] = nodes[i].value;
    return count;
  }
};
PEER(UrcuQueue, "urcu wfcqueue", false, true, false)
} // namespace
