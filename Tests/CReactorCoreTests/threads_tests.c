/* For setrlimit and the signals of a thread. */
#define _GNU_SOURCE

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "CReactorCore.h"
#include "check.h"

enum { PRODUCERS = 4, EACH = 20000 };

/* What producers and consumer share. Either the ring or the lanes are used. */
typedef struct shared {
  rr_ring *ring;
  rr_lanes *lanes;
  rr_eventcount *wake;
  _Atomic int next_producer;
} shared;

static void *send_through_ring(void *argument) {
  shared *all = argument;
  const uint64_t producer = (uint64_t)atomic_fetch_add(&all->next_producer, 1);
  for (uint64_t i = 0; i < EACH;) {
    const uint64_t count = i % 3 + 1 < EACH - i ? i % 3 + 1 : EACH - i;
    uint64_t cursor = 0;
    if (rr_ring_try_claim(all->ring, count, &cursor) != RR_OK) {
      sched_yield();
      continue;
    }
    for (uint64_t k = 0; k < count; k++) {
      *(uint64_t *)rr_ring_payload(all->ring, cursor + k) = producer * EACH + i + k;
    }
    rr_ring_publish(all->ring, cursor, count);
    rr_eventcount_notify(all->wake);
    i += count;
    /* Sometimes a claim is abandoned. */
    if (i % 7 == 0 && rr_ring_try_claim(all->ring, 2, &cursor) == RR_OK) {
      rr_ring_abandon(all->ring, cursor, 2);
      rr_eventcount_notify(all->wake);
    }
  }
  return NULL;
}

static void *send_through_lane(void *argument) {
  shared *all = argument;
  const uint64_t number = (uint64_t)atomic_fetch_add(&all->next_producer, 1);
  rr_lane_producer producer;
  CHECK(rr_lanes_register(all->lanes, &producer) == RR_OK);
  for (uint64_t i = 0; i < EACH;) {
    uint64_t *slot = rr_lane_try_claim(&producer);
    if (slot == NULL) {
      sched_yield();
      continue;
    }
    *slot = number * EACH + i;
    rr_lane_publish(&producer);
    rr_eventcount_notify(all->wake);
    i++;
  }
  rr_lane_close(&producer);
  rr_eventcount_notify(all->wake);
  return NULL;
}

/* Expects each producer's values in order. */
typedef struct tally {
  uint64_t next[PRODUCERS];
  uint64_t received;
  uint64_t violations;
} tally;

static void take(tally *counts, uint64_t value) {
  uint64_t *next = &counts->next[value / EACH % PRODUCERS];
  if (*next != value % EACH) counts->violations++;
  *next = value % EACH + 1;
  counts->received++;
}

static uint64_t drain_ring(rr_ring *ring, tally *counts) {
  const uint64_t before = rr_ring_head(ring);
  uint64_t head = before;
  uint32_t found;
  while ((found = rr_ring_peek(ring, head)) != 0) {
    const uint64_t run = found & (RR_RING_SKIP - 1);
    for (uint64_t k = 0; found < RR_RING_SKIP && k < run; k++) {
      take(counts, *(uint64_t *)rr_ring_payload(ring, head + k));
    }
    head += run;
    rr_ring_release(ring, head);
  }
  return head - before;
}

static uint64_t drain_lanes(rr_lanes *lanes, tally *counts) {
  uint64_t drained = 0;
  const uint32_t count = rr_lanes_count(lanes);
  for (uint32_t i = 0; i < count; i++) {
    rr_lane *lane = rr_lanes_at(lanes, i);
    const uint64_t ready = rr_lane_poll(lane);
    const uint64_t head = rr_lane_head(lane);
    for (uint64_t k = 0; k < ready; k++) {
      take(counts, *(uint64_t *)rr_lane_payload(lane, head + k));
    }
    if (ready > 0) rr_lane_release(lane, head + ready);
    if (ready == 0) rr_lane_recycle(lane);
    drained += ready;
  }
  return drained;
}

static uint64_t drain(shared *all, tally *counts) {
  return all->ring != NULL ? drain_ring(all->ring, counts) : drain_lanes(all->lanes, counts);
}

