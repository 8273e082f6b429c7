/* rr_pins.h: which snapshot slots are being copied.
 *
 * The trampoline's word names the slot that holds the newest snapshot. A reader pins that slot,
 * looks at the word again, and copies only if the word still names the same slot; then it unpins.
 * The owner writes the next snapshot into a slot that the word does not name and nobody pins, then
 * names it in the word.
 *
 * Why a slot is never written while it is copied: let the reader pin slot s and then read the word
 * as naming s. The owner overwrites s only after it has named another slot in the word and then
 * read the pins of s as zero. If it missed the pin, then in the one order of these sequentially
 * consistent operations its naming another slot, its look at the pins, the pin, and the reader's
 * second look stand in this order; so that look did not find s, unless s was named anew, and then
 * it is completely written.
 *
 * Readers never wait for the owner; one repeats its attempt when a new snapshot came in between.
 * The owner waits only if every slot but the newest is pinned by a reader in the middle of a copy.
 */
#ifndef RR_PINS_H
#define RR_PINS_H

#include "rr_atomic.h"
#include "rr_status.h"
#include "rr_trampoline.h"

typedef struct rr_pin {
  _Alignas(RR_CACHE_LINE) _Atomic uint32_t count;
} rr_pin;

typedef struct rr_pins {
  rr_pin slots[RR_TRAMPOLINE_SLOTS];
} rr_pins;

/* *out is NULL on failure. */
rr_status rr_pins_create(rr_pins **out);
/* Nobody else may use them meanwhile. NULL is allowed. */
void rr_pins_destroy(rr_pins *pins);

/* Any thread. Wait-free. The caller must look at the trampoline's slot again before it copies. */
static inline void rr_pins_pin(rr_pins *pins, int slot) {
  rr_fetch_add_seq_cst(RR_EDGE_SNAPSHOT_PIN, &pins->slots[slot].count, 1u);
}

/* Any thread that pinned. Carries "I have read it" to the owner that overwrites the slot. */
static inline void rr_pins_unpin(rr_pins *pins, int slot) {
  rr_fetch_sub_release(RR_EDGE_SNAPSHOT_PIN, &pins->slots[slot].count, 1u);
}

/* Whether nobody copies from `slot`. Owner. */
static inline bool rr_pins_is_free(const rr_pins *pins, int slot) {
  return rr_load_seq_cst(RR_EDGE_SNAPSHOT_PIN, &pins->slots[slot].count) == 0;
}

#endif
