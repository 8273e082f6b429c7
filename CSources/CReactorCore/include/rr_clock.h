/* rr_clock.h: the clock that only goes forward, which timers and time limits of the kernel use. */
#ifndef RR_CLOCK_H
#define RR_CLOCK_H

#include <stdint.h>

/* Nanoseconds since some moment before the process began. About 25 ns; no system call. */
int64_t rr_clock_ns(void);

#endif
