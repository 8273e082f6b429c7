/* rr_trampoline.h: the ownership word of a state. "Run here if idle, else hand over."
 *
 *     63    62                             4    3     2      0
 *    +-----+--------------------------------+-------+--------+
 *    | new | owner: 0, SCHEDULED, or thread | light |  slot  |
 *    +-----+--------------------------------+-------+--------+
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
 *  release             the owner                        exchange; a store if the word is light
 *
 * `owner` is the token of the thread that owns the state. So a thread that finds the word busy also
 * knows, without another load, whether it is the owner itself (a re-entrant send). `slot` is the
 * number of the snapshot slot that readers may copy. One exchange (or store) both publishes the
 * snapshot of a turn and releases the ownership.
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
 * Light words. An exchange is up to half of what a send to an idle reactor costs. So a word whose
 * owners find nothing to do at their releases becomes light, and its owners release by a store and
 * a light fence (rr_fence.h). A thread that finds a light word owned, and relies on that owner's
 * check of the mailbox, runs the heavy fence and loads the word again (rr_trampoline_is_busy). Then
 * either the store of the release is visible, and the word is idle; or the owner's load of the
 * tail, which comes later, finds the claim. Readers do the same, so that they miss no release that
 * has ended (rr_trampoline_settled_slot). They make an idle word heavy again, which takes no fence.
 * Fences revoke the lightness: the owner's next release is an exchange. Until then each thread that
 * meets this owner runs a fence; the more there were, the more turns it takes until the word
 * becomes light again. MEMORY_MODEL.md has the argument, under "Release lightly".
 *
 * How readers use the slots is documented below, at the pins. A state can also have one place only,
 * where it is changed and read in turns: rr_access.h. Then the word always names slot 0.
 *
 * A state is one block of memory, sized for millions of instances:
 *
 *  line 0   the word, and the table of the slots that are allocated only when they are needed; the
 *           pins, or the access word: what readers access. The table and its pointers are written
 *           once, before the word first names their slot.
 *  line 1   belongs to the Swift layer: what it knows about the slots and notes of changes
 *           (8 bytes of it are in line 0), and `changing`, which the owner stores; then the
 * payload: what it writes at each change, and small states. No reader accesses this line, except
 *           that of a small state, and one that waits for a change to end or revokes a bias.
 */
#ifndef RR_TRAMPOLINE_H
#define RR_TRAMPOLINE_H

#include <stddef.h>

#include "rr_atomic.h"
#include "rr_status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RR_TRAMPOLINE_SLOTS 8
#define RR_TRAMPOLINE_SLOT_MASK UINT64_C(7)
#define RR_TRAMPOLINE_LIGHT UINT64_C(8)
#define RR_TRAMPOLINE_SCHEDULED UINT64_C(16)
#define RR_TRAMPOLINE_NEW (UINT64_C(1) << 63)
#define RR_TRAMPOLINE_OWNER_MASK (~(RR_TRAMPOLINE_NEW | UINT64_C(15)))

/* A word may become light at each turn whose number is a multiple of this; after n revocations, of
 * this times 2^n. A heavy fence takes as long as the exchanges of some two thousand releases. */
#ifdef RR_MODEL
#define RR_TRAMPOLINE_LIGHT_AFTER 1
#elif !defined(RR_TRAMPOLINE_LIGHT_AFTER)
#define RR_TRAMPOLINE_LIGHT_AFTER 1024
#endif
/* Then it is light for the last 2^20 turns before the next fence, or longer. It never forgets. */
#define RR_TRAMPOLINE_MAX_REVOCATIONS 10
/* How often a thread to which the kernel refuses the fence yields, until an owner's store must have
 * left the store buffer of its processor: some milliseconds. */
#ifdef RR_MODEL
#define RR_TRAMPOLINE_WAITS 1000000
#else
#define RR_TRAMPOLINE_WAITS 10000
#endif

/* A single cache line, not RR_CACHE_LINE, to keep the block small. */
#define RR_TRAMPOLINE_LINE 64

