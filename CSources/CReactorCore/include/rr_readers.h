/* rr_readers.h: pins that a thread keeps from one read to the next.
 *
 * A pin (rr_trampoline.h) costs two read-modify-writes on a cache line that all readers of a state
 * share. A thread that reads more often than snapshots are published would pin the same slot again
 * and again. So such a thread keeps its pin and records it in a reader record of its own. As long
 * as the word names that slot, the thread's reads write only to this record:
 *
 *    is_reading = 1; light fence; is `kept` unchanged? read; is_reading = 0; light fence; revoked?
 *
 * When the word names another slot, the thread unpins the old slot and pins the new one. A thread
 * keeps at most one pin, so a thread that stops reading holds at most one state.
 *
 *  value of `kept`  meaning                              next step, by which thread
 *  0                no pin is kept                       its thread: store of a pin
 *  pin              the thread keeps one pin of this     its thread: exchange to pin|UNPINNING
 *                   slot                                 an owner: cas to pin|REVOKED
 *                                                        the destroyer: cas to 0
 *  pin|REVOKED      the same, but the thread must not    its thread: exchange to pin|UNPINNING
 *                   begin another read by this pin       an owner, the destroyer: cas to 0
 *  pin|UNPINNING    the thread unpins now, if its        its thread: store of 0
 *                   exchange found a pin
 *
 * The thread whose exchange or compare-and-swap removes the pin from `kept` unpins the slot; no
 * other thread does. UNPINNING tells the thread that destroys the trampoline that another thread is
 * about to access it for the last time.
 *
 * An owner that finds no free slot revokes the pins that are kept but not in use: it marks them as
 * REVOKED, runs a heavy fence (rr_fence.h), and takes the marked pins whose thread is not inside a
 * read. It waits the few instructions that a thread needs to unpin the pin that it kept: that
 * thread may be reading another state already, and does not come back to this one.
 *
 * Why the owner takes no pin that is in use. The thread writes `is_reading`, then loads `kept`. The
 * owner writes `kept`, then loads `is_reading`. With the fences in between, either the thread sees
 * the mark and does not read by this pin, or the owner sees the read and does not take the pin.
 *
 * Why no revoked pin is forgotten. At the end of a read the thread writes `is_reading`, then loads
 * `kept`, again with a fence in between. Either the thread sees the mark and unpins, or the owner
 * sees that the read has ended and takes the pin. Both may try; the exchange and the
 * compare-and-swap on the same word let exactly one of them succeed.
 *
 * Why no pin is missed that was being kept when the owner revoked. A thread that keeps a pin writes
 * `kept`, then loads the word, with a fence in between, and unpins if the word names another slot.
 * The owner has named another slot, runs the fence, and then loads `kept`. A pin that it finds
 * without a mark is marked and taken in the same way.
 *
 * Why one load of the trampoline's word is enough. The thread held the pin before that load, and
 * holds it until it unpins or sees the mark. So the slot was not overwritten since it was pinned,
 * and when the word named the slot, it meant the snapshot that is still in it.
 *
 * Nested reads: while the thread is inside of a read by its kept pin, it keeps that pin, and reads
 * that it begins there pin and unpin each time, also of the same slot. So `is_reading` is no
 * counter: a read stores two constants, and no read waits for what the one before it has stored.
 *
 * Without an asymmetric fence no pin is kept.
 */
#ifndef RR_READERS_H
#define RR_READERS_H

#include "rr_atomic.h"
#include "rr_trampoline.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The layout of `kept`: the address of the trampoline, whose alignment leaves the low bits free,
 * plus the number of the slot; that is, plus the word of a trampoline that is idle and not light.
 * The flags are bits of no address. */
#define RR_READER_REVOKED ((uintptr_t)1 << 63)
#define RR_READER_UNPINNING ((uintptr_t)1 << 62)
#define RR_READER_NO_ADDRESS                                                                       \
  (RR_READER_REVOKED | RR_READER_UNPINNING | (uintptr_t)(RR_TRAMPOLINE_LINE - 1))

/* A kept pin that was used this often was worth keeping: the next pin of the same trampoline is
 * kept at once. */
