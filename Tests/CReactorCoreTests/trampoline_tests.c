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
  test_pins();
}
