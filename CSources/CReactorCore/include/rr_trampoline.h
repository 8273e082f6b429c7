/* rr_trampoline.h: the ownership word of a state. "Run here if idle, else hand over."
 *
 *     63                             4   3   2      0
 *    +--------------------------------+-----+--------+
 *    | owner: 0, SCHEDULED, or thread | new |  slot  |
 *    +--------------------------------+-----+--------+
 *
 *             initialize                 acquire
 *    NEW ──────────────────▶ OWNED ◀──────────────── IDLE
 *                            by a     ──────────────▶  │ ▲
 *                            thread       release      │ │
 *                              ▲                       │ │ (a schedule that its loop refused)
 *                              │ acquire               │ │
 *                              │ scheduled   schedule  ▼ │
 *                              └─────────────────── SCHEDULED
 *
 *  transition          threads                          how
 *  try_initialize      any; the first one succeeds      compare-and-swap
 *  try_acquire         any                              compare-and-swap
 *  try_schedule        any                              compare-and-swap
 *  acquire_scheduled   the one that runs the schedule   store: no other thread writes then
 *  publish             the owner                        exchange
 *  publish, with SCHEDULED for the token:
 *                      the owner, OWNED -> SCHEDULED    exchange
 *  release             the owner                        exchange
 *
 * `owner` is the token of the thread that owns the state. So a thread that finds the word busy also
 * knows, without another load, whether it is the owner itself (a re-entrant send). `slot` is the
 * number of the snapshot slot that readers may copy. One exchange both publishes the snapshot of a
 * turn and releases the ownership.
 *
 * Why no action is lost between the mailbox and the word. A producer claims (a read-modify-write of
 * the ring's tail), publishes, then loads the word. The owner releases (a read-modify-write of the
 * word), then loads the tail. All four operations are sequentially consistent, so they have one
 * order, and at least one of the two threads sees what the other one wrote. Either the producer
 * finds the word idle, and acquires or schedules. Or the owner finds the claim, and acquires again.
 *
 * Why the first load of the tail is not enough if the claim is not yet published. The producer may
 * have loaded the word before the owner released it, while the publication is still in the
 * producer's store buffer. If the owner stopped then, nobody would process the action. So the owner
 * either waits for that slot to be published, or it releases, runs a heavy fence (rr_fence.h) and
 * loads the slot once more. Now either the owner sees the publication, or the producer loads the
 * word after the fence and finds it idle. Where the fence is symmetric, this argument needs the
 * producer's light fence between its publication and its load of the word.
 *
 * How readers use the slots is documented in rr_pins.h.
 *
 * A state is one block of memory, sized for millions of instances:
 *
 *  line 0   the word, and the pointers to the slots that are allocated only when they are needed.
 *           Readers load both. A pointer is written once, before the word first names its slot.
 *  line 1   the pins, and what the Swift layer knows about the slots. The owner loads both once per
 *           turn.
 *  payload  belongs to the Swift layer: what it writes at each change, and small states.
 */
#ifndef RR_TRAMPOLINE_H
#define RR_TRAMPOLINE_H

#include <stddef.h>

#include "rr_atomic.h"
#include "rr_status.h"

#define RR_TRAMPOLINE_SLOTS 8
#define RR_TRAMPOLINE_SLOT_MASK UINT64_C(7)
#define RR_TRAMPOLINE_NEW UINT64_C(8)
#define RR_TRAMPOLINE_SCHEDULED UINT64_C(16)
#define RR_TRAMPOLINE_OWNER_MASK (~UINT64_C(15))

/* Single cache lines, not RR_CACHE_LINE, to keep the block small. The line that the prefetcher
 * loads as well is written once per turn at most. */
#define RR_TRAMPOLINE_LINE 64

typedef struct rr_trampoline {
  _Alignas(RR_TRAMPOLINE_LINE) _Atomic uint64_t word;
  void *places[7];
  _Alignas(RR_TRAMPOLINE_LINE) _Atomic uint32_t pins[RR_TRAMPOLINE_SLOTS];
  unsigned char slot_fields[24];
  /* How often the owner had to defer the publication of its changes. */
  _Atomic uint64_t deferred_count;
} rr_trampoline;

/* The offsets of the fields that belong to the Swift layer, in bytes. */
#define RR_TRAMPOLINE_PLACES 8
#define RR_TRAMPOLINE_SLOT_FIELDS 96
#define RR_TRAMPOLINE_PAYLOAD 128
_Static_assert(offsetof(rr_trampoline, places) == RR_TRAMPOLINE_PLACES, "");
_Static_assert(offsetof(rr_trampoline, slot_fields) == RR_TRAMPOLINE_SLOT_FIELDS, "");
_Static_assert(sizeof(rr_trampoline) == RR_TRAMPOLINE_PAYLOAD, "");

/* Creates a trampoline in state NEW, with `payload` bytes behind it. *out is NULL on failure. */
rr_status rr_trampoline_create(rr_trampoline **out, size_t payload);
/* Frees a trampoline that no thread uses any more. NULL is allowed. Pins that threads still keep
 * (rr_readers.h) are taken back first; otherwise those threads would later write to freed memory.
 */
