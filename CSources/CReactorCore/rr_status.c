#include "rr_status.h"

const char *rr_status_text(rr_status status) {
  switch (status) {
  case RR_OK:
    return "done";
  case RR_FULL:
    return "full: there is no room until the consumer releases a slot";
  case RR_CLOSED:
    return "closed: nothing more is accepted";
  case RR_CAPACITY_ZERO:
    return "the capacity is zero; it must be a power of two";
  case RR_CAPACITY_NOT_POWER_OF_TWO:
    return "the capacity is not a power of two";
  case RR_CAPACITY_TOO_LARGE:
    return "the capacity is larger than 2^31 slots";
  case RR_STRIDE_ZERO:
    return "the payload's size is zero";
  case RR_STRIDE_TOO_LARGE:
    return "the payload's size is larger than 1 MiB";
  case RR_ALIGNMENT_INVALID:
    return "the payload's alignment is not a power of two of at most 128";
  case RR_COUNT_INVALID:
    return "the count is zero or larger than the capacity";
  case RR_OUT_OF_MEMORY:
    return "out of memory";
  case RR_LANES_EXHAUSTED:
    return "every lane is taken by another producer";
  case RR_LANE_COUNT_INVALID:
    return "the number of lanes is zero or larger than 1024";
  case RR_DESCRIPTOR_FAILED:
    return "the kernel gave no eventfd";
  }
  return "unknown status";
}
