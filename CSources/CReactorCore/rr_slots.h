/* rr_slots.h: how the ring and the lanes check and allocate their slots. Private to the C core. */
#ifndef RR_SLOTS_H
#define RR_SLOTS_H

#include "rr_platform.h"
#include "rr_ring.h"

static inline size_t rr_round_up(size_t value, size_t unit) {
  return (value + unit - 1) / unit * unit;
}

/* Checks the arguments of a creation. Returns RR_OK, or the code of the first one that is wrong. */
static inline rr_status rr_slots_check(uint64_t capacity, size_t size, size_t alignment) {
  if (capacity == 0) return RR_CAPACITY_ZERO;
  if ((capacity & (capacity - 1)) != 0) return RR_CAPACITY_NOT_POWER_OF_TWO;
  if (capacity > RR_RING_MAX_CAPACITY) return RR_CAPACITY_TOO_LARGE;
  if (size == 0) return RR_STRIDE_ZERO;
  if (size > RR_MAX_PAYLOAD) return RR_STRIDE_TOO_LARGE;
  if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > RR_MAX_ALIGNMENT) {
    return RR_ALIGNMENT_INVALID;
  }
  return RR_OK;
}

/* The size of the slots in bytes, rounded up to whole cache lines. It cannot overflow: at most 2^31
 * slots of less than 2^21 bytes. */
static inline size_t rr_slots_size(uint64_t capacity, size_t stride) {
  return rr_round_up((size_t)capacity * stride, RR_CACHE_LINE);
}

/* Allocates the slots at the beginning of a cache line. Returns NULL if there is no memory. */
static inline unsigned char *rr_slots_allocate(uint64_t capacity, size_t stride) {
  return rr_platform_in_use->allocate(RR_CACHE_LINE, rr_slots_size(capacity, stride));
}

#endif
