#include "one_by_one.h"

#include "aeron_core.h"

namespace {
/* A slot is empty if it is null, so it needs no word of its own. */
class AeronQueue {
  aeron_core *core = aeron_core_create(CAPACITY);

public:
  explicit AeronQueue(unsigned) {}
  ~AeronQueue() { aeron_core_destroy(core); }
  size_t send(unsigned, const Item *items, size_t count) {
    return send_each(items, count, [&](Item item) { return aeron_core_send(core, item); });
  }
  size_t receive(Item *items, size_t most) { return aeron_core_receive(core, items, most); }
};
PEER(AeronQueue, "aeron mpsc array", true, true, false)
} // namespace
