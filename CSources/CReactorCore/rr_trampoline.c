#include "rr_trampoline.h"

#include "rr_fence.h"
#include "rr_platform.h"
#include "rr_readers.h"
#include "rr_ring.h"

rr_status rr_trampoline_create(rr_trampoline **out, size_t payload) {
  *out = NULL;
  if (payload > RR_MAX_PAYLOAD) return RR_STRIDE_TOO_LARGE;
  /* The size is not rounded up to whole lines: with the allocator's own 16 bytes that would cost
   * one more line. */
  rr_trampoline *trampoline =
      rr_platform_in_use->allocate(RR_TRAMPOLINE_LINE, sizeof(rr_trampoline) + payload);
  if (trampoline == NULL) return RR_OUT_OF_MEMORY;
  atomic_init(&trampoline->word, RR_TRAMPOLINE_NEW);
  trampoline->places = NULL;
  for (int slot = 0; slot < RR_TRAMPOLINE_SLOTS; slot++) atomic_init(&trampoline->pins[slot], 0);
  atomic_init(&trampoline->deferrals, 0);
  atomic_init(&trampoline->changing, 0);
  rr_fence_setup();
  *out = trampoline;
  return RR_OK;
}

void rr_trampoline_destroy(rr_trampoline *trampoline) {
  if (trampoline == NULL) return;
  rr_readers_revoke_all(trampoline);
  rr_platform_in_use->release(trampoline);
}

void rr_trampoline_destroy_place(rr_trampoline *trampoline) {
  rr_platform_in_use->release(trampoline);
}
