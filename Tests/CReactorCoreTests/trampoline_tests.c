#include <pthread.h>

#include "CReactorCore.h"
#include "check.h"

static void test_transitions(void) {
  rr_trampoline *t = NULL;
  CHECK(rr_trampoline_create(&t, 0) == RR_OK);
  const uint64_t me = rr_thread_token();
  CHECK(me > RR_TRAMPOLINE_SCHEDULED);
  CHECK((me & 15) == 0);
  const uint64_t other = me + 16;

  /* NEW: only try_initialize succeeds. */
  CHECK(rr_trampoline_published_slot(t) == -1);
  CHECK(rr_trampoline_owner(t) == 0);
  CHECK(!rr_trampoline_try_acquire(t, me));
  CHECK(!rr_trampoline_try_schedule(t));
  CHECK(rr_trampoline_try_initialize(t, me));

  /* OWNED, without a snapshot. */
  CHECK(!rr_trampoline_try_initialize(t, other));
  CHECK(rr_trampoline_is_owner(t, me));
  CHECK(!rr_trampoline_is_owner(t, other));
  CHECK(rr_trampoline_published_slot(t) == -1);

  /* OWNED, with each snapshot. */
  for (uint64_t slot = 0; slot < RR_TRAMPOLINE_SLOTS; slot++) {
    rr_trampoline_publish(t, me, slot);
    CHECK(rr_trampoline_published_slot(t) == (int)slot);
    CHECK(rr_trampoline_owner(t) == me);
    CHECK(!rr_trampoline_try_acquire(t, other));
    CHECK(!rr_trampoline_try_schedule(t));
  }

  /* IDLE, OWNED, IDLE, SCHEDULED, OWNED: the snapshot stays. */
  rr_trampoline_release(t, 2);
  CHECK(rr_trampoline_owner(t) == 0);
  CHECK(rr_trampoline_try_acquire(t, other));
  CHECK(rr_trampoline_published_slot(t) == 2);
  CHECK(rr_trampoline_is_owner(t, other));
  rr_trampoline_release(t, 1);
  CHECK(rr_trampoline_try_schedule(t));
  CHECK(!rr_trampoline_try_schedule(t));
  CHECK(!rr_trampoline_try_acquire(t, me));
  CHECK(rr_trampoline_owner(t) == RR_TRAMPOLINE_SCHEDULED);
  CHECK(rr_trampoline_published_slot(t) == 1);
  rr_trampoline_acquire_scheduled(t, me);
  CHECK(rr_trampoline_is_owner(t, me));
  CHECK(rr_trampoline_published_slot(t) == 1);
  CHECK(!rr_trampoline_try_initialize(t, me));
  rr_trampoline_release(t, 0);
  CHECK(rr_trampoline_owner(t) == 0);
  CHECK(rr_trampoline_published_slot(t) == 0);
  rr_trampoline_destroy(t);
}

static bool is_light(rr_trampoline *t) {
  return (atomic_load(&t->word) & RR_TRAMPOLINE_LIGHT) != 0;
}

/* Takes turns that leave nothing to do, up to this number. */
static void take_turns(rr_trampoline *t, uint64_t first, uint64_t last) {
  for (uint64_t turn = first; turn <= last; turn++) {
    CHECK(rr_trampoline_try_acquire(t, rr_thread_token()));
    rr_trampoline_release_after(t, turn % 2, turn);
    CHECK(rr_trampoline_owner(t) == 0);
    CHECK(rr_trampoline_published_slot(t) == (int)(turn % 2));
  }
}

static void *find_busy(void *trampoline) {
  CHECK(rr_trampoline_is_busy((rr_trampoline *)trampoline));
  return NULL;
}

static void *read_once(void *trampoline) {
  rr_trampoline *t = (rr_trampoline *)trampoline;
  const rr_pin pin = rr_readers_pin(t);
  CHECK(pin.slot == 0);
  rr_readers_unpin(t, pin);
  return NULL;
}

static void on_thread(void *(*body)(void *), rr_trampoline *t) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, body, t) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
}

