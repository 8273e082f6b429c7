#ifndef C_BENCHMARK_LIMITS_H
#define C_BENCHMARK_LIMITS_H

#include "bl_limits.h"
#include "bl_rcu.h"
#include "bl_reference.h"
#include "bl_sleeper.h"
#include "bl_spsc.h"
#include "bl_time.h"
#include "bl_wfcqueue.h"

#endif
