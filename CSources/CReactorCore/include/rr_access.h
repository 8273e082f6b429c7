/* rr_access.h: turns at a state that has one place only, between its owner and its readers.
 *
 * A state whose snapshots are not copied is changed where it is read. So the owner needs exclusive
 * access while it changes the state: from the first change of an action to its last. Any number of
 * readers may read at the same time.
 *
 *  31             2    1      0
 *    +-------------+------+-------+      `access`; and beside it
 *    |   readers   | hold | owner |      `waiting`: how many readers wait,
 *    +-------------+------+-------+      `starving`: how many of them have waited for long
 *
 *  transition          thread       how
 *  begin_read          any          compare-and-swap: one reader more, unless owner or hold is set;
 *                                   then it revokes the bias, if there is one
 *  end_read            the reader   fetch-sub
 *  begin_change        the owner    compare-and-swap from 0 to owner, unless readers wait; if the
 *                                   state is biased, a store of 1 to `changing`
 *  hold                the owner    fetch-or: later readers hold back
 *  begin_held_change   the owner    compare-and-swap from hold to owner
 *  end_change          the owner    store of 0: no other thread writes while owner is set, and no
 *                                   other thread ever writes `changing`
 *
 * Changes and reads take turns, and neither side starves. An owner that finds readers waiting gives
 * them a moment: one that is running enters then, after one action. One that sleeps may miss this
 * moment; if the owner waited for it each time, every change would cost a switch of threads. So
 * after a moment in which not all have entered, the owner gives no other one for 20 us. And a
 * reader that has waited for a millisecond says that it starves, and then the owner begins no
 * change before it has entered. An owner that finds readers inside sets `hold`; readers that come
 * now wait until the change after that has ended. It sets `hold` only while no reader starves.
 *
 * A reader passes `hold` if its thread is inside of a turn, or of another read: a third thread may
 * be waiting for the end of that turn or read, and be the one for which the owner waits.
 *
 * Why no wake-up is lost, of a reader that sleeps until the change ends. It increments `waiting`,
 * then arms an event count, which runs a heavy fence (rr_fence.h), then loads `access`. The owner
 * stores `access`, runs a light fence, and loads `waiting`. So either the reader finds that the
 * change has ended, or the owner finds the reader and notifies the event count. An owner that
 * sleeps until readers have left is notified by each reader whose end_read finds `hold`, and by
 * each that has stopped waiting; both notify after a read-modify-write.
 *
 * Most states are changed far more often than they are read, and the compare-and-swap is a fifth of
 * what a change costs. So after RR_ACCESS_BIASED_AFTER changes without a read the owner biases the
 * state to itself, as biased locks do. From then on it says in `changing` that it is inside, and
 * checks `bias` behind a light fence: two stores for each change, and no read-modify-write. The
 * first reader that comes revokes the bias.
 *
 *    UNBIASED --> BIASED       the owner, inside, after enough changes without a read
 *    UNBIASED --> WAS_READ     a reader
 *    BIASED ----> REVOKING     a reader
 *    REVOKING --> REVOKED      a reader whose store of REVOKING is ordered against the owner
 *    BIASED, REVOKING
 *           ----> REVOKED      the owner, outside of a change, before it waits for readers
 *    REVOKED ---> WAS_READ     a reader that finds `changing` 0
 *    WAS_READ and the last two
 *           ----> UNBIASED     the owner, at the end of a change by `access`
 *
 * Why no reader is inside together with an owner that changes by the bias. The owner stores
 * `changing`, runs a light fence, and loads `bias`. The reader stores `bias`, runs a heavy fence,
 * and loads `changing`. So at least one of them finds the other. An owner that finds the reader
 * takes back what it said, and changes by `access`. A reader that finds the owner takes itself out
 * of `access`, and waits. While the state has no owner, the reader needs no fence: a
 * compare-and-swap of the ownership word, from idle to idle, comes after all owners before it and
 * before all later ones. An owner that is outside of a change needs no fence either to give the
 * bias up: it is the thread that would use it. It must, before it waits for readers: the kernel may
 * refuse a reader the fence, and then only this lets that reader enter.
 *
 * The owner sets the bias while no reader counts in `access`, and readers revoke it while they
 * count there. So no bias begins while threads revoke one, and what they store needs no order among
 * them: if one of them stores an earlier step again, it only repeats the steps after that.
 *
 * A thread that reads one state may want to become the owner of another one, in which others read.
 * As its owner it would wait for them, and one of them may want to become the owner of the first:
 * then both would wait for ever. So such a thread does not become the owner of a state that has
 * readers (has_readers). A thread says that it reads before it asks that about another state, and
 * both are sequentially consistent. So of threads in a circle the last one to begin its read finds
 * the reader of the next state.
 *
 * `waiting` and `starving` are no part of the exclusion: a thread that finds an older value lets
 * another one wait for one more action, or takes the slow path for nothing.
 *
 * The words are in the line of the pins (rr_trampoline.h), which such a state does not use;
 * `changing` is in line 1, beside what else the owner stores.
 */
