/* rr_trampoline.h: the ownership word. "Run here if idle, else hand over."
 *
 *      63                             4   3   2      0
 *     +--------------------------------+-----+--------+
 *     | owner: 0, SCHEDULED, or thread | new |  slot  |
 *     +--------------------------------+-----+--------+
 *
 *                 start                    enter
 *     NEW ──────────────────▶ OWNED ◀──────────────── IDLE
 *                             by a     ──────────────▶  │ ▲
 *                             thread        leave       │ │
 *                               ▲                       │ │ (only if refused)
 *                               │  begin      schedule  ▼ │
 *                               └─────────────────── SCHEDULED
 *
 *   transition   who                              how
 *   start        any thread, the first one wins   compare-and-swap
 *   enter        any thread                       compare-and-swap
 *   schedule     any thread                       compare-and-swap
 *   begin        the one who took the schedule    store: nobody else writes SCHEDULED
 *   publish      the owner                        exchange
 *   give back    the owner, OWNED -> SCHEDULED    exchange: a publish with SCHEDULED for the token
 *   leave        the owner                        exchange
 *
 * owner is the thread's token, so a thread that finds the word busy also learns whether it is the
 * owner itself (a re-entrant send) with no further load. slot is the number of the snapshot slot
 * that readers may copy; leaving and publishing the turn's snapshot are one exchange.
 *
 * Nothing is lost between a mailbox and the word. A producer claims (a read-modify-write of the
 * ring's tail), publishes, then looks at the word; the owner leaves (a read-modify-write of the
 * word), then looks at the tail. All four are sequentially consistent, so they have one order, and
 * at least one of the two sees the other: either the producer finds the word idle, and enters or
 * schedules; or the owner finds the claim, and enters again. If the claim is not yet published,
 * the owner must not go away on the strength of the first look alone: the producer may have looked
 * before the owner left, with its publication still in its store buffer. So the owner either waits
 * for that slot, or leaves, runs a heavy fence (rr_fence.h) and looks at the slot once more: now
 * either the publication is visible to the owner, or the producer's look comes after the fence and
 * finds the word idle. (Where the fence is symmetric the producer's light fence, between its
 * publication and its look, is what this needs.)
 *
 * Readers of the snapshot: rr_pins.h.
 *
 * All that a state needs is in one block, since there may be a million of them:
 *
 *   line 0   the word, and where the slots are that are made only when they are needed. Readers
 *            read both; the pointers are written once, before the word first names their slot.
 *   line 1   the pins, and what the typed owner above knows about the slots: it looks at both once
 *            per turn
 *   payload  the typed owner's: what it touches at each change, and small states
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

/* Single lines, not RR_CACHE_LINE: a million of them shall be small, and what the prefetcher brings
 * along is written once per turn at most. */
#define RR_TRAMPOLINE_LINE 64

typedef struct rr_trampoline {
  _Alignas(RR_TRAMPOLINE_LINE) _Atomic uint64_t word;
  void *places[7];
  _Alignas(RR_TRAMPOLINE_LINE) _Atomic uint32_t pins[RR_TRAMPOLINE_SLOTS];
  unsigned char slot_fields[24];
  /* How often the owner could not show its changes. */
  _Atomic uint64_t deferred_count;
} rr_trampoline;

/* Where the typed owner finds what is its own. */
#define RR_TRAMPOLINE_PLACES 8
#define RR_TRAMPOLINE_SLOT_FIELDS 96
#define RR_TRAMPOLINE_PAYLOAD 128
_Static_assert(offsetof(rr_trampoline, places) == RR_TRAMPOLINE_PLACES, "");
_Static_assert(offsetof(rr_trampoline, slot_fields) == RR_TRAMPOLINE_SLOT_FIELDS, "");
_Static_assert(sizeof(rr_trampoline) == RR_TRAMPOLINE_PAYLOAD, "");

/* In state NEW, with `payload` bytes behind it. *out is NULL on failure. */
rr_status rr_trampoline_create(rr_trampoline **out, size_t payload);
/* Nobody else may use it meanwhile. NULL is allowed. Pins that threads have kept (rr_readers.h) are
 * taken back. */
