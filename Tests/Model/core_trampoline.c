/* rr_trampoline.c on the checker's scheduler. */
#include <sched.h>

#include "core.h"

#define sched_yield model_yield
#include "rr_trampoline.c"