#ifndef RR_ACCESS_H
#define RR_ACCESS_H

#include "rr_atomic.h"
#include "rr_fence.h"
#include "rr_trampoline.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RR_ACCESS_OWNER 1u
#define RR_ACCESS_HOLD 2u
#define RR_ACCESS_READER 4u

/* The values of `bias`. */
#define RR_ACCESS_UNBIASED 0u
#define RR_ACCESS_WAS_READ 1u /* unbiased, and read since the owner's last change */
#define RR_ACCESS_BIASED 2u
#define RR_ACCESS_REVOKING 3u
#define RR_ACCESS_REVOKED 4u

/* To revoke a bias costs a heavy fence (about 9 us) while the state has an owner. This many changes
 * take 15 to 20 times as long. */
#if defined(RR_ACCESS_BIASED_AFTER)
#elif defined(RR_MODEL) || defined(RR_CONTROLLED)
#define RR_ACCESS_BIASED_AFTER 1u
#else
#define RR_ACCESS_BIASED_AFTER 4096u
#endif

/* The calling thread counts as a reader, and has acquired `bias`. Returns whether the owner is not
 * inside; then the state is not biased any more. */
bool rr_access_try_revoke_bias(rr_trampoline *t, uint32_t bias);

/* The owner is not inside, though it said so: a reader has come. Releases, because a reader may
 * take the end of an earlier change from this store. */
static inline void rr_access_take_back_change(rr_trampoline *t) {
  rr_store_release(RR_EDGE_ACCESS, &t->changing, 0u);
  rr_fence_light();
}

/* Begins a change if nobody reads, and nobody waits or the state is biased. The owner. After false,
 * the caller must notify if somebody waits: perhaps for the moment in which the owner seemed to be
 * inside. */
static inline bool rr_access_try_begin_change(rr_trampoline *t) {
  /* Nobody waits while the state is biased, but for a moment: a reader revokes the bias first. */
  if (rr_load_relaxed(&t->bias) == RR_ACCESS_BIASED) {
    rr_store_relaxed(&t->changing, 1u);
    rr_fence_light();
    /* Relaxed: nobody has read since the owner biased the state. */
    if (__builtin_expect(rr_load_relaxed(&t->bias) == RR_ACCESS_BIASED, 1)) return true;
    rr_access_take_back_change(t);
    return false;
  }
  if (__builtin_expect(rr_load_relaxed(&t->waiting) != 0, 0)) return false;
  uint32_t expected = 0;
  return rr_cas_acquire(RR_EDGE_ACCESS, &t->access, &expected, RR_ACCESS_OWNER);
}

/* Makes later readers hold back. The owner, outside of a change. */
static inline void rr_access_hold(rr_trampoline *t) {
  rr_fetch_or_relaxed(&t->access, RR_ACCESS_HOLD);
}

/* Begins a change after rr_access_hold() if nobody reads. The owner. */
static inline bool rr_access_try_begin_held_change(rr_trampoline *t) {
  uint32_t expected = RR_ACCESS_HOLD;
  return rr_cas_acquire(RR_EDGE_ACCESS, &t->access, &expected, RR_ACCESS_OWNER);
}

/* Gives the bias up, if there is one. The owner, outside of a change, before it waits for readers.
 */
void rr_access_give_up_bias(rr_trampoline *t);

/* Biases the state after enough changes without a read, unless a reader waits. The owner, while no
 * thread counts as a reader: so no other thread writes `bias`, and the end of the change publishes
 * it. Not inline: a reactor has many places that end a change. */
void rr_access_update_bias(rr_trampoline *t);

/* Ends a change. The owner. Returns whether a reader waits; then the caller must notify. */
static inline bool rr_access_end_change(rr_trampoline *t) {
  if (rr_load_relaxed(&t->changing) != 0) {
    rr_store_release(RR_EDGE_ACCESS, &t->changing, 0u);
  } else {
    rr_access_update_bias(t);
    rr_store_release(RR_EDGE_ACCESS, &t->access, 0);
  }
  rr_fence_light();
  return __builtin_expect(rr_load_relaxed(&t->waiting) != 0, 0);
}

