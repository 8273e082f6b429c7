/* rr_fence.h: an asymmetric full fence.
 *
 * The pattern "I write mine, then I read yours" needs a full fence on both sides. Here the frequent
 * side pays only a compiler fence, because the rare side asks the kernel to run a full fence on
 * every thread of the process (membarrier, private expedited: about 9 us). Where the kernel has no
 * membarrier, or RR_NO_MEMBARRIER is set in the environment, the fence is symmetric: both sides run
 * a full fence.
 *
 * The choice is made once, when a thread creates the first object of this library that needs a
 * fence, before any light fence can run.
 */
#ifndef RR_FENCE_H
#define RR_FENCE_H

#include "rr_atomic.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Alone in its lines, which no thread writes after the setup: each light fence loads it. */
struct rr_fence_kind {
  _Alignas(RR_CACHE_LINE) _Atomic int is_symmetric;
};
extern struct rr_fence_kind rr_fence_kind;

/* Chooses the kind of fence. Any thread. Idempotent. */
void rr_fence_setup(void);
/* The rare side. Any thread. Returns false if the kernel refused, which it has no reason to do.
 * Then only the calling thread is ordered, and the caller must wait for the other side. */
bool rr_fence_heavy(void);
/* Whether the kernel has ever refused the heavy fence. Relaxed: a hint. Any thread. */
bool rr_fence_was_refused(void);

/* Whether both sides run a full fence. Any thread. Relaxed: the object whose creation ran
 * rr_fence_setup() reached this thread by a happens-before edge of its own, which carries the flag
 * too. */
static inline bool rr_fence_is_symmetric(void) {
  return __builtin_expect(rr_load_relaxed(&rr_fence_kind.is_symmetric), 0);
}

/* The frequent side. Any thread. */
static inline void rr_fence_light(void) {
  if (rr_fence_is_symmetric()) {
    rr_full_fence(RR_EDGE_WAKE);
  } else {
    rr_compiler_fence(RR_EDGE_WAKE);
  }
}

#ifdef __cplusplus
}
#endif

#endif
