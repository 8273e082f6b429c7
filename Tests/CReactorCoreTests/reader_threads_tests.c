/* For barriers. */
#define _GNU_SOURCE

#include <pthread.h>
#include <sched.h>

#include "CReactorCore.h"
#include "check.h"

/* Few slots, so that the owner often has to revoke kept pins. */
enum { READERS = 4, SLOTS = 3, TURNS = 20000, REVOKED = 20, LIVES = 40 };

/* A state of two equal words in each slot. The words are not atomic, because their order is what is
 * tested. */
typedef struct subject {
  rr_trampoline *trampoline;
  long states[SLOTS][2];
  /* The number of turns so far. Relaxed: it orders nothing. */
  _Atomic long turns;
  _Atomic bool is_over;
  /* The number of readers that have begun. Relaxed. */
  _Atomic int begun;
  _Atomic long revoked;
  _Atomic long torn;
  _Atomic long backwards;
} subject;

static void start(subject *all) {
  CHECK(rr_trampoline_create(&all->trampoline, 0) == RR_OK);
  CHECK(rr_trampoline_try_initialize(all->trampoline, rr_thread_token()));
  all->states[0][0] = all->states[0][1] = 0;
  rr_trampoline_release(all->trampoline, 0);
}

/* Returns a slot to write to, or -1. */
static int free_slot(subject *all, int published) {
  for (int slot = 0; slot < SLOTS; slot++) {
    if (slot != published && rr_pins_is_free(all->trampoline, slot)) return slot;
  }
  return -1;
}

static void turn(subject *all, long value) {
  const int published = rr_trampoline_published_slot(all->trampoline);
  int slot = free_slot(all, published);
  if (slot < 0 && rr_readers_revoke(all->trampoline)) {
    all->revoked++;
    slot = free_slot(all, published);
  }
  if (slot < 0) return;
  CHECK(rr_trampoline_try_acquire(all->trampoline, rr_thread_token()));
  all->states[slot][0] = value;
  all->states[slot][1] = value;
  rr_trampoline_release(all->trampoline, (uint64_t)slot);
}

static long read_once(subject *all, long newest) {
  const rr_pin pin = rr_readers_pin(all->trampoline);
  const volatile long *state = all->states[pin.slot];
  const long first = state[0];
  if (state[1] != first) all->torn++;
  if (first < newest) all->backwards++;
  if (state[0] != first) all->torn++;
  rr_readers_unpin(all->trampoline, pin);
  return first;
}

static void *read_until_over(void *argument) {
  subject *all = argument;
  long newest = 0;
  /* Each reader idles for a different number of turns. On one processor, the readers run one after
   * the other while the owner waits: if all came back after the same number of turns, all would
   * keep the same slot, and the owner would always find a free one, so it would never revoke. */
  const long idle = 200 + 100 * rr_fetch_add_relaxed(&all->begun, 1);
  for (unsigned i = 1; !all->is_over; i++) {
    newest = read_once(all, newest);
    if (i % 64 != 0) continue;
    /* Idle for some turns, with a kept pin. */
    const long until = rr_load_relaxed(&all->turns) + idle;
    while (rr_load_relaxed(&all->turns) < until && !all->is_over) sched_yield();
  }
  return NULL;
}

static void test_readers_and_owner(void) {
  subject all = {.is_over = false};
  start(&all);
  pthread_t threads[READERS];
  for (int i = 0; i < READERS; i++) {
    CHECK(pthread_create(&threads[i], NULL, read_until_over, &all) == 0);
  }
  const long enough = rr_fence_kind.is_symmetric ? 0 : REVOKED;
  for (long i = 1; i <= TURNS || (all.revoked < enough && i <= 1000 * TURNS); i++) {
    /* Sometimes long enough for a pin to be kept. */
    for (int k = 0; k < (i % 16 == 0 ? 200 : 0); k++) rr_pause();
    if (i % 64 == 0) sched_yield();
    turn(&all, i);
    rr_store_relaxed(&all.turns, i);
  }
  all.is_over = true;
  for (int i = 0; i < READERS; i++) pthread_join(threads[i], NULL);
  CHECK(all.torn == 0);
  CHECK(all.backwards == 0);
  CHECK(all.revoked >= enough);
  for (int slot = 0; slot < SLOTS; slot++) CHECK(rr_pins_is_free(all.trampoline, slot));
  rr_trampoline_destroy(all.trampoline);
}

