#include "peer.h"

#include <cstdlib>

#include <rte_ring.h>

namespace {
/* DPDK's ring without the rest of DPDK, in the three ways in which its producers can synchronize.
 */
template <unsigned FLAGS> class RteRing {
  rte_ring *ring;

public:
  explicit RteRing(unsigned) {
    const ssize_t size = rte_ring_get_memsize_elem(sizeof(Item), CAPACITY);
    ring = static_cast<rte_ring *>(
        std::aligned_alloc(128, (static_cast<size_t>(size) + 127) / 128 * 128));
    if (rte_ring_init(ring, "race", CAPACITY, FLAGS | RING_F_SC_DEQ) != 0) std::abort();
  }
  ~RteRing() { std::free(ring); }
  size_t send(unsigned, const Item *items, size_t count) {
    const auto number = static_cast<unsigned>(count);
    if (FLAGS == RING_F_MP_RTS_ENQ) {
      return rte_ring_mp_rts_enqueue_burst_elem(ring, items, sizeof(Item), number, nullptr);
    }
    if (FLAGS == RING_F_MP_HTS_ENQ) {
      return rte_ring_mp_hts_enqueue_burst_elem(ring, items, sizeof(Item), number, nullptr);
    }
    return rte_ring_mp_enqueue_burst_elem(ring, items, sizeof(Item), number, nullptr);
  }
  size_t receive(Item *items, size_t most) {
    return rte_ring_sc_dequeue_burst_elem(ring, items, sizeof(Item), static_cast<unsigned>(most),
                                          nullptr);
  }
};
using RteRingMt = RteRing<0>;
using RteRingRts = RteRing<RING_F_MP_RTS_ENQ>;
using RteRingHts = RteRing<RING_F_MP_HTS_ENQ>;
PEER(RteRingMt, "rte_ring", true, true, true)
PEER(RteRingRts, "rte_ring rts", true, true, true)
PEER(RteRingHts, "rte_ring hts", true, true, true)
} // namespace
