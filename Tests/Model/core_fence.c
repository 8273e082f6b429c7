/* rr_fence.c, with a function that sets its two flags at the beginning of a case. */
#include "core.h"
#include "rr_fence.c"

void model_fence_reset(bool is_set_up, bool is_symmetric) {
  *(int *)&fence_is_set_up = is_set_up;
  *(int *)&fence_was_refused = 0;
  *(int *)&rr_fence_kind.is_symmetric = is_set_up && is_symmetric;
}
