/* Our ring for C++, whose compilers do not read the C core. Link-time optimization inlines these
 * functions. */
#include "ours_core.h"

#include "rr_ring.h"

rr_ring *ours_ring_create(uint64_t capacity) {
  rr_ring *ring = NULL;
  rr_ring_create(&ring, capacity, sizeof(uint64_t), _Alignof(uint64_t), 0);
  return ring;
}

void ours_ring_destroy(rr_ring *ring) { rr_ring_destroy(ring); }

bool ours_ring_send(rr_ring *ring, const uint64_t *items, uint64_t count) {
  uint64_t cursor;
  if (rr_ring_try_claim(ring, count, &cursor) != RR_OK) return false;
  for (uint64_t i = 0; i < count; i++) *(uint64_t *)rr_ring_payload(ring, cursor + i) = items[i];
  rr_ring_publish(ring, cursor, count);
  return true;
}

size_t ours_ring_receive(rr_ring *ring, uint64_t *items, size_t most) {
  const uint64_t head = rr_ring_head(ring);
  uint32_t left = rr_ring_run_left(ring);
  size_t count = 0;
  while (count < most) {
    /* Nothing is ever abandoned here, so a run has no flag. */
    if (left == 0) left = rr_ring_peek(ring, head + count);
    if (left == 0) break;
    const size_t taken = left < most - count ? left : most - count;
    for (size_t i = 0; i < taken; i++) {
      items[count + i] = *(const uint64_t *)rr_ring_payload(ring, head + count + i);
    }
    count += taken;
    left -= (uint32_t)taken;
  }
  if (count == 0) return 0;
  rr_ring_set_run_left(ring, left);
  rr_ring_release(ring, head + count);
  return count;
}
