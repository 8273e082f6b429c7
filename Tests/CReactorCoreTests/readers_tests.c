#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "CReactorCore.h"
#include "check.h"
#include "faulty_platform.h"

/* Several records in one thread, so that each interleaving can be executed step by step. */

static rr_trampoline *started(void) {
  rr_trampoline *t = NULL;
  CHECK(rr_trampoline_create(&t, 0) == RR_OK);
  CHECK(rr_trampoline_try_initialize(t, rr_thread_token()));
  rr_trampoline_release(t, 0);
  return t;
}

static void publish(rr_trampoline *t, int slot) {
  CHECK(rr_trampoline_try_acquire(t, rr_thread_token()));
  rr_trampoline_release(t, (uint64_t)slot);
}

/* Creates a record that keeps the pin of `slot`. */
static rr_reader *reader_that_keeps(rr_trampoline *t, int slot) {
  rr_reader *reader = rr_reader_create();
  CHECK(reader != NULL);
  rr_pins_pin(t, slot);
  CHECK(rr_reader_try_keep(reader, t, slot, t));
  CHECK(!rr_pins_is_free(t, slot));
  return reader;
}

static void test_reading_by_a_kept_pin(void) {
  rr_trampoline *t = started();
  rr_reader *reader = reader_that_keeps(t, 0);
  rr_pin pin;
  for (int i = 0; i < 3; i++) {
    CHECK(rr_reader_try_begin_read(reader, t, &pin));
    CHECK(pin.slot == 0 && pin.reader == reader && pin.place == t);
    rr_reader_end_read(reader);
  }
  CHECK(reader->uses == 3);
  CHECK(t->pins[0] == 1);
  /* Also while another thread is the owner; but the owner does not read what is published. */
  CHECK(rr_trampoline_try_schedule(t));
  CHECK(rr_reader_try_begin_read(reader, t, &pin));
  CHECK(pin.slot == 0 && pin.place == t);
  rr_reader_end_read(reader);
  rr_trampoline_acquire_scheduled(t, rr_thread_token());
  CHECK(!rr_reader_try_begin_read(reader, t, &pin));
  rr_trampoline_release(t, 0);
  /* The pin is valid for no other snapshot, and for no other trampoline. */
  rr_trampoline *other = started();
  CHECK(!rr_reader_try_begin_read(reader, other, &pin));
  publish(t, 1);
  CHECK(!rr_reader_try_begin_read(reader, t, &pin));
  CHECK(!rr_pins_is_free(t, 0));
  rr_reader_unpin_kept(reader);
  CHECK(rr_pins_is_free(t, 0));
  rr_reader_unpin_kept(reader);
  CHECK(rr_pins_is_free(t, 0));
  rr_reader_destroy(reader);
  rr_trampoline_destroy(other);
  rr_trampoline_destroy(t);
}

static void test_one_pin_at_most(void) {
  rr_trampoline *t = started();
  rr_trampoline *other = started();
  rr_reader *reader = reader_that_keeps(t, 0);
  rr_pins_pin(other, 0);
  CHECK(rr_reader_try_keep(reader, other, 0, other));
  CHECK(rr_pins_is_free(t, 0));
  CHECK(!rr_pins_is_free(other, 0));
  /* Not while the kept pin is in use. */
  rr_pin pin;
  CHECK(rr_reader_try_begin_read(reader, other, &pin));
  rr_pins_pin(t, 0);
  CHECK(!rr_reader_try_keep(reader, t, 0, t));
  rr_reader_unpin_kept(reader);
  CHECK(!rr_pins_is_free(other, 0));
  rr_pins_unpin(t, 0);
  rr_reader_end_read(reader);
  rr_reader_destroy(reader);
  CHECK(rr_pins_is_free(other, 0));
  rr_trampoline_destroy(other);
  rr_trampoline_destroy(t);
}