void rr_trampoline_destroy(rr_trampoline *trampoline);

/* The calling thread's token: unique among living threads, larger than SCHEDULED, low 4 bits 0.
 * The thread pointer: one register or one load. Volatile, because a coroutine may go on on another
 * thread: the compiler must not use a token across a suspension, as it may the builtin's value. */
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

/* NEW -> OWNED. False if somebody was first. Any thread. */
static inline bool rr_trampoline_try_initialize(rr_trampoline *t, uint64_t token) {
  uint64_t expected = RR_TRAMPOLINE_NEW;
  /* Relaxed: there is nothing to take over, and what it gives, it gives when it shows the state. */
  return rr_cas_relaxed(&t->word, &expected, RR_TRAMPOLINE_NEW | token);
}

static inline bool rr_trampoline_try_set_owner(rr_trampoline *t, uint64_t owner) {
  /* Sequentially consistent: finding it busy is one of the looks that must not miss the leaving. */
  uint64_t word = rr_load_seq_cst(RR_EDGE_OWNERSHIP, &t->word);
  while ((word & ~RR_TRAMPOLINE_SLOT_MASK) == 0) {
    /* Sequentially consistent for C++20 alone: see MEMORY_MODEL.md. */
    if (rr_cas_seq_cst(RR_EDGE_OWNERSHIP, &t->word, &word, word | owner)) return true;
  }
  return false;
}

/* IDLE -> OWNED. Any thread. Lock-free. */
static inline bool rr_trampoline_try_acquire(rr_trampoline *t, uint64_t token) {
  return rr_trampoline_try_set_owner(t, token);
}

/* IDLE -> SCHEDULED. Any thread. True obliges the caller to see to it that somebody begins. */
static inline bool rr_trampoline_try_schedule(rr_trampoline *t) {
  return rr_trampoline_try_set_owner(t, RR_TRAMPOLINE_SCHEDULED);
}

/* SCHEDULED -> OWNED. Whoever took the schedule over, with a happens-before edge from the thread
 * that scheduled. */
static inline void rr_trampoline_acquire_scheduled(rr_trampoline *t, uint64_t token) {
  /* Relaxed: the edge from the thread that scheduled carries what that one took over. */
  const uint64_t word = rr_load_relaxed(&t->word);
  rr_store_release(RR_EDGE_OWNERSHIP, &t->word, (word & RR_TRAMPOLINE_SLOT_MASK) | token);
}

/* Shows the snapshot in `slot` to readers and stays the owner; or, with SCHEDULED for the token,
 * gives the ownership back to the schedule, for another thread to begin. Owner. */
static inline void rr_trampoline_publish(rr_trampoline *t, uint64_t token, uint64_t slot) {
  rr_exchange_seq_cst(RR_EDGE_OWNERSHIP, &t->word, token | slot);
}

/* OWNED -> IDLE, showing the snapshot in `slot`. Owner. */
static inline void rr_trampoline_release(rr_trampoline *t, uint64_t slot) {
  rr_exchange_seq_cst(RR_EDGE_OWNERSHIP, &t->word, slot);
}

/* Whether the calling thread is the owner. Any thread. Relaxed: only the caller itself can have
 * written its own token, or taken it away. */
static inline bool rr_trampoline_is_owner(const rr_trampoline *t, uint64_t token) {
  return (rr_load_relaxed(&t->word) & RR_TRAMPOLINE_OWNER_MASK) == token;
}

/* The owner's token, SCHEDULED, or 0; may be stale at once. Any thread. */
static inline uint64_t rr_trampoline_was_owner(const rr_trampoline *t) {
  return rr_load_seq_cst(RR_EDGE_OWNERSHIP, &t->word) & RR_TRAMPOLINE_OWNER_MASK;
}

/* The snapshot slot that readers may copy, or -1 while the trampoline is NEW. Any thread. */
static inline int rr_trampoline_published_slot(const rr_trampoline *t) {
  const uint64_t word = rr_load_seq_cst(RR_EDGE_OWNERSHIP, &t->word);
  return (word & RR_TRAMPOLINE_NEW) != 0 ? -1 : (int)(word & RR_TRAMPOLINE_SLOT_MASK);
}

#endif
