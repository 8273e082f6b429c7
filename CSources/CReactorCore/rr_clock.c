/* For clock_gettime. */
#define _GNU_SOURCE

#include "rr_clock.h"

#include <time.h>

int64_t rr_clock_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