static void test_revoking(void) {
  rr_trampoline *t = started();
  rr_trampoline *other = started();
  rr_reader *idle = reader_that_keeps(t, 0);
  rr_reader *busy = reader_that_keeps(t, 0);
  rr_reader *current = reader_that_keeps(t, 1);
  rr_reader *elsewhere = reader_that_keeps(other, 0);
  rr_pin pin, inner;
  CHECK(rr_reader_try_begin_read(busy, t, &pin));
  /* Only one read at a time is by the kept pin. */
  CHECK(!rr_reader_try_begin_read(busy, t, &inner));
  publish(t, 1);
  CHECK(rr_readers_revoke(t));
  /* Only pins of a slot that is not published, and only if they are not in use. */
  CHECK(t->pins[0] == 1);
  CHECK(t->pins[1] == 1);
  CHECK(other->pins[0] == 1);
  CHECK(idle->kept == 0);
  CHECK(!rr_readers_revoke(t));
  /* A thread inside of a read cannot begin another read by the pin, and unpins at the end of the
   * read. */
  rr_pin again;
  publish(t, 0);
  CHECK(!rr_reader_try_begin_read(busy, t, &again));
  publish(t, 1);
  CHECK(rr_reader_end_read(busy));
  CHECK(rr_pins_is_free(t, 0));
  CHECK(rr_reader_try_begin_read(current, t, &pin));
  rr_reader_end_read(current);
  rr_reader_destroy(idle);
  rr_reader_destroy(busy);
  rr_reader_destroy(current);
  rr_reader_destroy(elsewhere);
  CHECK(rr_pins_is_free(t, 1));
  CHECK(rr_pins_is_free(other, 0));
  rr_trampoline_destroy(other);
  rr_trampoline_destroy(t);
}

/* The owner revokes between the thread's first load of `kept` and the second. */
static void test_revoked_on_the_way_in(void) {
  rr_trampoline *t = started();
  rr_reader *reader = reader_that_keeps(t, 0);
  /* The owner has marked the pin, and has seen that the thread reads. */
  reader->is_reading = 1;
  publish(t, 1);
  CHECK(!rr_readers_revoke(t));
  CHECK(reader->kept == (rr_reader_encode_pin(t, 0) | RR_READER_REVOKED));
  reader->is_reading = 0;
  rr_pin pin;
  publish(t, 0);
  CHECK(!rr_reader_try_begin_read(reader, t, &pin));
  CHECK(reader->is_reading == 0);
  /* No owner's token looks like the mark. */
  CHECK(rr_trampoline_try_schedule(t));
  CHECK(!rr_reader_try_begin_read(reader, t, &pin));
  CHECK(t->pins[0] == 1);
  rr_reader_unpin_kept(reader);
  CHECK(rr_pins_is_free(t, 0));
  rr_reader_destroy(reader);
  rr_trampoline_destroy(t);
}

/* What the address of a state and its owner's token add up to may be the address of another state,
 * of which the thread keeps a pin. */
static void test_a_token_that_leads_to_another_state(void) {
  rr_trampoline *one = started();
  rr_trampoline *other = started();
  rr_trampoline *low = one < other ? one : other;
  rr_trampoline *high = one < other ? other : one;
  rr_reader *reader = reader_that_keeps(high, 0);
  rr_pin pin;
  CHECK(rr_trampoline_try_acquire(low, (uintptr_t)high - (uintptr_t)low));
  CHECK(!rr_reader_try_begin_read(reader, low, &pin));
  rr_trampoline_release(low, 0);
  CHECK(rr_reader_try_begin_read(reader, high, &pin));
  rr_reader_end_read(reader);
  rr_reader_destroy(reader);
  rr_trampoline_destroy(low);
  rr_trampoline_destroy(high);
}

