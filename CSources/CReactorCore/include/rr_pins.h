/* rr_pins.h: which snapshot slots are being read.
 *
 * The trampoline's word names the slot that holds the newest snapshot. A reader pins that slot,
 * looks at the word again, and reads only if the word still names the same slot; then it unpins.
 * The owner writes the next snapshot into a slot that the word does not name and nobody pins, then
 * names it in the word.
 *
 * Why a slot is never written while it is read: let the reader pin slot s and then read the word
 * as naming s. The owner overwrites s only after it has named another slot in the word and then
 * read the pins of s as zero. If it missed the pin, then in the one order of these sequentially
 * consistent operations its naming another slot, its look at the pins, the pin, and the reader's
 * second look stand in this order; so that look did not find s, unless s was named anew, and then
 * it is completely written.
 *
 * Readers never wait for the owner; one repeats its attempt when a new snapshot came in between.
 * The owner never waits for readers: if every slot that the word can name is pinned, it goes on
 * where only it can see, and shows that as soon as a slot is free. So readers hold at most one
 * state for each slot.
 *
 * Two read-modify-writes on a line that all readers share are too many for those that read often:
 * rr_readers.h.
 */
#ifndef RR_PINS_H
#define RR_PINS_H

#include "rr_atomic.h"
#include "rr_trampoline.h"

/* Any thread. Wait-free. The caller must look at the trampoline's slot again before it reads. */
static inline void rr_pins_pin(rr_trampoline *t, int slot) {
  rr_fetch_add_seq_cst(RR_EDGE_SNAPSHOT_PIN, &t->pins[slot], 1u);
}

/* Whoever has a pin. Carries "I have read it" to the owner that overwrites the slot. */
static inline void rr_pins_unpin(rr_trampoline *t, int slot) {
  rr_fetch_sub_release(RR_EDGE_SNAPSHOT_PIN, &t->pins[slot], 1u);
}

/* Whether nobody pins `slot`. To the owner, if the word does not name it, this lasts. */
static inline bool rr_pins_is_free(const rr_trampoline *t, int slot) {
  return rr_load_seq_cst(RR_EDGE_SNAPSHOT_PIN, &t->pins[slot]) == 0;
}

/* Notes that there was no slot to show the changes in. Owner. */
static inline void rr_pins_note_deferred(rr_trampoline *t) {
  rr_store_relaxed(&t->deferred_count, rr_load_relaxed(&t->deferred_count) + 1);
}

/* How often that was. Any thread. */
static inline uint64_t rr_pins_was_deferred_count(const rr_trampoline *t) {
  return rr_load_relaxed(&t->deferred_count);
}

#endif
