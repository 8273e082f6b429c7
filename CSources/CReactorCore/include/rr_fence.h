/* rr_fence.h: an asymmetric full fence.
 *
 * "I wrote mine, then I look at yours" needs a full fence on both sides. Here the frequent side
 * pays nothing but a compiler fence, because the rare side asks the kernel to run a full fence on
 * every thread of the process (membarrier, private expedited: about 9 us). Where the kernel has no
 * membarrier, or RR_NO_MEMBARRIER is set in the environment, both sides run a full fence.
 *
 * The choice is made once, by whoever first creates an object of this library, before any light
 * fence can run; rr_fence_setup() is idempotent.
 */
#ifndef RR_FENCE_H
#define RR_FENCE_H

#include "rr_atomic.h"

extern _Atomic int rr_fence_symmetric;

/* Chooses the kind of fence. Any thread, any number of times. */
void rr_fence_setup(void);
/* The rare side. Any thread. False if the kernel refused, which it has no reason to: then nothing
 * is ordered but the calling thread, and the caller must wait for the other side. */
bool rr_fence_heavy(void);

/* The frequent side. Any thread. Relaxed: the object whose creation ran rr_fence_setup() reached
 * this thread by a happens-before edge of its own, which carries the flag too. */
static inline void rr_fence_light(void) {
  if (__builtin_expect(rr_load_relaxed(&rr_fence_symmetric), 0)) {
    rr_full_fence(RR_EDGE_WAKE);
  } else {
    rr_compiler_fence(RR_EDGE_WAKE);
  }
}

#endif
