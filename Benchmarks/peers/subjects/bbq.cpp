#include "peer.h"

#include "bbq_core.h"

namespace {
/* Entries are packed in blocks, and need no word of their own. How many blocks suit best depends on
 * the workload and the machine: the best one counts. */
#define BBQ_QUEUE(LOG, NAME)                                                                       \
  class BbqQueue##LOG {                                                                            \
    bbq_core *core = bbq_core_create_##LOG();                                                      \
                                                                                                   \
  public:                                                                                          \
    explicit BbqQueue##LOG(unsigned) {}                                                            \
    ~BbqQueue##LOG() { bbq_core_destroy_##LOG(core); }                                             \
    size_t send(unsigned, const Item *items, size_t count) {                                       \
      return bbq_core_send_##LOG(core, items, count);                                              \
    }                                                                                              \
    size_t receive(Item *items, size_t most) { return bbq_core_receive_##LOG(core, items, most); } \
  };                                                                                               \
  PEER(BbqQueue##LOG, NAME, true, true, true)
BBQ_QUEUE(4, "bbq 16 blocks")
BBQ_QUEUE(6, "bbq 64 blocks")
BBQ_QUEUE(8, "bbq 256 blocks")
} // namespace