#ifdef RR_MODEL
/* At once, so that cases with a few reads reach the code that is checked. */
#define RR_READER_USES_WORTH_KEEPING 1
#else
#define RR_READER_USES_WORTH_KEEPING 16
#endif

/* One thread's record, on cache lines of its own. */
typedef struct rr_reader {
  _Alignas(RR_CACHE_LINE) _Atomic uintptr_t kept;
  /* 1 while the thread is inside of a read by the kept pin. Only its thread writes it. */
  _Atomic uint32_t is_reading;
  /* How often the kept pin was used, up to RR_READER_USES_WORTH_KEEPING: then a read stores nothing
   * here. Only its thread accesses it. */
  uint32_t uses;
  /* Where the state in the kept slot is. Only its thread accesses it. */
  void *place;
  /* The list of all records. Protected by the registry's lock. */
  struct rr_reader *previous, *next;
} rr_reader;

/* What rr_readers_unpin needs to know about a pin. Each field fills a register: the compiler would
 * pack smaller ones into one, and take them apart again, which took an eighth of a read. */
typedef struct rr_pin {
  /* The record whose kept pin is used; NULL if the slot was pinned for this read only. */
  rr_reader *reader;
  /* -1 if there is no snapshot yet; then nothing was pinned. */
  int64_t slot;
  /* Where the state is. NULL if the slot was pinned for this read only, until the reader has set
   * it: without it the pin is not kept. */
  void *place;
} rr_pin;

/* The calling thread's record; NULL if it has none yet. */
extern _Thread_local rr_reader *rr_reader_mine __attribute__((tls_model("initial-exec")));

/* Returns the calling thread's record, or NULL if it has none yet. A coroutine may resume on
 * another thread: the compiler must not reuse the record, or its address, of the thread before. So
 * the assembly is volatile; elsewhere this is not inline. */
#if defined(__x86_64__)
static inline rr_reader *rr_reader_of_thread(void) {
  rr_reader *reader;
  __asm__ __volatile__("movq rr_reader_mine@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0"
                       : "=r"(reader));
  return reader;
}
#else
rr_reader *rr_reader_of_thread(void);
#endif

/* Creates and registers a record. Returns NULL if there is no memory. Any thread. */
rr_reader *rr_reader_create(void);
/* Unpins the kept pin, removes the record from the registry and frees it. Called by the thread that
 * uses the record. */
void rr_reader_destroy(rr_reader *reader);

static inline uintptr_t rr_reader_encode_pin(const rr_trampoline *t, uint64_t slot) {
  return (uintptr_t)t + (uintptr_t)slot;
}

/* Keeps a pin that the caller holds, instead of unpinning it. Returns false if the pin cannot be
 * kept; then the caller still has to unpin. The record's thread. */
bool rr_reader_try_keep(rr_reader *reader, rr_trampoline *t, int slot, void *place);
/* Unpins the kept pin, unless a read uses it or another thread has taken it. The record's thread.
 */
void rr_reader_unpin_kept(rr_reader *reader);

/* Begins a read by the kept pin. Returns false if the kept pin is not one of the slot that the word
 * names, or the word is light, or the calling thread is the owner, which does not read what is
 * published; or if the thread is inside of such a read. The record's thread. */
