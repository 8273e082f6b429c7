#include "peer.h"

#include "ours_core.h"

namespace {
/* The ring of CSources/CReactorCore. */
class Ours {
  rr_ring *ring = ours_ring_create(CAPACITY);

public:
  explicit Ours(unsigned) {}
  ~Ours() { ours_ring_destroy(ring); }
  size_t send(unsigned, const Item *items, size_t count) {
    return ours_ring_send(ring, items, count) ? count : 0;
  }
  size_t receive(Item *items, size_t most) { return ours_ring_receive(ring, items, most); }
};
PEER(Ours, "ours", true, true, true)
} // namespace
