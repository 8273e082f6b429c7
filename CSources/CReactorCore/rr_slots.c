#include "rr_slots.h"

#include "rr_platform.h"

rr_status rr_slots_check(uint64_t capacity, size_t size, size_t alignment) {
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

unsigned char *rr_slots_allocate(uint64_t capacity, size_t stride) {
  return rr_platform_in_use->allocate(RR_CACHE_LINE, rr_slots_size(capacity, stride));
}
