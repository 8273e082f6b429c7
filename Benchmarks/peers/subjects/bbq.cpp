#include "peer.h"

#include "bbq_core.h"

namespace {
/* Entries are packed in blocks, and need no word of their own. */
class BbqQueue {
  bbq_core *core = bbq_core_create();

public:
  explicit BbqQueue(unsigned) {}
  ~BbqQueue() { bbq_core_destroy(core); }
  size_t send(unsigned, const Item *items, size_t count) {
    return bbq_core_send(core, items, count);
  }
  size_t receive(Item *items, size_t most) { return bbq_core_receive(core, items, most); }
};
PEER(BbqQueue, "bbq", true, true, true)
} // namespace
