/* rr_eventcount.h: sleeping until a condition that others make true without a lock.
 *
 *   sleeper                                   notifier
 *   ───────                                   ────────
 *   key = rr_eventcount_prepare(ec)           make the condition true
 *   if (!condition)                           rr_eventcount_notify(ec)
 *     rr_eventcount_wait(ec, key, timeout)
 *   look at the condition again
 *
 * The word is an epoch, doubled, and in bit 0 whether somebody sleeps or is about to ("armed").
 *
 *                      prepare
 *      epoch, idle ──────────────▶ epoch, armed ──▶ wait: asleep while the word is the key
 *           ▲                           │
 *           └───────────────────────────┘ notify: epoch + 1, and wakes all
 *
 * No wake-up is lost. The sleeper arms, runs a heavy fence (rr_fence.h), then looks at the
 * condition; the notifier makes the condition true, runs a light fence, then looks at the word.
 * So either the sleeper sees the condition or the notifier sees the word armed. If it does, it
 * changes the epoch before it wakes, so that a sleeper that has not yet reached the kernel does
 * not fall asleep there: the kernel compares the word with the key. (A sleeper that is suspended
 * between prepare and wait for exactly a multiple of 2^31 notifications would oversleep one.)
 *
 * Who prepared and then found the condition true just goes on: the word stays armed, which costs
 * the next notifier one wake-up for nothing.
 *
 * While nobody is armed, notify is a compiler fence and two loads of lines that nobody writes.
 *
 * Two flavours. Both sleep on the word. DESCRIPTOR has an eventfd besides, which becomes readable
 * when notified while armed, for a loop that also watches other descriptors: such a loop prepares,
 * looks, gives rr_eventcount_descriptor() to epoll or poll instead of waiting, and then
 * acknowledges. One loop at a time, since acknowledging empties the descriptor for all.
 *
 * Any number of sleepers and of notifiers, any thread.
 */
#ifndef RR_EVENTCOUNT_H
#define RR_EVENTCOUNT_H

#include "rr_atomic.h"
#include "rr_fence.h"
#include "rr_status.h"

typedef enum rr_eventcount_kind {
  RR_EVENTCOUNT_FUTEX = 0,
  RR_EVENTCOUNT_DESCRIPTOR = 1,
} rr_eventcount_kind;

typedef struct rr_eventcount {
  _Alignas(RR_CACHE_LINE) _Atomic uint32_t word;
  int descriptor; /* -1 for FUTEX */
} rr_eventcount;

/* *out is NULL on failure; a descriptor is not leaked. */
rr_status rr_eventcount_create(rr_eventcount **out, rr_eventcount_kind kind);
/* Nobody may sleep or notify meanwhile. NULL is allowed. */
void rr_eventcount_destroy(rr_eventcount *ec);

/* Announces that the caller is about to sleep. Costs a heavy fence (about 9 us). */
uint32_t rr_eventcount_prepare(rr_eventcount *ec);
/* Sleeps until notified, at most `timeout_ns` (negative: for ever). May return for no reason, as
 * on a signal; the caller looks at its condition again. True unless the time ran out. */
bool rr_eventcount_wait(rr_eventcount *ec, uint32_t key, int64_t timeout_ns);
/* Whether wait with that key would sleep: not if somebody has notified since, nor if the fence was
 * refused. To be asked, after prepare, by who sleeps elsewhere, as on the descriptor. */
static inline bool rr_eventcount_may_sleep(const rr_eventcount *ec, uint32_t key) {
  return rr_load_relaxed(&ec->word) == key;
}
/* The eventfd of DESCRIPTOR, -1 of FUTEX. Belongs to the eventcount. */
int rr_eventcount_descriptor(const rr_eventcount *ec);
/* Empties the descriptor, which may be empty already. Nothing for FUTEX. */
void rr_eventcount_acknowledge(rr_eventcount *ec);

/* The slow half of notify: somebody is armed. */
void rr_eventcount_notify_slow(rr_eventcount *ec, uint32_t word);

/* Wakes everybody who prepared before the caller's condition came true. */
static inline void rr_eventcount_notify(rr_eventcount *ec) {
  rr_fence_light();
  const uint32_t word = rr_load_relaxed(&ec->word);
  if (__builtin_expect((word & 1) != 0, 0)) rr_eventcount_notify_slow(ec, word);
}

/* The first half of notify: whether anybody prepared who may not have seen what the caller wrote
 * before. Who finds out that it is not worth a wake-up yet owes one later. */
static inline bool rr_eventcount_must_notify(const rr_eventcount *ec) {
  rr_fence_light();
  return (rr_load_relaxed(&ec->word) & 1) != 0;
}

/* How many notifications found somebody armed, and cost system calls; modulo 2^31. Any thread. */
static inline uint32_t rr_eventcount_wake_count(const rr_eventcount *ec) {
  return rr_load_relaxed(&ec->word) >> 1;
}

/* Whether somebody sleeps or is about to; may be stale at once. */
static inline bool rr_eventcount_was_armed(const rr_eventcount *ec) {
  return (rr_load_relaxed(&ec->word) & 1) != 0;
}

#endif
