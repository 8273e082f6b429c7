/* For syscall. */
#define _GNU_SOURCE

#include "rr_fence.h"

#include <linux/membarrier.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

_Atomic int rr_fence_symmetric = 0;

static long membarrier(int command) { return syscall(__NR_membarrier, command, 0, 0); }

void rr_fence_setup(void) {
  static _Atomic int done = 0;
  if (rr_load_acquire(RR_EDGE_FENCE_SETUP, &done)) return;
  /* Two threads that come here at once do the same, with the same result. */
  int asymmetric = getenv("RR_NO_MEMBARRIER") == NULL &&
                   membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
  rr_store_relaxed(&rr_fence_symmetric, !asymmetric);
  rr_store_release(RR_EDGE_FENCE_SETUP, &done, 1);
}

bool rr_fence_heavy(void) {
  rr_full_fence(RR_EDGE_WAKE);
  /* The second command is slow (milliseconds), and needs neither registration nor memory. */
  return rr_load_relaxed(&rr_fence_symmetric) ||
         membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0 ||
         membarrier(MEMBARRIER_CMD_GLOBAL) == 0;
}
