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
  atomic_init(&trampoline->fences, 0);
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

/* Whether the word is to be light from this turn on. */
static bool becomes_light(rr_trampoline *t, uint64_t turns) {
  if (rr_fence_is_symmetric() || rr_fence_was_refused()) return false;
  /* Relaxed: it only says that there were heavy fences. A thread that counts one late revokes a
   * lightness that it need not revoke. */
  uint32_t fences = rr_load_relaxed(&t->fences);
  if (fences != 0) rr_store_relaxed(&t->fences, 0);
  for (; fences != 0 && t->revocations < RR_TRAMPOLINE_MAX_REVOCATIONS; fences /= 2) {
    t->revocations++;
  }
  const uint64_t periods = turns / RR_TRAMPOLINE_LIGHT_AFTER;
  return (periods & ((UINT64_C(1) << t->revocations) - 1)) == 0;
}

void rr_trampoline_release_heavily(rr_trampoline *t, uint64_t slot, uint64_t turns) {
  if (turns % RR_TRAMPOLINE_LIGHT_AFTER == 0 && becomes_light(t, turns)) {
    slot |= RR_TRAMPOLINE_LIGHT;
  }
  /* An exchange, also if the word becomes light: the threads that found it owned rely on that. */
  rr_trampoline_release(t, slot);
}

/* Whether a release may be on its way to memory that the word does not show yet. */
static bool may_be_released(uint64_t word) {
  return (word & RR_TRAMPOLINE_LIGHT) && (word & RR_TRAMPOLINE_OWNER_MASK);
}

uint64_t rr_trampoline_settle(rr_trampoline *t, uint64_t word) {
  while (!may_be_released(word)) {
    if ((word & RR_TRAMPOLINE_LIGHT) == 0) return word;
    /* The compare-and-swap finds the newest value of the word, so no owner's store is on its way.
     * Relaxed: the caller loads the word again. */
    const uint64_t heavy = word & ~RR_TRAMPOLINE_LIGHT;
    if (rr_cas_relaxed(&t->word, &word, heavy)) return heavy;
  }
  rr_fetch_add_relaxed(&t->fences, 1u);
  (void)rr_fence_heavy();
  /* Relaxed: the fence orders it, and the caller loads the word again. */
  return rr_load_relaxed(&t->word);
}

bool rr_trampoline_is_busy_slow(rr_trampoline *t) {
  rr_fetch_add_relaxed(&t->fences, 1u);
  const bool is_ordered = rr_fence_heavy();
  /* Relaxed: the fence orders it, and a caller that finds no owner acquires. */
  uint64_t word = rr_load_relaxed(&t->word);
  for (int waits = 0; !is_ordered && may_be_released(word) && waits < RR_TRAMPOLINE_WAITS;
       waits++) {
    sched_yield();
    word = rr_load_relaxed(&t->word);
  }
  return (word & RR_TRAMPOLINE_OWNER_MASK) != 0;
}
