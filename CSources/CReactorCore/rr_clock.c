#include "rr_clock.h"

#include "rr_platform.h"

int64_t rr_clock_ns(void) { return rr_platform_in_use->clock_ns(); }
