/* A state that its owner could not publish, because readers pinned every slot: the owner leaves,
 * and the state is published by the thread that frees a slot. See rr_trampoline.h. */
#include "states.h"

#define OWNER_TOKEN STATES_TOKEN
#define READER_TOKEN UINT64_C(64)
#define OTHER_TOKEN UINT64_C(128)

/* What passes from owner to owner, besides `states.own`: the private slot. */
static struct {
  bool is_deferred;
  state kept_back;
} * private;

/* The value of the newest change. Used by the checks only. */
static uint64_t newest;

static void set_up(void) {
  states_set_up(2);
  private = model_allocate(sizeof *private);
  *private = (typeof(*private)){0};
  newest = 1;
}

/* As OwnedState.tryMoveOutOfPrivateSlot (Sources/ReactorCore/Ownership/OwnedState+Slots.swift). */
static bool try_move_out(void) {
  int slot = states_free_slot();
  if (slot < 0) {
    rr_readers_revoke(states.trampoline);
    slot = states_free_slot();
  }
  if (slot < 0) {
    rr_pins_note_deferred(states.trampoline);
    return false;
  }
  rr_pins_note_undeferred(states.trampoline);
  states.own->slots[slot] = private->kept_back;
  states.own->published = slot;
  private->is_deferred = false;
  return true;
}

/* As OwnedState.hasFreeSlot. */
static bool has_free_slot(void) {
  const int published = rr_trampoline_published_slot(states.trampoline);
  for (int i = 0; i < states.slot_count; i++) {
    if (i != published && rr_pins_is_free(states.trampoline, i)) return true;
  }
  return false;
}

/* As OwnedState.release() and releaseDeferred(). */
static void release(uint64_t token) {
  while (private->is_deferred && !try_move_out()) {
    rr_trampoline_release(states.trampoline, (uint64_t)states.own->published);
    if (!has_free_slot() || !rr_trampoline_try_acquire(states.trampoline, token)) return;
  }
  rr_trampoline_release(states.trampoline, (uint64_t)states.own->published);
}

/* As OwnedState.change(_:). The owner. */
static void change(uint64_t value) {
  newest = value;
  const int slot = private->is_deferred ? -1 : states_free_slot();
  if (slot < 0) {
    private->is_deferred = true;
    private->kept_back = (state){value, value};
  } else {
    states.own->slots[slot] = (state){value, value};
    states.own->published = slot;
  }
}

/* A turn that publishes, and one that releases. */
static void change_twice_and_release(void) {
  change(2);
  rr_trampoline_publish(states.trampoline, OWNER_TOKEN, (uint64_t)states.own->published);
  change(3);
  release(OWNER_TOKEN);
}

static void acquire_and_change(void) {
  if (!rr_trampoline_try_acquire(states.trampoline, OTHER_TOKEN)) return;
  change(newest + 1);
  release(OTHER_TOKEN);
}

/* As OwnedState.publishDeferred(). */
static void publish_deferred(uint64_t token) {
  if (has_free_slot() && rr_trampoline_try_acquire(states.trampoline, token)) release(token);
}

/* As OwnedState.withValue(_:thenCheck:). */
static uint64_t read_after(uint64_t before, uint64_t token) {
  const rr_pin pin = rr_readers_pin(states.trampoline);
  const state found = states.own->slots[pin.slot];
  model_check(found.a == found.b && found.a >= before);
  if (rr_readers_unpin(states.trampoline, pin)) publish_deferred(token);
  return found.a;
}

static void read_once(void) { read_after(1, READER_TOKEN); }
static void read_once_more(void) { read_after(1, OTHER_TOKEN); }
static void read_twice(void) { read_after(read_after(1, READER_TOKEN), READER_TOKEN); }

/* All threads have left: the newest state is shown. */
static void check_shown(void) {
  const int slot = rr_trampoline_published_slot(states.trampoline);
  model_check(rr_trampoline_owner(states.trampoline) == 0);
  model_check(!private->is_deferred && states.own->slots[slot].a == newest);
}

static void finish(void) {
  check_shown();
  for (int thread = 1; thread <= 3; thread++) model_readers_end_of(thread);
  model_check(rr_trampoline_try_acquire(states.trampoline, STATES_TOKEN));
  states_finish();
  model_release(private);
}

const model_case snapshot_deferred = {
    .name = "snapshot.deferred",
    .about = "an owner leaves with a deferred state, which the reader publishes; pins are released "
             "at once",
    .setup = set_up,
    .threads = {change_twice_and_release, read_twice},
    .finish = finish,
    .is_symmetric = true,
    .bounds = {4, 2, 0},
    .far = {5, 3, 0},
};

const model_case snapshot_deferred_two_readers = {
    .name = "snapshot.deferred-two-readers",
    .about = "an owner leaves with a deferred state, and the later one of two readers publishes it",
    .setup = set_up,
    .threads = {change_twice_and_release, read_once, read_once_more},
    .finish = finish,
    .is_symmetric = true,
    .bounds = {3, 1, 0},
    .far = {3, 2, 0},
};

const model_case snapshot_deferred_two_owners = {
    .name = "snapshot.deferred-two-owners",
    .about = "a second owner comes while a state is deferred; the state of the later one is shown",
    .setup = set_up,
    .threads = {change_twice_and_release, acquire_and_change, read_once},
    .finish = finish,
    .is_symmetric = true,
    .bounds = {3, 1, 0},
    .far = {3, 2, 0},
};

const model_case snapshot_deferred_kept = {
    .name = "snapshot.deferred-kept",
    .about = "an owner leaves with a deferred state while a reader keeps pins; the thread stays "
             "alive and reads no more",
    .setup = set_up,
    .threads = {change_twice_and_release, read_twice},
    .finish = finish,
    .bounds = {4, 2, 0},
    .far = {5, 3, 0},
};

static void read_and_end(void) {
  read_once();
  model_readers_end_thread();
}

const model_case snapshot_deferred_ended = {
    .name = "snapshot.deferred-ended",
    .about = "the same; the thread ends after its read, which unpins the pin that it kept",
    .setup = set_up,
    .threads = {change_twice_and_release, read_and_end},
    .finish = finish,
    .bounds = {4, 2, 0},
    .far = {5, 3, 0},
};

/* MARK: a reader that goes on to another state */

static rr_trampoline *other;

static void set_up_other(void) {
  set_up();
  model_check(rr_trampoline_create(&other, 0) == RR_OK);
  model_check(rr_trampoline_try_initialize(other, STATES_TOKEN));
  rr_trampoline_publish(other, STATES_TOKEN, 0);
}

/* The second read keeps a pin of the other state, and so unpins the one of the first. */
static void read_then_read_other(void) {
  read_once();
  rr_readers_unpin(other, rr_readers_pin(other));
}

static void finish_other(void) {
  finish();
  rr_trampoline_destroy(other);
}

const model_case snapshot_deferred_elsewhere = {
    .name = "snapshot.deferred-elsewhere",
    .about = "the same; the thread goes on to another state, and unpins the pin that it kept",
    .setup = set_up_other,
    .threads = {change_twice_and_release, read_then_read_other},
    .finish = finish_other,
    .bounds = {4, 2, 0},
    .far = {5, 3, 0},
};