/* Four producers; the consumer sleeps whenever there is nothing to receive. */
static void test_parked_consumer(shared *all, void *(*send)(void *)) {
  pthread_t threads[PRODUCERS];
  tally counts = {{0}, 0, 0};
  atomic_store(&all->next_producer, 0);
  for (int i = 0; i < PRODUCERS; i++) CHECK(pthread_create(&threads[i], NULL, send, all) == 0);
  while (counts.received < PRODUCERS * EACH) {
    if (drain(all, &counts) > 0) continue;
    const uint32_t key = rr_eventcount_prepare(all->wake);
    if (drain(all, &counts) > 0) continue;
    /* A lost wake-up is detected by a timeout, and counts as a failure. */
    if (!rr_eventcount_wait(all->wake, key, INT64_C(20000000000))) {
      CHECK(!"the consumer was not woken");
      abort();
    }
  }
  for (int i = 0; i < PRODUCERS; i++) pthread_join(threads[i], NULL);
  drain(all, &counts);
  CHECK(counts.violations == 0);
  CHECK(counts.received == PRODUCERS * EACH);
}

/* A thread that acquires the word is the only one that changes the count until it releases. */
typedef struct guarded {
  rr_trampoline *trampoline;
  long count;
} guarded;

static void *count_as_owner(void *argument) {
  guarded *shared_count = argument;
  for (int i = 0; i < EACH; i++) {
    while (!rr_trampoline_try_acquire(shared_count->trampoline, rr_thread_token())) sched_yield();
    shared_count->count++;
    rr_trampoline_release(shared_count->trampoline, 0);
  }
  return NULL;
}

static void test_ownership(void) {
  guarded shared_count = {NULL, 0};
  CHECK(rr_trampoline_create(&shared_count.trampoline, 0) == RR_OK);
  CHECK(rr_trampoline_try_initialize(shared_count.trampoline, rr_thread_token()));
  rr_trampoline_release(shared_count.trampoline, 0);
  pthread_t threads[PRODUCERS];
  for (int i = 0; i < PRODUCERS; i++) {
    CHECK(pthread_create(&threads[i], NULL, count_as_owner, &shared_count) == 0);
  }
  for (int i = 0; i < PRODUCERS; i++) pthread_join(threads[i], NULL);
  CHECK(shared_count.count == (long)PRODUCERS * EACH);
  rr_trampoline_destroy(shared_count.trampoline);
}

/* The first thread, which has no descriptor left for what libc opens. */
static void test_stack_without_a_descriptor(void) {
  struct rlimit before;
  CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const struct rlimit none = {0, before.rlim_max};
  CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
  const uintptr_t middle = rr_thread_stack_middle();
  CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
  const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
  CHECK(middle < frame && frame - middle < 1 << 20);
}

static void *catch_and_end(void *number) {
  rr_signals *signals = rr_signals_catch(number, 1);
  CHECK(signals != NULL);
  for (int i = 0; i < 3; i++) CHECK(pthread_kill(pthread_self(), *(int *)number) == 0);
  rr_signals_restore(signals);
  return NULL;
}

/* Signals that queue wait for the process when the thread that caught them has ended. */
static void test_no_queued_signal_is_lost(void) {
  int number = SIGRTMIN;
  sigset_t set, before;
  sigemptyset(&set);
  sigaddset(&set, number);
  CHECK(pthread_sigmask(SIG_BLOCK, &set, &before) == 0);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, catch_and_end, &number) == 0);
  pthread_join(thread, NULL);
  const struct timespec at_once = {0};
  int count = 0;
  while (sigtimedwait(&set, NULL, &at_once) == number) count++;
  CHECK(count == 3);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void test_thread_functions(void) {
  CHECK(rr_thread_run_on(pthread_self(), -1) == false);
  CHECK(rr_thread_run_on(pthread_self(), 1 << 30) == false);
  rr_thread_set_name("a name of more than fifteen bytes");
}

void test_threads(void) {
  for (int kind = RR_EVENTCOUNT_FUTEX; kind <= RR_EVENTCOUNT_DESCRIPTOR; kind++) {
    shared all = {NULL, NULL, NULL, 0};
    CHECK(rr_eventcount_create(&all.wake, (rr_eventcount_kind)kind) == RR_OK);
    CHECK(rr_ring_create(&all.ring, 64, 8, 8, (UINT64_C(1) << 63) - 1000) == RR_OK);
    test_parked_consumer(&all, send_through_ring);
    rr_ring_destroy(all.ring);
    all.ring = NULL;
    CHECK(rr_lanes_create(&all.lanes, PRODUCERS, 64, 8, 8, UINT64_MAX - 1000) == RR_OK);
    test_parked_consumer(&all, send_through_lane);
    rr_lanes_destroy(all.lanes);
    rr_eventcount_destroy(all.wake);
  }
  test_ownership();
  test_thread_functions();
  test_stack_without_a_descriptor();
  test_no_queued_signal_is_lost();
}
