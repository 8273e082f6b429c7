/* rr_pins.h: counts, for each snapshot slot, how many readers use it.
 *
 * The trampoline's word names the slot that holds the newest snapshot. A reader increments the pin
 * count of that slot, loads the word again, and reads only if the word still names the same slot.
 * Then it unpins. The owner writes the next snapshot into a slot that the word does not name and
 * that has no pins, and then names that slot in the word.
 *
 * Why a slot is never written while it is read. Let a reader pin slot s and then load a word that
 * names s. The owner overwrites s only after it has named another slot in the word and has then
 * loaded the pins of s as zero. All these operations are sequentially consistent, so they have one
 * order. If the owner missed the pin, the order is: the owner names another slot, the owner loads
 * the pins, the reader pins, the reader loads the word again. So the reader's second load does not
 * find s; or s was named anew since then, and in that case it was completely written before.
 *
 * Readers never wait for the owner. A reader repeats its attempt if a new snapshot was published in
 * between. The owner never waits for readers. If every other slot is pinned, the owner defers the
 * publication: it continues to change a copy that only it can see, and publishes that copy as soon
 * as a slot is free. So readers hold at most one state per slot.
 *
 * A pin costs two read-modify-writes on a cache line that all readers share, which is too much for
 * threads that read often. rr_readers.h avoids this cost for them.
 */
#ifndef RR_PINS_H
#define RR_PINS_H

#include "rr_atomic.h"
#include "rr_trampoline.h"

/* Any thread. Wait-free. Before it reads the slot, the caller must load the trampoline's word again
 * and find the same slot. */
static inline void rr_pins_pin(rr_trampoline *t, int slot) {
  rr_fetch_add_seq_cst(RR_EDGE_SNAPSHOT_PIN, &t->pins[slot], 1u);
}

/* Called by a thread that holds a pin. The release says "I have finished reading" to the owner that
 * overwrites the slot later. */
static inline void rr_pins_unpin(rr_trampoline *t, int slot) {
  rr_fetch_sub_release(RR_EDGE_SNAPSHOT_PIN, &t->pins[slot], 1u);
}

/* Whether no reader pins `slot`. If the owner calls this for a slot that the word does not name,
 * true stays true until the owner publishes that slot. */
static inline bool rr_pins_is_free(const rr_trampoline *t, int slot) {
  return rr_load_seq_cst(RR_EDGE_SNAPSHOT_PIN, &t->pins[slot]) == 0;
}

/* Counts a publication that was deferred because no slot was free. Owner. */
static inline void rr_pins_note_deferred(rr_trampoline *t) {
  rr_store_relaxed(&t->deferred_count, rr_load_relaxed(&t->deferred_count) + 1);
}

/* How many publications were deferred. May be stale at once. Any thread. */
static inline uint64_t rr_pins_was_deferred_count(const rr_trampoline *t) {
  return rr_load_relaxed(&t->deferred_count);
}

#endif