typedef struct rr_trampoline {
  /* At the beginning of a line: see rr_trampoline_create. */
  _Atomic uint64_t word;
  void **places;
  /* A state has several slots, or one place. */
  union {
    _Atomic uint32_t pins[RR_TRAMPOLINE_SLOTS];
    /* See rr_access.h. */
    struct {
      _Atomic uint32_t access;
      _Atomic uint32_t waiting;
      /* How many copies of the state were handed out. */
      _Atomic uint64_t copies;
      _Atomic uint32_t starving;
      _Atomic uint32_t bias;
      /* How many changes there were since the last read. Only the owner accesses it. */
      _Atomic uint32_t unread;
    };
  };
  /* Twice how often the owner had to defer the publication of its changes, plus 1 while a state is
   * deferred; no more than fits. In the line of the pins, since a reader loads it when it has
   * unpinned. */
  _Atomic uint32_t deferrals;
  /* How many heavy fences threads have run because the word was light. Then it is to be heavy. */
  _Atomic uint32_t fences;
  unsigned char slot_fields[18];
  /* How often the lightness was revoked, at most RR_TRAMPOLINE_MAX_REVOCATIONS. Many fences in one
   * turn count as several times. Only the owner accesses it. */
  uint16_t revocations;
  /* Of a state with one place. Not in the line of the word, which senders load: a loop would wait
   * for that line at each change, and each sender after it. */
  _Atomic uint32_t changing;
} rr_trampoline;

/* The offsets of the fields that belong to the Swift layer, in bytes. */
#define RR_TRAMPOLINE_PLACES 8
#define RR_TRAMPOLINE_PINS 16
#define RR_TRAMPOLINE_DEFERRALS 48
#define RR_TRAMPOLINE_SLOT_FIELDS 56
#define RR_TRAMPOLINE_SLOT_FIELDS_END 74
#define RR_TRAMPOLINE_PAYLOAD 80
_Static_assert(offsetof(rr_trampoline, places) == RR_TRAMPOLINE_PLACES, "");
_Static_assert(offsetof(rr_trampoline, pins) == RR_TRAMPOLINE_PINS, "");
_Static_assert(offsetof(rr_trampoline, deferrals) == RR_TRAMPOLINE_DEFERRALS, "");
_Static_assert(offsetof(rr_trampoline, slot_fields) == RR_TRAMPOLINE_SLOT_FIELDS, "");
_Static_assert(offsetof(rr_trampoline, revocations) == RR_TRAMPOLINE_SLOT_FIELDS_END, "");
_Static_assert(sizeof(rr_trampoline) == RR_TRAMPOLINE_PAYLOAD, "");

/* Creates a trampoline in state NEW, with `payload` bytes behind it, at most RR_MAX_PAYLOAD. *out
 * is NULL on failure. */
rr_status rr_trampoline_create(rr_trampoline **out, size_t payload);
/* Frees a trampoline that no thread uses any more. NULL is allowed. Pins that threads still keep
 * (rr_readers.h) are taken back first; otherwise those threads would later write to freed memory.
 */
void rr_trampoline_destroy(rr_trampoline *trampoline);
/* The same for a state with one place, which no thread pins: without the lock of all readers. */
void rr_trampoline_destroy_place(rr_trampoline *trampoline);

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
  while (__builtin_expect((word & ~(RR_TRAMPOLINE_SLOT_MASK | RR_TRAMPOLINE_LIGHT)) == 0, 1)) {
    /* Sequentially consistent because of C++20 only: see RR_EDGE_OWNERSHIP in MEMORY_MODEL.md. */
    const bool is_set = rr_cas_seq_cst(RR_EDGE_OWNERSHIP, &t->word, &word, word | owner);
    if (__builtin_expect(is_set, 1)) return true;
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
  /* Relaxed: the word is the caller's own. It stays light. The exchange is needed even so: the
   * owner goes on, and next loads the pins. */
  const uint64_t light = rr_load_relaxed(&t->word) & RR_TRAMPOLINE_LIGHT;
  rr_exchange_seq_cst(RR_EDGE_OWNERSHIP, &t->word, token | light | slot);
}