/* Whether a read could begin now. Any thread. */
static inline bool rr_access_is_open(const rr_trampoline *t, bool passes_hold) {
  const uint32_t closed = passes_hold ? RR_ACCESS_OWNER : RR_ACCESS_OWNER | RR_ACCESS_HOLD;
  return (rr_load_relaxed(&t->access) & closed) == 0 && rr_load_relaxed(&t->changing) == 0;
}

/* Whether the owner waits until no thread reads. Any thread. */
static inline bool rr_access_is_held(const rr_trampoline *t) {
  return (rr_load_relaxed(&t->access) & RR_ACCESS_HOLD) != 0;
}

/* Ends a read. Returns whether the owner waits for that; then the caller must notify. The reader.
 */
static inline bool rr_access_end_read(rr_trampoline *t) {
  const uint32_t found = rr_fetch_sub_release(RR_EDGE_ACCESS, &t->access, RR_ACCESS_READER);
  return __builtin_expect((found & RR_ACCESS_HOLD) != 0, 0);
}

/* The rest of rr_access_try_begin_read, of a thread that counts as a reader. */
static inline bool rr_access_try_enter(rr_trampoline *t) {
  const uint32_t bias = rr_load_acquire(RR_EDGE_ACCESS, &t->bias);
  if (bias == RR_ACCESS_WAS_READ) return true;
  if (__builtin_expect(bias != RR_ACCESS_UNBIASED, 0)) return rr_access_try_revoke_bias(t, bias);
  rr_store_relaxed(&t->bias, RR_ACCESS_WAS_READ);
  return true;
}

/* Begins a read unless the state is being changed, or held. Any thread but the owner. Lock-free.
 * After false, a caller that is going to sleep must notify if the state is held: it counted as a
 * reader for a moment, for which the owner may wait. */
static inline bool rr_access_try_begin_read(rr_trampoline *t, bool passes_hold) {
  const uint32_t closed = passes_hold ? RR_ACCESS_OWNER : RR_ACCESS_OWNER | RR_ACCESS_HOLD;
  uint32_t found = rr_load_relaxed(&t->access);
  while ((found & closed) == 0) {
    if (!rr_cas_seq_cst(RR_EDGE_ACCESS, &t->access, &found, found + RR_ACCESS_READER)) continue;
    if (__builtin_expect(rr_access_try_enter(t), 1)) return true;
    (void)rr_access_end_read(t);
    return false;
  }
  return false;
}

/* Whether a thread reads. Any thread. "I write mine, then I read yours" with begin_read: of threads
 * that have each begun to read one state and then ask about the next, one finds another. */
static inline bool rr_access_has_readers(const rr_trampoline *t) {
  return rr_load_seq_cst(RR_EDGE_ACCESS, &t->access) >= RR_ACCESS_READER;
}

/* How many threads read now. May be stale at once, but contains the calling thread. Any thread. */
static inline uint32_t rr_access_was_reader_count(const rr_trampoline *t) {
  return rr_load_relaxed(&t->access) / RR_ACCESS_READER;
}

/* The calling thread begins and stops to wait for the end of a change. Any thread but the owner. */
static inline void rr_access_begin_wait(rr_trampoline *t) { rr_fetch_add_relaxed(&t->waiting, 1u); }
static inline void rr_access_end_wait(rr_trampoline *t) { rr_fetch_sub_relaxed(&t->waiting, 1u); }

/* How many threads wait for the end of a change. May be stale at once. Any thread. */
static inline uint32_t rr_access_was_waiting_count(const rr_trampoline *t) {
  return rr_load_relaxed(&t->waiting);
}

/* The same for a thread that waits and has waited for long. */
static inline void rr_access_begin_starving(rr_trampoline *t) {
  rr_fetch_add_relaxed(&t->starving, 1u);
}
static inline void rr_access_end_starving(rr_trampoline *t) {
  rr_fetch_sub_relaxed(&t->starving, 1u);
}
static inline bool rr_access_has_starving(const rr_trampoline *t) {
  return rr_load_relaxed(&t->starving) != 0;
}

/* Counts a copy of the state that was handed out, which may outlive the read. Any thread. */
static inline void rr_access_note_copy(rr_trampoline *t) { rr_fetch_add_relaxed(&t->copies, 1u); }
static inline uint64_t rr_access_was_copied_count(const rr_trampoline *t) {
  return rr_load_relaxed(&t->copies);
}

#ifdef __cplusplus
}
#endif

#endif
