/* rr_slots.h: what ring and lanes share when they are created. Private to the C core. */
#ifndef RR_SLOTS_H
#define RR_SLOTS_H

#include "rr_ring.h"

static inline size_t rr_round_up(size_t value, size_t unit) {
  return (value + unit - 1) / unit * unit;
}

/* Says what is wrong with the arguments of a creation, or RR_OK. */
rr_status rr_slots_check(uint64_t capacity, size_t size, size_t alignment);
/* How many bytes that many slots take: at most 2^31 slots of less than 2^21 bytes. */
static inline size_t rr_slots_size(uint64_t capacity, size_t stride) {
  return rr_round_up((size_t)capacity * stride, RR_CACHE_LINE);
}
/* capacity * stride bytes, aligned to a cache line, or NULL. */
unsigned char *rr_slots_allocate(uint64_t capacity, size_t stride);

#endif