void rr_trampoline_destroy(rr_trampoline *trampoline);

/* Returns the calling thread's token: unique among living threads, larger than SCHEDULED, low 4
 * bits 0. It is the thread pointer, so it costs one register or one load. The assembly is volatile
 * because a coroutine may resume on another thread: the compiler must not reuse a token across a
 * suspension, as it may with the builtin's value. */
static inline uint64_t rr_thread_token(void) {
  uint64_t token;
#if defined(__x86_64__)
  __asm__ __volatile__("movq %%fs:0, %0" : "=r"(token));
#elif defined(__aarch64__)
  __asm__ __volatile__("mrs %0, tpidr_el0" : "=r"(token));
#else
#error "rr_thread_token() is not known for this architecture"
#endif
  return token;
}

/* NEW -> OWNED. Returns false if another thread was first. Any thread. */
static inline bool rr_trampoline_try_initialize(rr_trampoline *t, uint64_t token) {
  uint64_t expected = RR_TRAMPOLINE_NEW;
  /* Relaxed: there is nothing to take over from an earlier owner. What this thread writes is
   * released later, when it publishes the state. */
  return rr_cas_relaxed(&t->word, &expected, RR_TRAMPOLINE_NEW | token);
}

/* IDLE -> the given owner: a token, or SCHEDULED. Any thread. Lock-free. */
static inline bool rr_trampoline_try_set_owner(rr_trampoline *t, uint64_t owner) {
  /* Sequentially consistent: a producer that finds the word busy does nothing more, so this load
   * must not miss the owner's release. */
  uint64_t word = rr_load_seq_cst(RR_EDGE_OWNERSHIP, &t->word);
  while ((word & ~RR_TRAMPOLINE_SLOT_MASK) == 0) {
    /* Sequentially consistent because of C++20 only: see RR_EDGE_OWNERSHIP in MEMORY_MODEL.md. */
    if (rr_cas_seq_cst(RR_EDGE_OWNERSHIP, &t->word, &word, word | owner)) return true;
  }
  return false;
}

/* IDLE -> OWNED. Any thread. Lock-free. */
static inline bool rr_trampoline_try_acquire(rr_trampoline *t, uint64_t token) {
  return rr_trampoline_try_set_owner(t, token);
}

/* IDLE -> SCHEDULED. Any thread. After true, the caller must make sure that a thread calls
 * rr_trampoline_acquire_scheduled. */
static inline bool rr_trampoline_try_schedule(rr_trampoline *t) {
  return rr_trampoline_try_set_owner(t, RR_TRAMPOLINE_SCHEDULED);
}

/* SCHEDULED -> OWNED. Called by the one thread that runs the schedule. It must have a
 * happens-before edge from the thread that scheduled. */
static inline void rr_trampoline_acquire_scheduled(rr_trampoline *t, uint64_t token) {
  /* Relaxed: the edge from the scheduling thread carries everything that thread had acquired. */
  const uint64_t word = rr_load_relaxed(&t->word);
  rr_store_release(RR_EDGE_OWNERSHIP, &t->word, (word & RR_TRAMPOLINE_SLOT_MASK) | token);
}

/* Publishes the snapshot in `slot` to readers. The caller stays the owner; or, with SCHEDULED for
 * the token, it returns the ownership to the schedule, for another thread to acquire. Owner. */
static inline void rr_trampoline_publish(rr_trampoline *t, uint64_t token, uint64_t slot) {
  rr_exchange_seq_cst(RR_EDGE_OWNERSHIP, &t->word, token | slot);
}

/* OWNED -> IDLE, and publishes the snapshot in `slot`. Owner. */
static inline void rr_trampoline_release(rr_trampoline *t, uint64_t slot) {
  rr_exchange_seq_cst(RR_EDGE_OWNERSHIP, &t->word, slot);
}

/* Whether the calling thread is the owner. Any thread. Relaxed: only the calling thread itself can
 * have written its own token, or removed it. */
static inline bool rr_trampoline_is_owner(const rr_trampoline *t, uint64_t token) {
  return (rr_load_relaxed(&t->word) & RR_TRAMPOLINE_OWNER_MASK) == token;
}

/* The owner's token, SCHEDULED, or 0. May be stale at once. Any thread. */
static inline uint64_t rr_trampoline_was_owner(const rr_trampoline *t) {
  return rr_load_seq_cst(RR_EDGE_OWNERSHIP, &t->word) & RR_TRAMPOLINE_OWNER_MASK;
}

/* The number of the snapshot slot that readers may copy, or -1 while the trampoline is NEW. Any
 * thread. */
static inline int rr_trampoline_published_slot(const rr_trampoline *t) {
  const uint64_t word = rr_load_seq_cst(RR_EDGE_OWNERSHIP, &t->word);
  return (word & RR_TRAMPOLINE_NEW) != 0 ? -1 : (int)(word & RR_TRAMPOLINE_SLOT_MASK);
}

#endif
