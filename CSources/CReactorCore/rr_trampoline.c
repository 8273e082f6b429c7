#include "rr_trampoline.h"

#include <sched.h>

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
  atomic_init(&trampoline->is_revoked, 0);
  trampoline->revocations = 0;
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

void rr_trampoline_release_and_lighten(rr_trampoline *t, uint64_t slot, uint64_t turns) {
  if (rr_fence_is_symmetric()) {
    rr_trampoline_release(t, slot);
    return;
  }
  /* Relaxed: it only says that there was a heavy fence. A thread that stores it late revokes a
   * lightness that it need not revoke. */
  if (rr_load_relaxed(&t->is_revoked) != 0) {
    rr_store_relaxed(&t->is_revoked, 0);
    if (t->revocations < RR_TRAMPOLINE_MAX_REVOCATIONS) t->revocations++;
  }
  const uint64_t periods = turns / RR_TRAMPOLINE_LIGHT_AFTER;
  const bool is_time = (periods & ((UINT64_C(1) << t->revocations) - 1)) == 0;
  /* An exchange, like every release of a word that was not light: those who found it owned rely on
   * it. */
  rr_trampoline_release(t, is_time ? slot | RR_TRAMPOLINE_LIGHT : slot);
}

uint64_t rr_trampoline_settle(rr_trampoline *t, uint64_t word) {
  while ((word & RR_TRAMPOLINE_OWNER_MASK) == 0) {
    if ((word & RR_TRAMPOLINE_LIGHT) == 0) return word;
    /* The compare-and-swap finds the newest value of the word, so no owner's store is on its way.
     */
    const uint64_t heavy = word & ~RR_TRAMPOLINE_LIGHT;
    /* Relaxed: the caller loads the word again, or acquires. */
    if (rr_cas_relaxed(&t->word, &word, heavy)) return heavy;
  }
  rr_store_relaxed(&t->is_revoked, 1);
  const bool is_ordered = rr_fence_heavy();
  for (;;) {
    /* Relaxed: the fence orders it, and the caller loads the word again, or acquires. */
    word = rr_load_relaxed(&t->word);
    const bool may_miss_release =
        (word & RR_TRAMPOLINE_LIGHT) != 0 && (word & RR_TRAMPOLINE_OWNER_MASK) != 0;
    if (is_ordered || !may_miss_release) return word;
    sched_yield();
  }
}
