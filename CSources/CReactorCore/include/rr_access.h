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
 *  begin_read          any          compare-and-swap: one reader more, unless owner or hold is set
 *  end_read            the reader   fetch-sub
 *  begin_change        the owner    compare-and-swap from 0 to owner, unless readers wait
 *  hold                the owner    fetch-or: later readers hold back
 *  begin_held_change   the owner    compare-and-swap from hold to owner
 *  end_change          the owner    store of 0: no other thread writes while owner is set
 *
 * Changes and reads take turns, and neither side starves. An owner that finds readers waiting gives
 * them a moment: one that is running enters then, after one action. One that sleeps may miss this
 * moment; if the owner waited for it each time, every change would cost a switch of threads. So a
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
 * `waiting` and `starving` are no part of the exclusion: a thread that finds an older value lets
 * another one wait for one more action, or takes the slow path for nothing.
 *
 * The words are in the line of the pins (rr_trampoline.h), which such a state does not use.
 */
#ifndef RR_ACCESS_H
#define RR_ACCESS_H

#include "rr_atomic.h"
#include "rr_fence.h"
#include "rr_trampoline.h"

#define RR_ACCESS_OWNER 1u
#define RR_ACCESS_HOLD 2u
#define RR_ACCESS_READER 4u

/* Begins a change if nobody reads or waits. The owner. */
static inline bool rr_access_try_begin_change(rr_trampoline *t) {
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

/* Ends a change. The owner. Returns whether a reader waits; then the caller must notify. */
static inline bool rr_access_end_change(rr_trampoline *t) {
  rr_store_release(RR_EDGE_ACCESS, &t->access, 0);
  rr_fence_light();
  return __builtin_expect(rr_load_relaxed(&t->waiting) != 0, 0);
}

/* Whether a read could begin now. Any thread. */
static inline bool rr_access_is_open(const rr_trampoline *t, bool passes_hold) {
  const uint32_t closed = passes_hold ? RR_ACCESS_OWNER : RR_ACCESS_OWNER | RR_ACCESS_HOLD;
  return (rr_load_relaxed(&t->access) & closed) == 0;
}

/* Begins a read unless the state is being changed, or held. Any thread but the owner. Lock-free. */
static inline bool rr_access_try_begin_read(rr_trampoline *t, bool passes_hold) {
  const uint32_t closed = passes_hold ? RR_ACCESS_OWNER : RR_ACCESS_OWNER | RR_ACCESS_HOLD;
  uint32_t found = rr_load_relaxed(&t->access);
  while ((found & closed) == 0) {
    if (rr_cas_acquire(RR_EDGE_ACCESS, &t->access, &found, found + RR_ACCESS_READER)) return true;
  }
  return false;
}

/* Ends a read. Returns whether the owner waits for that; then the caller must notify. The reader.
 */
static inline bool rr_access_end_read(rr_trampoline *t) {
  const uint32_t found = rr_fetch_sub_release(RR_EDGE_ACCESS, &t->access, RR_ACCESS_READER);
  return __builtin_expect((found & RR_ACCESS_HOLD) != 0, 0);
}

/* How many threads read now. May be stale at once, but contains the calling thread. Any thread. */
static inline uint32_t rr_access_was_reader_count(const rr_trampoline *t) {
  return rr_load_relaxed(&t->access) / RR_ACCESS_READER;
}

/* The calling thread begins and stops to wait for the end of a change. Any thread but the owner. */
static inline void rr_access_begin_wait(rr_trampoline *t) { rr_fetch_add_relaxed(&t->waiting, 1u); }
static inline void rr_access_end_wait(rr_trampoline *t) { rr_fetch_sub_relaxed(&t->waiting, 1u); }

/* Whether threads wait for the end of a change. May be stale at once. Any thread. */
static inline bool rr_access_was_awaited(const rr_trampoline *t) {
  return rr_load_relaxed(&t->waiting) != 0;
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

#endif