/* Only the taken pin may order the owner after the read. So the flags here are relaxed, and there
 * is no CHECK in between, because its atomic counts would order the threads. */
typedef struct handover {
  subject all;
  _Atomic int step;
} handover;

static void wait_for(handover *both, int step) {
  while (rr_load_relaxed(&both->step) < step) sched_yield();
}

/* Reads by a pin of its own, keeps the pin, and reads no more until the owner has taken it. */
static void *read_and_keep(void *argument) {
  handover *both = argument;
  rr_reader *reader = rr_reader_create();
  rr_pins_pin(both->all.trampoline, 0);
  const bool is_whole = both->all.states[0][0] == both->all.states[0][1];
  const bool is_kept = rr_reader_try_keep(reader, both->all.trampoline, 0, both->all.trampoline);
  rr_store_relaxed(&both->step, 1);
  wait_for(both, 2);
  CHECK(is_whole && is_kept);
  rr_reader_destroy(reader);
  return NULL;
}

/* The same, with one read by the kept pin. */
static void *keep_and_read(void *argument) {
  handover *both = argument;
  rr_reader *reader = rr_reader_create();
  rr_pins_pin(both->all.trampoline, 0);
  CHECK(rr_reader_try_keep(reader, both->all.trampoline, 0, both->all.trampoline));
  rr_pin pin;
  const bool is_inside = rr_reader_try_begin_read(reader, both->all.trampoline, &pin);
  const bool is_whole = both->all.states[0][0] == both->all.states[0][1];
  rr_reader_end_read(reader);
  rr_store_relaxed(&both->step, 1);
  wait_for(both, 2);
  CHECK(is_whole && is_inside);
  rr_reader_destroy(reader);
  return NULL;
}

static void test_handover(void *(*read)(void *)) {
  handover both = {.step = 0};
  start(&both.all);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, read, &both) == 0);
  wait_for(&both, 1);
  rr_trampoline_try_acquire(both.all.trampoline, rr_thread_token());
  rr_trampoline_release(both.all.trampoline, 1);
  const bool is_revoked = rr_readers_revoke(both.all.trampoline);
  const bool is_free = rr_pins_is_free(both.all.trampoline, 0);
  if (is_free) both.all.states[0][0] = both.all.states[0][1] = 1;
  rr_store_relaxed(&both.step, 2);
  CHECK(is_revoked && is_free);
  pthread_join(thread, NULL);
  rr_trampoline_destroy(both.all.trampoline);
}

/* Trampolines that are destroyed while threads keep pins of them, or are unpinning. */
typedef struct pair {
  rr_trampoline *trampolines[2];
  pthread_barrier_t barrier;
} pair;

static void *read_the_newer(void *argument) {
  pair *both = argument;
  for (int life = 0; life < LIVES; life++) {
    pthread_barrier_wait(&both->barrier);
    /* In here it unpins what it kept of the trampoline before. */
    for (int i = 0; i < 30; i++) {
      rr_readers_unpin(both->trampolines[life % 2], rr_readers_pin(both->trampolines[life % 2]));
    }
  }
  return NULL;
}

static void test_readers_and_destroyer(void) {
  pair both = {{NULL, NULL}, {{0}}};
  CHECK(pthread_barrier_init(&both.barrier, NULL, READERS + 1) == 0);
  pthread_t threads[READERS];
  for (int i = 0; i < READERS; i++) {
    CHECK(pthread_create(&threads[i], NULL, read_the_newer, &both) == 0);
  }
  for (int life = 0; life < LIVES; life++) {
    rr_trampoline **mine = &both.trampolines[life % 2];
    CHECK(rr_trampoline_create(mine, 0) == RR_OK);
    CHECK(rr_trampoline_try_initialize(*mine, rr_thread_token()));
    rr_trampoline_release(*mine, 0);
    pthread_barrier_wait(&both.barrier);
    /* No thread reads the trampoline before any more, but its pins are still kept. */
    rr_trampoline_destroy(both.trampolines[1 - life % 2]);
    both.trampolines[1 - life % 2] = NULL;
  }
  for (int i = 0; i < READERS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < 2; i++) rr_trampoline_destroy(both.trampolines[i]);
  pthread_barrier_destroy(&both.barrier);
}

void test_reader_threads(void) {
  test_readers_and_owner();
  test_readers_and_destroyer();
  if (rr_fence_kind.is_symmetric) return;
  test_handover(read_and_keep);
  test_handover(keep_and_read);
}