static inline bool rr_reader_try_begin_read(rr_reader *reader, const rr_trampoline *t,
                                            rr_pin *pin) {
  /* Relaxed: the thread acquired the slot's contents when it pinned the slot, and they have not
   * changed since. */
  const uint64_t word = rr_load_relaxed(&t->word);
  const uintptr_t kept = rr_load_relaxed(&reader->kept);
  /* Of an idle state the sum is the whole pin. With a token in the word it may be that of another
   * trampoline. */
  if (__builtin_expect(kept != (uintptr_t)t + word || word > RR_TRAMPOLINE_SLOT_MASK, 0)) {
    const uint64_t slot = word & (RR_TRAMPOLINE_SLOT_MASK | RR_TRAMPOLINE_LIGHT);
    if (kept != rr_reader_encode_pin(t, slot)) return false;
    if ((word & RR_TRAMPOLINE_OWNER_MASK) == rr_thread_token()) return false;
  }
  if (__builtin_expect(rr_load_relaxed(&reader->is_reading) != 0, 0)) return false;
  rr_store_relaxed(&reader->is_reading, 1);
  /* The light half of the asymmetric fence. Where the fence is symmetric, no pin is kept, so this
   * line is not reached. */
  rr_compiler_fence(RR_EDGE_PIN_USE);
  if (__builtin_expect(rr_load_relaxed(&reader->kept) != kept, 0)) {
    rr_store_release(RR_EDGE_PIN_USE, &reader->is_reading, 0);
    return false;
  }
  if (__builtin_expect(reader->uses < RR_READER_USES_WORTH_KEEPING, 0)) reader->uses++;
  const uint64_t slot = word & RR_TRAMPOLINE_SLOT_MASK;
  *pin = (rr_pin){.reader = reader, .slot = (int64_t)slot, .place = reader->place};
  return true;
}

/* Ends a read that rr_reader_try_begin_read began. Returns whether the pin was revoked; then it was
 * unpinned. The record's thread. */
static inline bool rr_reader_end_read(rr_reader *reader) {
  rr_store_release(RR_EDGE_PIN_USE, &reader->is_reading, 0);
  rr_compiler_fence(RR_EDGE_PIN_USE);
  if (__builtin_expect((rr_load_relaxed(&reader->kept) & RR_READER_REVOKED) == 0, 1)) return false;
  rr_reader_unpin_kept(reader);
  return true;
}

rr_pin rr_readers_pin_slow(rr_trampoline *t, rr_reader *reader);
void rr_readers_unpin_slow(rr_trampoline *t, int slot, void *place);

/* Begins a read by the pin that the thread keeps, as rr_reader_try_begin_read does; if it cannot,
 * returns a pin whose slot is -1. Also of a state with one place, which nobody pins. Any thread. */
static inline rr_pin rr_readers_pin_kept(rr_trampoline *t) {
  rr_reader *reader = rr_reader_of_thread();
  rr_pin pin;
  if (reader != NULL && rr_reader_try_begin_read(reader, t, &pin)) return pin;
  return (rr_pin){.reader = NULL, .slot = -1, .place = NULL};
}

/* Pins the published slot, of which the thread keeps no pin. Until rr_readers_unpin, the contents
 * of the slot do not change. Any thread. Lock-free; repeats only if a newer snapshot was published
 * in between. */
static inline rr_pin rr_readers_pin_unkept(rr_trampoline *t) {
  return rr_readers_pin_slow(t, rr_reader_of_thread());
}

/* Pins the published slot in one of the two ways, for a caller without states. */
static inline rr_pin rr_readers_pin(rr_trampoline *t) {
  rr_pin pin = rr_readers_pin_kept(t);
  if (pin.slot < 0) pin = rr_readers_pin_unkept(t);
  pin.place = t;
  return pin;
}

/* Ends a read. Called by the thread that pinned; nested pins are ended innermost first. Returns
 * whether a state is deferred (rr_pins_is_deferred) and this may have freed a slot for it. */
static inline bool rr_readers_unpin(rr_trampoline *t, rr_pin pin) {
  if (__builtin_expect(pin.reader != NULL, 1)) {
    if (__builtin_expect(!rr_reader_end_read(pin.reader), 1)) return false;
  } else {
    rr_readers_unpin_slow(t, (int)pin.slot, pin.place);
  }
  return __builtin_expect(rr_pins_is_deferred(t), 0);
}

/* Takes back the kept pins of slots that the word does not name, unless they are in use; a pin in
 * use is marked, and its thread unpins it at the end of its read. Returns whether any pin was
 * taken; another one may have been unpinned by its thread meanwhile. Owner. About 10 us. */
bool rr_readers_revoke(rr_trampoline *t);

/* Takes back all kept pins of a trampoline that is being destroyed. No thread may use the
 * trampoline any more. */
void rr_readers_revoke_all(rr_trampoline *t);

#ifdef __cplusplus
}
#endif

#endif
