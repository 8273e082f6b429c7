/* CReactorCore.h: the lock-free core of the reactor runtime. C11, without policy, without threads
 * of its own, with malloc as the only allocator. rr_platform.h lists what it needs from the system.
 * Read rr_ring.h first. MEMORY_MODEL.md lists every happens-before edge. */
#ifndef CREACTORCORE_H
#define CREACTORCORE_H

#include "rr_access.h"
#include "rr_atomic.h"
#include "rr_eventcount.h"
#include "rr_fence.h"
#include "rr_lanes.h"
#include "rr_platform.h"
#include "rr_poller.h"
#include "rr_readers.h"
#include "rr_ring.h"
#include "rr_signals.h"
#include "rr_status.h"
#include "rr_thread.h"
#include "rr_trace.h"
#include "rr_trampoline.h"

#endif