static void test_revoking_all(void) {
  rr_trampoline *t = started();
  rr_trampoline *other = started();
  rr_reader *readers[3] = {reader_that_keeps(t, 0), reader_that_keeps(t, 5),
                           reader_that_keeps(other, 0)};
  rr_trampoline_destroy(t);
  CHECK(readers[0]->kept == 0);
  CHECK(readers[1]->kept == 0);
  CHECK(!rr_pins_is_free(other, 0));
  for (int i = 0; i < 3; i++) rr_reader_destroy(readers[i]);
  CHECK(rr_pins_is_free(other, 0));
  rr_trampoline_destroy(other);
}

static _Atomic int has_forgotten = 0;

static void *destroy(void *trampoline) {
  rr_trampoline_destroy(trampoline);
  has_forgotten = 1;
  return NULL;
}

/* The thread that destroys a trampoline waits for a thread that has taken its own pin out of the
 * record, but has not unpinned yet. */
static void test_revoking_all_waits_for_an_unpin(void) {
  rr_trampoline *t = started();
  rr_reader *reader = reader_that_keeps(t, 0);
  has_forgotten = 0;
  atomic_store(&reader->kept, rr_reader_encode_pin(t, 0) | RR_READER_UNPINNING);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, destroy, t) == 0);
  for (int i = 0; i < 1000; i++) sched_yield();
  CHECK(!has_forgotten);
  rr_pins_unpin(t, 0);
  atomic_store(&reader->kept, (uintptr_t)0);
  pthread_join(thread, NULL);
  CHECK(has_forgotten);
  rr_reader_destroy(reader);
}

static void *revoke(void *trampoline) {
  CHECK(!rr_readers_revoke(trampoline));
  CHECK(rr_pins_is_free(trampoline, 0));
  has_forgotten = 1;
  return NULL;
}

/* So does an owner that needs the slot: that thread may be reading another state, and does not come
 * back to this one. */
static void test_revoking_waits_for_an_unpin(void) {
  rr_trampoline *t = started();
  rr_reader *reader = reader_that_keeps(t, 0);
  publish(t, 1);
  has_forgotten = 0;
  atomic_store(&reader->kept, rr_reader_encode_pin(t, 0) | RR_READER_UNPINNING);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, revoke, t) == 0);
  for (int i = 0; i < 1000; i++) sched_yield();
  CHECK(!has_forgotten);
  rr_pins_unpin(t, 0);
  atomic_store(&reader->kept, (uintptr_t)0);
  pthread_join(thread, NULL);
  CHECK(has_forgotten);
  rr_reader_destroy(reader);
  rr_trampoline_destroy(t);
}

static void read_often(rr_trampoline *t) {
  for (int i = 0; i < 100; i++) rr_readers_unpin(t, rr_readers_pin(t));
}

static void *read_as_a_thread(void *trampoline) {
  rr_trampoline *t = trampoline;
  CHECK(rr_reader_of_thread() == NULL);
  /* After a few reads no pin is kept. */
  for (int i = 0; i < 3; i++) {
    const rr_pin pin = rr_readers_pin(t);
    CHECK(pin.slot == 0 && !rr_pins_is_free(t, 0));
    rr_readers_unpin(t, pin);
    CHECK(rr_pins_is_free(t, 0));
  }
  CHECK(rr_reader_of_thread() == NULL);
  read_often(t);
  CHECK(rr_reader_of_thread() != NULL);
  CHECK(t->pins[0] == 1);
  /* A newer snapshot: its pin is kept at once, since the last one was worth keeping. */
  publish(t, 1);
  rr_readers_unpin(t, rr_readers_pin(t));
  CHECK(rr_pins_is_free(t, 0));
  CHECK(t->pins[1] == 1);
  /* But this one was used only once or twice. */
  const rr_pin outer = rr_readers_pin(t);
  CHECK(outer.reader != NULL);
  /* A nested read of the same slot pins it once more. */
  const rr_pin same = rr_readers_pin(t);
  CHECK(same.reader == NULL && same.slot == 1 && t->pins[1] == 2);
  rr_readers_unpin(t, same);
  CHECK(t->pins[1] == 1);
  publish(t, 2);
  /* Inside of a read the pin stays kept, and a nested read pins the newer slot for itself. */
  const rr_pin inner = rr_readers_pin(t);
  CHECK(inner.reader == NULL && inner.slot == 2);
  rr_readers_unpin(t, inner);
  CHECK(t->pins[1] == 1);
  CHECK(rr_pins_is_free(t, 2));
  rr_readers_unpin(t, outer);
  rr_readers_unpin(t, rr_readers_pin(t));
  CHECK(rr_pins_is_free(t, 1));
  CHECK(rr_pins_is_free(t, 2));
  read_often(t);
  CHECK(t->pins[2] == 1);
  return NULL;
}

