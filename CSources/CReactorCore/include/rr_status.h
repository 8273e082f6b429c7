/* rr_status.h: the result codes of the core. */
#ifndef RR_STATUS_H
#define RR_STATUS_H

typedef enum rr_status {
  RR_OK = 0,
  RR_FULL = 1,   /* no room now; try again after the consumer released */
  RR_CLOSED = 2, /* closed for producers, permanently */
  RR_CAPACITY_ZERO = 3,
  RR_CAPACITY_NOT_POWER_OF_TWO = 4,
  RR_CAPACITY_TOO_LARGE = 5,
  RR_STRIDE_ZERO = 6,
  RR_STRIDE_TOO_LARGE = 7,
  RR_ALIGNMENT_INVALID = 8,
  RR_COUNT_INVALID = 9,
  RR_OUT_OF_MEMORY = 10,
  RR_LANES_EXHAUSTED = 11,
  RR_LANE_COUNT_INVALID = 12,
  RR_DESCRIPTOR_FAILED = 13,
} rr_status;

#endif
