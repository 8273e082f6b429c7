/* rr_eventcount.h: lets threads sleep until a condition is true that other threads make true
 * without a lock.
 *
 *  sleeper                                   notifier
 *  ───────                                   ────────
 *  key = rr_eventcount_prepare(ec)           make the condition true
 *  if (!condition)                           rr_eventcount_notify(ec)
 *    rr_eventcount_wait(ec, key, timeout)
 *  check the condition again
 *
 * The word is an epoch, doubled, and in bit 0 the flag "armed": some thread sleeps or is about to.
 *
 *                     prepare
 *     epoch, idle ──────────────▶ epoch, armed ──▶ wait: asleep while the word is the key
 *          ▲                           │
 *          └───────────────────────────┘ notify: epoch + 1, and wakes all
 *
 * Why no wake-up is lost. The sleeper arms the word, runs a heavy fence (rr_fence.h), then checks
 * the condition. The notifier makes the condition true, runs a light fence, then loads the word. So
 * either the sleeper sees the condition, or the notifier sees the word armed. In the second case
 * the notifier changes the epoch before it wakes. A sleeper that has not reached the kernel yet
 * does not fall asleep there, because the kernel compares the word with the key. (A sleeper that is
 * suspended between prepare and wait for exactly a multiple of 2^31 notifications would miss one.)
 *
 * A thread that prepared and then found the condition true simply continues. The word stays armed,
 * which costs the next notifier one unnecessary wake-up. It also stays armed when another
 * descriptor than the event count's has ended the sleep. A thread that sleeps again while the word
 * is still as it has armed it needs no second fence: a notifier that loaded the word before it was
 * armed was ordered by the first one, and each later notifier finds it armed.
 *
 * While no thread is armed, notify is a compiler fence and two loads of lines that no thread
 * writes.
 *
 * There are two kinds. Both sleep on the word. DESCRIPTOR also has an eventfd, which becomes
 * readable when the event count is notified while armed. It is for a loop that watches other
 * descriptors as well: the loop prepares, checks its condition, passes rr_eventcount_descriptor()
 * to epoll or poll instead of calling wait, and then acknowledges. Only one loop at a time may do
 * that, since acknowledging empties the descriptor for all.
 *
 * Any number of threads may sleep and notify.
 */
#ifndef RR_EVENTCOUNT_H
#define RR_EVENTCOUNT_H

#include "rr_atomic.h"
#include "rr_fence.h"
#include "rr_status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rr_eventcount_kind {
  RR_EVENTCOUNT_FUTEX = 0,
  RR_EVENTCOUNT_DESCRIPTOR = 1,
} rr_eventcount_kind;

typedef struct rr_eventcount {
  _Alignas(RR_CACHE_LINE) _Atomic uint32_t word;
  int descriptor; /* -1 for FUTEX */
} rr_eventcount;

/* Creates an event count. On failure *out is NULL and no descriptor is leaked. */
rr_status rr_eventcount_create(rr_eventcount **out, rr_eventcount_kind kind);
/* Frees the event count. No thread may sleep on it or notify it meanwhile. NULL is allowed. */
void rr_eventcount_destroy(rr_eventcount *ec);

/* Announces that the caller is about to sleep, and returns the key for wait. Costs a heavy fence
 * (about 9 us). */
uint32_t rr_eventcount_prepare(rr_eventcount *ec);
/* The same, for a thread that has prepared before; `key` is what it got then, and 0 at first. Costs
 * a load if nothing has notified since. Threads that take turns may pass the key on. */
uint32_t rr_eventcount_prepare_again(rr_eventcount *ec, uint32_t key);
/* Sleeps until notified, or for at most `timeout_ns` (negative: forever). May return for no reason,
 * for example after a signal; the caller checks its condition again. Returns false only if the time
 * ran out. */
bool rr_eventcount_wait(rr_eventcount *ec, uint32_t key, int64_t timeout_ns);
/* Whether wait with this key would sleep. It would not if the event count was notified since, or if
 * the kernel refused the fence. A caller that sleeps elsewhere, for example on the descriptor, must
 * check this after prepare. */
static inline bool rr_eventcount_may_sleep(const rr_eventcount *ec, uint32_t key) {
  return rr_load_relaxed(&ec->word) == key;
}
/* The eventfd of DESCRIPTOR, -1 for FUTEX. It belongs to the event count. */
int rr_eventcount_descriptor(const rr_eventcount *ec);
/* Empties the descriptor, which may be empty already. Does nothing for FUTEX. */
void rr_eventcount_acknowledge(rr_eventcount *ec);

/* The slow half of notify, for a word that was found armed. */
void rr_eventcount_notify_slow(rr_eventcount *ec, uint32_t word);

/* Wakes all threads that prepared before the caller's condition became true. */
static inline void rr_eventcount_notify(rr_eventcount *ec) {
  rr_fence_light();
  const uint32_t word = rr_load_relaxed(&ec->word);
  if (__builtin_expect((word & 1) != 0, 0)) rr_eventcount_notify_slow(ec, word);
}

/* The first half of notify: returns whether a thread prepared that may not have seen what the
 * caller wrote before. A caller that decides not to wake it yet must notify later. */
static inline bool rr_eventcount_must_notify(const rr_eventcount *ec) {
  rr_fence_light();
  return (rr_load_relaxed(&ec->word) & 1) != 0;
}

/* How many notifications found the word armed and so cost system calls, modulo 2^31. Any thread. */
static inline uint32_t rr_eventcount_wake_count(const rr_eventcount *ec) {
  return rr_load_relaxed(&ec->word) >> 1;
}

#ifdef __cplusplus
}
#endif

#endif
