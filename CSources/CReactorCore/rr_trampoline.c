#include "rr_trampoline.h"

#include "rr_fence.h"

#include <stdlib.h>

rr_status rr_trampoline_create(rr_trampoline **out) {
  rr_trampoline *trampoline = aligned_alloc(_Alignof(rr_trampoline), sizeof(rr_trampoline));
  *out = trampoline;
  if (trampoline == NULL) return RR_OUT_OF_MEMORY;
  atomic_init(&trampoline->word, RR_TRAMPOLINE_NEW);
  rr_fence_setup();
  return RR_OK;
}

void rr_trampoline_destroy(rr_trampoline *trampoline) { free(trampoline); }