static void test_pins_of_a_thread(void) {
  rr_trampoline *t = started();
  const long alive = faulty_alive();
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, read_as_a_thread, t) == 0);
  pthread_join(thread, NULL);
  /* The end of the thread destroys its record, and unpins what it kept. */
  CHECK(faulty_alive() == alive);
  CHECK(rr_pins_is_free(t, 2));
  rr_trampoline_destroy(t);
}

/* A read that may have freed a slot tells its thread that a state is deferred. */
static void *read_while_deferred(void *trampoline) {
  rr_trampoline *t = trampoline;
  rr_pin pin = rr_readers_pin(t);
  CHECK(!rr_readers_unpin(t, pin));
  pin = rr_readers_pin(t);
  rr_pins_note_deferred(t);
  CHECK(rr_readers_unpin(t, pin));
  read_often(t);
  /* A pin that stays kept frees nothing. */
  pin = rr_readers_pin(t);
  CHECK(pin.reader != NULL);
  CHECK(!rr_readers_unpin(t, pin));
  pin = rr_readers_pin(t);
  publish(t, 1);
  CHECK(!rr_readers_revoke(t));
  CHECK(rr_readers_unpin(t, pin));
  CHECK(rr_pins_is_free(t, 0));
  rr_pins_note_undeferred(t);
  CHECK(!rr_readers_unpin(t, rr_readers_pin(t)));
  return NULL;
}

static void test_reading_while_a_state_is_deferred(void) {
  rr_trampoline *t = started();
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, read_while_deferred, t) == 0);
  pthread_join(thread, NULL);
  rr_trampoline_destroy(t);
}

static void *read_of_two(void *argument) {
  rr_trampoline **both = argument;
  for (int i = 0; i < 1000; i++) {
    for (int k = 0; k < 2; k++) rr_readers_unpin(both[k], rr_readers_pin(both[k]));
    CHECK(both[0]->pins[0] + both[1]->pins[0] <= 1);
  }
  return NULL;
}

static void test_reading_two_states_alternately(void) {
  rr_trampoline *both[2] = {started(), started()};
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, read_of_two, both) == 0);
  pthread_join(thread, NULL);
  rr_trampoline_destroy(both[0]);
  rr_trampoline_destroy(both[1]);
}

/* Without an asymmetric fence each read pins and unpins. */
static void *read_without_keeping(void *trampoline) {
  read_often(trampoline);
  CHECK(rr_pins_is_free(trampoline, 0));
  return NULL;
}

static void test_symmetric_fence_keeps_no_pin(void) {
  rr_trampoline *t = started();
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, read_without_keeping, t) == 0);
  pthread_join(thread, NULL);
  CHECK(!rr_readers_revoke(t));
  rr_trampoline_destroy(t);
}

void test_readers(void) {
  rr_fence_setup();
  if (rr_fence_kind.is_symmetric) {
    test_symmetric_fence_keeps_no_pin();
    return;
  }
  test_reading_by_a_kept_pin();
  test_one_pin_at_most();
  test_revoking();
  test_revoked_on_the_way_in();
  test_a_token_that_leads_to_another_state();
  test_revoking_all();
  test_revoking_all_waits_for_an_unpin();
  test_revoking_waits_for_an_unpin();
  test_pins_of_a_thread();
  test_reading_while_a_state_is_deferred();
  test_reading_two_states_alternately();
}
