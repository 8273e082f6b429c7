/* For posix_memalign. */
#define _GNU_SOURCE

#include "rr_trampoline.h"

#include <stdlib.h>

#include "rr_fence.h"
#include "rr_readers.h"
#include "rr_ring.h"

rr_status rr_trampoline_create(rr_trampoline **out, size_t payload) {
  *out = NULL;
  if (payload > RR_MAX_PAYLOAD) return RR_STRIDE_TOO_LARGE;
  /* Not aligned_alloc, which wants whole lines: with the allocator's own 16 bytes these would be
   * one line more. */
  void *block = NULL;
  if (posix_memalign(&block, RR_TRAMPOLINE_LINE, sizeof(rr_trampoline) + payload) != 0) {
    return RR_OUT_OF_MEMORY;
  }
  rr_trampoline *trampoline = block;
  atomic_init(&trampoline->word, RR_TRAMPOLINE_NEW);
  for (int slot = 0; slot < RR_TRAMPOLINE_SLOTS; slot++) atomic_init(&trampoline->pins[slot], 0);
  atomic_init(&trampoline->withheld, 0);
  rr_fence_setup();
  *out = trampoline;
  return RR_OK;
}

void rr_trampoline_destroy(rr_trampoline *trampoline) {
  if (trampoline == NULL) return;
  rr_readers_forget(trampoline);
  free(trampoline);
}