/* When a word becomes light, what ends that, and that it takes twice as long the next time. */
static void test_light(void) {
  const uint64_t me = rr_thread_token();
  const uint64_t period = RR_TRAMPOLINE_LIGHT_AFTER;
  rr_trampoline *t = NULL;
  CHECK(rr_trampoline_create(&t, 0) == RR_OK);
  CHECK(rr_trampoline_try_initialize(t, me));
  rr_trampoline_release(t, 0);
  take_turns(t, 1, period - 1);
  CHECK(!is_light(t));
  take_turns(t, period, period);
  if (rr_fence_is_symmetric()) {
    CHECK(!is_light(t));
    rr_trampoline_destroy(t);
    return;
  }
  CHECK(is_light(t));
  take_turns(t, period + 1, period + 5);
  CHECK(is_light(t) && !rr_trampoline_is_busy(t));

  /* A reader of an idle word makes it heavy, by a compare-and-swap: that is no revocation. */
  take_turns(t, period + 6, period + 6);
  read_once(t);
  CHECK(!is_light(t));
  take_turns(t, period + 7, 2 * period);
  CHECK(is_light(t));

  /* The owner finds itself without a fence; another thread revokes the lightness. */
  CHECK(rr_trampoline_try_acquire(t, me));
  CHECK(rr_trampoline_is_owner(t, me) && rr_trampoline_is_busy(t));
  CHECK(!rr_trampoline_try_acquire(t, me + 16));
  rr_trampoline_release_after(t, 0, 2 * period + 1);
  CHECK(is_light(t));
  CHECK(rr_trampoline_try_acquire(t, me));
  on_thread(find_busy, t);
  CHECK(is_light(t));
  rr_trampoline_release_after(t, 0, 2 * period + 2);
  CHECK(!is_light(t));
  take_turns(t, 2 * period + 3, 4 * period - 1);
  CHECK(!is_light(t));
  take_turns(t, 4 * period, 4 * period);
  CHECK(is_light(t));

  /* A reader of a word that has an owner does the same. */
  CHECK(rr_trampoline_try_acquire(t, me));
  on_thread(read_once, t);
  rr_trampoline_release_after(t, 0, 4 * period + 1);
  CHECK(!is_light(t));
  take_turns(t, 4 * period + 2, 8 * period - 1);
  CHECK(!is_light(t));
  take_turns(t, 8 * period, 8 * period);
  CHECK(is_light(t));

  /* It stays light when its owner publishes, but not on its way through a schedule. */
  CHECK(rr_trampoline_try_acquire(t, me));
  rr_trampoline_publish(t, me, 3);
  CHECK(is_light(t) && rr_trampoline_owner(t) == me && rr_trampoline_published_slot(t) == 3);
  rr_trampoline_release_after(t, 4, 8 * period + 1);
  CHECK(is_light(t) && rr_trampoline_published_slot(t) == 4);
  CHECK(rr_trampoline_try_schedule(t));
  CHECK(rr_trampoline_owner(t) == RR_TRAMPOLINE_SCHEDULED);
  rr_trampoline_acquire_scheduled(t, me);
  CHECK(!is_light(t) && rr_trampoline_published_slot(t) == 4);
  rr_trampoline_release(t, 4);
  rr_trampoline_destroy(t);
}

static void test_pins(void) {
  rr_trampoline *t = NULL;
  CHECK(rr_trampoline_create(&t, 100) == RR_OK);
  for (int slot = 0; slot < RR_TRAMPOLINE_SLOTS; slot++) {
    rr_pins_pin(t, slot);
    rr_pins_pin(t, slot);
    for (int other = 0; other < RR_TRAMPOLINE_SLOTS; other++) {
      CHECK(rr_pins_is_free(t, other) == (other != slot));
    }
    rr_pins_unpin(t, slot);
    CHECK(!rr_pins_is_free(t, slot));
    rr_pins_unpin(t, slot);
    CHECK(rr_pins_is_free(t, slot));
  }
  CHECK(rr_pins_was_deferred_count(t) == 0);
  rr_pins_note_deferred(t);
  CHECK(rr_pins_was_deferred_count(t) == 1 && rr_pins_is_deferred(t));
  rr_pins_note_deferred(t);
  CHECK(rr_pins_was_deferred_count(t) == 2 && rr_pins_is_deferred(t));
  rr_pins_note_undeferred(t);
  CHECK(rr_pins_was_deferred_count(t) == 2 && !rr_pins_is_deferred(t));
  /* A pin that is left and that no thread keeps does not block the destruction. */
  rr_pins_pin(t, 3);
  rr_trampoline_destroy(t);
}

void test_trampoline(void) {
  test_transitions();
  test_light();
  test_pins();
}
