#include "rr_fence.h"

#include <linux/membarrier.h>
#include <stdlib.h>

#include "rr_platform.h"

struct rr_fence_kind rr_fence_kind;

static _Atomic int fence_is_set_up = 0;
static _Atomic int fence_was_refused = 0;

void rr_fence_setup(void) {
  if (rr_load_acquire(RR_EDGE_FENCE_SETUP, &fence_is_set_up)) return;
  /* Two threads that run this at the same time do the same with the same result. */
  int asymmetric = getenv("RR_NO_MEMBARRIER") == NULL &&
                   rr_platform_in_use->membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
  rr_store_relaxed(&rr_fence_kind.is_symmetric, !asymmetric);
  rr_store_release(RR_EDGE_FENCE_SETUP, &fence_is_set_up, 1);
}

bool rr_fence_heavy(void) {
  rr_full_fence(RR_EDGE_WAKE);
  /* The second command is slow (milliseconds), but it needs neither registration nor memory. */
  if (rr_fence_is_symmetric() ||
      rr_platform_in_use->membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0 ||
      rr_platform_in_use->membarrier(MEMBARRIER_CMD_GLOBAL) == 0) {
    return true;
  }
  rr_store_relaxed(&fence_was_refused, 1);
  return false;
}

bool rr_fence_was_refused(void) { return rr_load_relaxed(&fence_was_refused) != 0; }
