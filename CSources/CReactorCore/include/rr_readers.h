/* rr_readers.h: pins that a thread keeps from one read to the next.
 *
 * A pin (rr_pins.h) is two read-modify-writes on a line that all readers of a state share. A thread
 * that reads more often than snapshots are shown would pin the same slot again and again. So it
 * keeps the pin, and notes in a record of its own which one that is. As long as the word names that
 * slot, its reads write to nothing but that record:
 *
 *     depth = 1; light fence; is `kept` still mine? read; depth = 0; light fence; revoked?
 *
 * When the word names another slot, the thread gives the pin back and pins that slot. A thread
 * keeps one pin at most, so what threads hold that do not read any more is bounded: one state each.
 *
 *   kept         what it means                                       who goes on, and how
 *   0            no pin is kept                                      the thread: store of a pin
 *   pin          the thread has one pin of that slot                 the thread: exchange to GIVEN
 *                                                                    an owner: cas to pin|REVOKED
 *                                                                    the destroyer: cas to 0
 *   pin|REVOKED  likewise, but it must not begin to read by it       the thread: exchange to GIVEN
 *                                                                    an owner, the destroyer: cas
 *                                                                    to 0
 *   pin|GIVEN    the thread is unpinning, if the exchange found a    the thread: store of 0
 *                pin
 *
 * Whoever takes the pin out of `kept`, and only that one, unpins. GIVEN tells who destroys the
 * trampoline that a thread is about to touch it for the last time.
 *
 * An owner that can show its changes in no slot revokes the pins of its trampoline that are kept
 * but not in use: it marks them, runs a heavy fence (rr_fence.h), and takes those whose thread is
 * not inside a read.
 *
 *   Why it takes none in use. The thread writes `depth`, then looks at `kept`; the owner writes
 *   `kept`, then looks at `depth`. With the fence between, the thread finds the mark, and reads not
 *   by this pin; or the owner finds the depth, and leaves the pin.
 *
 *   Why none is forgotten. At the end the thread writes `depth`, then looks at `kept`, again across
 *   the fence: either it finds the mark and gives the pin back, or the owner finds that the depth
 *   is 0, and takes it. Both may; the exchange and the compare-and-swap let one of them.
 *
 *   Why one look at the word is enough. The pin was there before that look, and is there until the
 *   thread gives it back or finds it revoked. So the slot was not written since it was pinned, and
 *   the word, when it named the slot, meant what is still in it.
 *
 * Reads inside reads: `depth` counts those by the kept pin. While it is not 0, the pin stays kept,
 * and reads of other slots and of other states are pinned and unpinned each.
 *
 * Where there is no asymmetric fence, no pin is kept.
 */
#ifndef RR_READERS_H
#define RR_READERS_H

#include "rr_atomic.h"
#include "rr_pins.h"
#include "rr_trampoline.h"

/* In `kept`: the trampoline's address, which leaves the low bits free, and the slot. */
#define RR_READER_REVOKED ((uintptr_t)8)
#define RR_READER_UNPINNING ((uintptr_t)16)
#define RR_READER_FLAGS ((uintptr_t)(RR_TRAMPOLINE_LINE - 1))

/* Of one thread. On lines of its own. */
typedef struct rr_reader {
  _Alignas(RR_CACHE_LINE) _Atomic uintptr_t kept;
  /* How many reads by the kept pin the thread is inside of. Written by the thread only. */
  _Atomic uint32_t depth;
  /* The thread's own: how often the kept pin was used. */
  uint32_t uses;
  /* Under the lock of the registry. */
  struct rr_reader *previous, *next;
} rr_reader;

/* What was pinned, for the unpinning. */
typedef struct rr_pin {
  /* By whose kept pin; NULL if it was pinned for this read. */
  rr_reader *reader;
  /* -1 if there is no snapshot yet, and nothing was pinned. */
  int32_t slot;
  /* The reader's depth before. */
  uint32_t depth;
} rr_pin;

/* The calling thread's record, NULL if it has none yet. Out of line: a coroutine may go on on
 * another thread, and must not remember the record of the one before. */
