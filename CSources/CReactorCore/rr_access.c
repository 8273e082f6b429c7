#include "rr_access.h"

void rr_access_update_bias(rr_trampoline *t) {
  const uint32_t bias = rr_load_relaxed(&t->bias);
  if (bias == RR_ACCESS_BIASED) return;
  if (bias != RR_ACCESS_UNBIASED) {
    rr_store_relaxed(&t->bias, RR_ACCESS_UNBIASED);
    rr_store_relaxed(&t->unread, 0u);
    return;
  }
  const uint32_t unread = rr_load_relaxed(&t->unread) + 1;
  rr_store_relaxed(&t->unread, unread);
  if (__builtin_expect(unread >= RR_ACCESS_BIASED_AFTER, 0) && !rr_fence_is_symmetric() &&
      rr_load_relaxed(&t->waiting) == 0 && !rr_fence_was_refused()) {
    rr_store_relaxed(&t->bias, RR_ACCESS_BIASED);
  }
}

void rr_access_give_up_bias(rr_trampoline *t) {
  const uint32_t bias = rr_load_relaxed(&t->bias);
  if (bias != RR_ACCESS_BIASED && bias != RR_ACCESS_REVOKING) return;
  /* Release: what the owner has changed by the bias, and the 0 in `changing`. A reader may have
   * gone on to a later step meanwhile; then others repeat the steps from here. */
  rr_store_release(RR_EDGE_ACCESS, &t->bias, RR_ACCESS_REVOKED);
}

/* Orders the caller's store before against all changes of the owner. Returns false if the kernel
 * refused that; then the caller must wait until the owner has found the store, or released. */
static bool is_ordered_against_owner(rr_trampoline *t) {
  uint64_t word = rr_load_relaxed(&t->word);
  const bool is_idle = (word & ~(RR_TRAMPOLINE_SLOT_MASK | RR_TRAMPOLINE_LIGHT)) == 0;
  /* Owners acquire by a read-modify-write of the word. So each either released before this one, or
   * acquires what it releases. */
  if (is_idle && rr_cas_seq_cst(RR_EDGE_OWNERSHIP, &t->word, &word, word)) return true;
  return rr_fence_heavy();
}

/* After true, an owner that begins a change finds the revocation, or this thread finds that change.
 */
static bool try_order_revocation(rr_trampoline *t, uint32_t bias) {
  if (bias == RR_ACCESS_BIASED) {
    /* Relaxed: what comes next orders it. A compare-and-swap, because the owner may have given the
     * bias up, which must not be forgotten. */
    if (!rr_cas_relaxed(&t->bias, &bias, RR_ACCESS_REVOKING)) {
      bias = rr_load_acquire(RR_EDGE_ACCESS, &t->bias);
    }
  }
  if (bias == RR_ACCESS_REVOKED || bias == RR_ACCESS_WAS_READ) return true;
  if (!is_ordered_against_owner(t)) return false;
  rr_store_release(RR_EDGE_ACCESS, &t->bias, RR_ACCESS_REVOKED);
  return true;
}

bool rr_access_try_revoke_bias(rr_trampoline *t, uint32_t bias) {
  if (!try_order_revocation(t, bias)) return false;
  if (rr_load_acquire(RR_EDGE_ACCESS, &t->changing) != 0) return false;
  rr_store_release(RR_EDGE_ACCESS, &t->bias, RR_ACCESS_WAS_READ);
  return true;
}