/* OWNED -> IDLE, and publishes the snapshot in `slot`. Owner. */
static inline void rr_trampoline_release(rr_trampoline *t, uint64_t slot) {
  rr_exchange_seq_cst(RR_EDGE_OWNERSHIP, &t->word, slot);
}

/* OWNED -> IDLE of a light word, after a turn that has left nothing to do; publishes the snapshot
 * in `slot`. Returns false, and does nothing, if the word is not light, or is to be so no more:
 * then the owner calls rr_trampoline_release_heavily. Owner, but not after
 * rr_trampoline_acquire_scheduled; it must check the mailbox again afterwards. */
static inline bool rr_trampoline_try_release_lightly(rr_trampoline *t, uint64_t slot) {
  /* Relaxed: the word is the caller's own, and a thread that counts a fence has run it for itself.
   */
  const uint64_t word = rr_load_relaxed(&t->word);
  const uint32_t fences = rr_load_relaxed(&t->fences);
  /* One branch for both. */
  if (__builtin_expect(((~word & RR_TRAMPOLINE_LIGHT) | fences) != 0, 0)) return false;
  rr_store_release(RR_EDGE_OWNERSHIP, &t->word, slot | RR_TRAMPOLINE_LIGHT);
  /* The light half of the asymmetric fence. Where the fence is symmetric, no word is light. */
  rr_compiler_fence(RR_EDGE_OWNERSHIP);
  return true;
}

/* The same of any word. It may become light, or heavy. `turns` is a number that grows by 1 with
 * each release of the two kinds. */
void rr_trampoline_release_heavily(rr_trampoline *t, uint64_t slot, uint64_t turns);

/* Releases lightly if it can, otherwise heavily. An owner that has `turns` in memory calls the two
 * itself, so that a light release does not load it. */
static inline void rr_trampoline_release_after(rr_trampoline *t, uint64_t slot, uint64_t turns) {
  if (!rr_trampoline_try_release_lightly(t, slot)) rr_trampoline_release_heavily(t, slot, turns);
}

/* The rest of rr_trampoline_is_busy, for a light word that another thread owned. */
bool rr_trampoline_is_busy_slow(rr_trampoline *t);

/* Whether the state has an owner, or is scheduled, and that owner's check of the mailbox after its
 * release finds what the calling thread has put there. Any thread. About 10 us if the word is light
 * and has an owner. If the kernel refuses the fence, it waits for some milliseconds instead. */
static inline bool rr_trampoline_is_busy(rr_trampoline *t) {
  const uint64_t word = rr_load_seq_cst(RR_EDGE_OWNERSHIP, &t->word);
  const uint64_t owner = word & RR_TRAMPOLINE_OWNER_MASK;
  if (__builtin_expect((word & RR_TRAMPOLINE_LIGHT) == 0, 1)) return owner != 0;
  /* The calling thread itself has not released. */
  return owner != 0 && (owner == rr_thread_token() || rr_trampoline_is_busy_slow(t));
}

/* Whether the calling thread is the owner. Any thread. Relaxed: only the calling thread itself can
 * have written its own token, or removed it. */
static inline bool rr_trampoline_is_owner(const rr_trampoline *t, uint64_t token) {
  return (rr_load_relaxed(&t->word) & RR_TRAMPOLINE_OWNER_MASK) == token;
}

/* The owner's token, SCHEDULED, or 0. May be stale at once: nobody may rely on that owner because
 * of it. Any thread. */
static inline uint64_t rr_trampoline_owner(const rr_trampoline *t) {
  return rr_load_relaxed(&t->word) & RR_TRAMPOLINE_OWNER_MASK;
}

/* The number of the snapshot slot that readers may copy, or -1 while the trampoline is NEW. Any
 * thread. */
static inline int rr_trampoline_published_slot(const rr_trampoline *t) {
  const uint64_t word = rr_load_seq_cst(RR_EDGE_OWNERSHIP, &t->word);
  return (word & RR_TRAMPOLINE_NEW) != 0 ? -1 : (int)(word & RR_TRAMPOLINE_SLOT_MASK);
}

