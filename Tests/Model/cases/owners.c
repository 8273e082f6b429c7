/* Snapshots of a state whose owner is another one by and by: it is started, begun on, entered,
 * destroyed. */
#include "states.h"

/* MARK: a word that is written without a state being shown */

static struct { _Atomic uint32_t is_set; } * scheduled;

static void set_up_schedule(void) {
  states_set_up(2);
  scheduled = model_allocate(sizeof *scheduled);
}

static void change_and_schedule(void) {
  states_change(2);
  rr_trampoline_release(states.trampoline, (uint64_t)states.own->shown);
  model_check(rr_trampoline_try_schedule(states.trampoline));
  rr_store_release(MODEL_OF_THE_CASE, &scheduled->is_set, 1);
}

/* As another thread, with a token of its own. */
static void begin_and_leave(void) {
  while (rr_load_acquire(MODEL_OF_THE_CASE, &scheduled->is_set) == 0) model_pause();
  rr_trampoline_acquire_scheduled(states.trampoline, 64);
  rr_trampoline_release(states.trampoline, (uint64_t)states.own->shown);
}

static void finish_schedule(void) {
  model_release(scheduled);
  model_check(rr_trampoline_try_acquire(states.trampoline, STATES_TOKEN));
  states_finish();
}

const model_case snapshot_begun = {
    .name = "snapshot.begun",
    .about = "a reader looks twice at the word when one thread has shown a state and another began",
    .setup = set_up_schedule,
    .threads = {change_and_schedule, begin_and_leave, states_read_2},
    .finish = finish_schedule,
    .bounds = {2, 1, 0},
    .far = {3, 2, 0},
};

/* MARK: a state that goes away while a thread still keeps a pin of it */

static rr_trampoline *other;
static struct { _Atomic uint32_t is_set; } * done;

static void set_up_two_states(void) {
  states_set_up(2);
  done = model_allocate(sizeof *done);
  model_check(rr_trampoline_create(&other, 0) == RR_OK);
  model_check(rr_trampoline_try_initialize(other, STATES_TOKEN));
  rr_trampoline_publish(other, STATES_TOKEN, 0);
}

static void read_other(void) {
  const rr_pin pin = rr_readers_pin(other);
  model_check(pin.slot == 0);
  rr_readers_unpin(other, pin);
}

/* Its last reference to the first state is given up after the first read. */
static void read_then_read_other(void) {
  states_read_after(1);
  rr_store_release(MODEL_OF_THE_CASE, &done->is_set, 1);
  read_other();
  read_other();
  model_readers_end_thread();
}

static void destroy_when_done(void) {
  while (rr_load_acquire(MODEL_OF_THE_CASE, &done->is_set) == 0) model_pause();
  rr_trampoline_destroy(states.trampoline);
}

static void finish_forgotten(void) {
  states.trampoline = other;
  states_check_no_pins();
  model_check(rr_readers_count() == 0);
  rr_trampoline_destroy(other);
  model_release(states.own);
  model_release(done);
}

const model_case snapshot_forgotten = {
    .name = "snapshot.forgotten",
    .about = "a state is destroyed while a thread gives back the pin that it kept of it",
    .setup = set_up_two_states,
    .threads = {read_then_read_other, destroy_when_done},
    .finish = finish_forgotten,
    .bounds = {3, 2, 0},
    .far = {4, 3, 0},
};

/* MARK: owners that take turns */

static int turns;

static void set_up_turns(void) {
  states_set_up(2);
  turns = 0;
  rr_trampoline_release(states.trampoline, (uint64_t)states.own->shown);
}

/* As a send that finds nobody there; what another one showed is still being read. */
static void enter_and_change(uint64_t by) {
  if (!rr_trampoline_try_acquire(states.trampoline, by)) return;
  const int slot = states_free_slot();
  if (slot >= 0) {
    turns++;
    states.last_shown++;
    states.own->slots[slot] = (state){states.last_shown, states.last_shown};
    states.own->shown = slot;
  }
  rr_trampoline_release(states.trampoline, (uint64_t)states.own->shown);
}

static void enter_1(void) { enter_and_change(32); }
static void enter_2(void) { enter_and_change(64); }

static void finish_turns(void) {
  model_check(turns > 0);
  model_check(rr_trampoline_try_acquire(states.trampoline, STATES_TOKEN));
  states_finish();
}

const model_case snapshot_two_owners = {
    .name = "snapshot.two-owners",
    .about =
        "two threads enter, each overwrites the slot that the one before has hidden; one reads",
    .setup = set_up_turns,
    .threads = {enter_1, enter_2, states_read_1},
    .finish = finish_turns,
    .is_symmetric = true,
    .bounds = {3, 2, 0},
    .far = {4, 3, 0},
};

/* MARK: a start */

static int starts;

static void set_up_start(void) {
  states_make(2);
  starts = turns = 0;
}

/* As RuntimeOn.start (Sources/ReactorRuntime/Reactor/Runtime+Send.swift) and OwnedStateOn.tryStart;
 * who is not the first enters, if that one has left. */
static void start_or_enter(uint64_t by) {
  if (!rr_trampoline_try_initialize(states.trampoline, by)) {
    enter_and_change(by);
    return;
  }
  states.own->slots[0] = (state){1, 1};
  states.own->shown = 0;
  rr_trampoline_publish(states.trampoline, by, 0);
  states.last_shown = 1;
  starts++;
  rr_trampoline_release(states.trampoline, 0);
}

static void start_1(void) { start_or_enter(32); }
/* As a send, which starts it if it cannot enter. */
static void enter_or_start_2(void) {
  enter_and_change(64);
  if (rr_trampoline_published_slot(states.trampoline) < 0) start_or_enter(64);
}

/* A whole state, or none: only if none was shown, nor found before. */
static uint64_t read_if_started(uint64_t before) {
  const bool is_shown = starts > 0;
  const rr_pin pin = rr_readers_pin(states.trampoline);
  if (pin.slot >= 0) return states_read_by(pin, before);
  model_check(before == 0 && !is_shown);
  return 0;
}

static void read_before_start(void) {
  read_if_started(read_if_started(0));
  model_readers_end_thread();
}

static void finish_start(void) {
  model_check(starts == 1);
  model_check(rr_trampoline_try_acquire(states.trampoline, STATES_TOKEN));
  states_finish();
}

const model_case snapshot_starting = {
    .name = "snapshot.starting",
    .about =
        "two threads start it, of which one is the first; a reader finds no state, or a whole one",
    .setup = set_up_start,
    .threads = {start_1, enter_or_start_2, read_before_start},
    .finish = finish_start,
    .bounds = {3, 2, 0},
    .far = {4, 3, 0},
};