rr_reader *rr_reader_of_thread(void);

/* Registers a record. NULL if there is no memory. Any thread. */
rr_reader *rr_reader_create(void);
/* Gives its pin back and frees it. Whoever uses it. */
void rr_reader_destroy(rr_reader *reader);
/* How many there are. Any thread. */
uint64_t rr_readers_count(void);

static inline uintptr_t rr_reader_encode_pin(const rr_trampoline *t, uint64_t slot) {
  return (uintptr_t)t | (uintptr_t)slot;
}

/* Keeps a pin that the caller has, instead of unpinning; false if that is not possible. The
 * record's thread. */
bool rr_reader_try_keep(rr_reader *reader, rr_trampoline *t, int slot);
/* Gives back what is kept, unless it is in use or somebody else has taken it. The record's thread.
 */
void rr_reader_unpin_kept(rr_reader *reader);

/* Begins a read by the kept pin, if that is one of the slot that the word names. The record's
 * thread. */
static inline bool rr_reader_try_begin_read(rr_reader *reader, const rr_trampoline *t,
                                            rr_pin *pin) {
  /* Relaxed: what is in the slot was taken over when it was pinned, and has not changed since. */
  const uint64_t word = rr_load_relaxed(&t->word);
  const uint64_t slot = word & RR_TRAMPOLINE_SLOT_MASK;
  const uintptr_t kept = rr_reader_encode_pin(t, slot);
  if (rr_load_relaxed(&reader->kept) != kept) return false;
  const uint32_t depth = rr_load_relaxed(&reader->depth);
  rr_store_relaxed(&reader->depth, depth + 1);
  /* The light half of the asymmetric fence; nothing is kept where it is symmetric. */
  rr_compiler_fence(RR_EDGE_PIN_USE);
  if (__builtin_expect(rr_load_relaxed(&reader->kept) != kept, 0)) {
    rr_store_release(RR_EDGE_PIN_USE, &reader->depth, depth);
    return false;
  }
  reader->uses++;
  *pin = (rr_pin){.reader = reader, .slot = (int32_t)slot, .depth = depth};
  return true;
}

/* Ends a read that rr_reader_try_begin_read began. The record's thread. */
static inline void rr_reader_end_read(rr_reader *reader, uint32_t depth) {
  rr_store_release(RR_EDGE_PIN_USE, &reader->depth, depth);
  rr_compiler_fence(RR_EDGE_PIN_USE);
  if (__builtin_expect((rr_load_relaxed(&reader->kept) & RR_READER_REVOKED) != 0, 0)) {
    rr_reader_unpin_kept(reader);
  }
}

rr_pin rr_readers_pin_slow(rr_trampoline *t, rr_reader *reader);
void rr_readers_unpin_slow(rr_trampoline *t, int slot);

/* Pins the shown slot: from now on, and until it is unpinned, what is in it stays as it is. Any
 * thread; lock-free, and repeated only if a newer snapshot came in between. */
static inline rr_pin rr_readers_pin(rr_trampoline *t) {
  rr_reader *reader = rr_reader_of_thread();
  rr_pin pin;
  if (reader != NULL && rr_reader_try_begin_read(reader, t, &pin)) return pin;
  return rr_readers_pin_slow(t, reader);
}

/* The thread that pinned, the innermost pin first. */
static inline void rr_readers_unpin(rr_trampoline *t, rr_pin pin) {
  if (__builtin_expect(pin.reader != NULL, 1)) {
    rr_reader_end_read(pin.reader, pin.depth);
  } else {
    rr_readers_unpin_slow(t, pin.slot);
  }
}

/* Takes back the kept pins of slots that the word does not name, if they are not in use; those that
 * are, their threads give back when they have read. Whether any was taken. Owner; about 10 us. */
bool rr_readers_revoke(rr_trampoline *t);

/* Takes back the kept pins of a trampoline that goes away. Nobody else may use it any more. */
void rr_readers_revoke_all(rr_trampoline *t);

#endif