/* Loads a light word that has an owner once more, after a heavy fence; makes an idle one heavy.
 * Returns the word. Any thread. About 10 us if there is an owner. */
uint64_t rr_trampoline_settle(rr_trampoline *t, uint64_t word);

/* As rr_trampoline_published_slot, of a state that is not older than that of any release which
 * ended before the call; unless the kernel refuses the fence. */
static inline int rr_trampoline_settled_slot(rr_trampoline *t) {
  uint64_t word = rr_load_seq_cst(RR_EDGE_OWNERSHIP, &t->word);
  if ((word & RR_TRAMPOLINE_LIGHT) != 0) word = rr_trampoline_settle(t, word);
  return (word & RR_TRAMPOLINE_NEW) != 0 ? -1 : (int)(word & RR_TRAMPOLINE_SLOT_MASK);
}

/* The pins count, for each snapshot slot, how many readers use it.
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
 * Why a deferred state does not stay hidden when the readers have left. An owner that defers says
 * so in `deferrals`, releases, and then loads the pins once more: if a slot is free now, it
 * acquires again and publishes. A reader unpins, then loads `deferrals`: if a state is deferred, it
 * acquires and publishes. All these operations are sequentially consistent, so they have one order.
 * If the owner missed the reader's unpin, the reader finds that a state is deferred, and that the
 * owner has released; or another owner came since, and does the same at its release. The thread
 * that was the owner for this moment checks the mailbox, as every owner does.
 *
 * A pin costs two read-modify-writes on a cache line that all readers share, which is too much for
 * threads that read often. rr_readers.h avoids this cost for them.
 */

/* Any thread. Wait-free. Before it reads the slot, the caller must load the trampoline's word again
 * and find the same slot. */
static inline void rr_pins_pin(rr_trampoline *t, int slot) {
  rr_fetch_add_seq_cst(RR_EDGE_SNAPSHOT_PIN, &t->pins[slot], 1u);
}

/* Called by a thread that holds a pin. It says "I have finished reading" to the owner that
 * overwrites the slot later. Sequentially consistent because of the caller's next load, of
 * rr_pins_is_deferred. */
static inline void rr_pins_unpin(rr_trampoline *t, int slot) {
  rr_fetch_sub_seq_cst(RR_EDGE_SNAPSHOT_PIN, &t->pins[slot], 1u);
}

/* Whether no reader pins `slot`. If the owner calls this for a slot that the word does not name,
 * true stays true until the owner publishes that slot. */
static inline bool rr_pins_is_free(const rr_trampoline *t, int slot) {
  return rr_load_seq_cst(RR_EDGE_SNAPSHOT_PIN, &t->pins[slot]) == 0;
}

/* Counts a publication that was deferred because no slot was free, and tells readers. When the
 * owner has released, it must check the pins once more. Owner. */
static inline void rr_pins_note_deferred(rr_trampoline *t) {
  const uint32_t deferrals = rr_load_relaxed(&t->deferrals);
  const uint32_t counted = deferrals < UINT32_MAX - 1 ? deferrals + 2 : deferrals;
  rr_exchange_seq_cst(RR_EDGE_SNAPSHOT_PIN, &t->deferrals, counted | 1);
}

/* The state that was deferred is being published. Owner. */
static inline void rr_pins_note_undeferred(rr_trampoline *t) {
  rr_store_relaxed(&t->deferrals, rr_load_relaxed(&t->deferrals) & ~UINT32_C(1));
}

/* Whether a state is deferred. A reader that finds one after it has unpinned must try to acquire,
 * and to publish that state. May be stale at once. Any thread. */
static inline bool rr_pins_is_deferred(const rr_trampoline *t) {
  return (rr_load_seq_cst(RR_EDGE_SNAPSHOT_PIN, &t->deferrals) & 1) != 0;
}

/* How many publications were deferred, 2^31 - 1 at most. May be stale at once. Any thread. */
static inline uint32_t rr_pins_was_deferred_count(const rr_trampoline *t) {
  return rr_load_relaxed(&t->deferrals) / 2;
}

#ifdef __cplusplus
}
#endif

#endif
