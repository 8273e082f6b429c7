#ifndef C_BENCHMARK_LIMITS_H
#define C_BENCHMARK_LIMITS_H

#include "bl_limits.h"
#include "bl_spsc.h"
#include "bl_time.h"
#include "bl_wfcqueue.h"

#endif
