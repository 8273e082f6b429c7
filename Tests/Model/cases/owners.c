/* Snapshots of a state that changes its owner: it is initialized, acquired from the schedule,
 * acquired, destroyed. */
#include "states.h"

/* MARK: a word that is written without publishing a state */

static struct { _Atomic uint32_t is_set; } * scheduled;

static void set_up_schedule(void) {
  states_set_up(2);
  scheduled = model_allocate(sizeof *scheduled);
}

static void change_and_schedule(void) {
  states_change(2);
  rr_trampoline_release(states.trampoline, (uint64_t)states.own->published);
  model_check(rr_trampoline_try_schedule(states.trampoline));
  rr_store_release(MODEL_OF_THE_CASE, &scheduled->is_set, 1);
}

/* Acts as another thread, with a token of its own. */
static void acquire_scheduled_and_release(void) {
  while (rr_load_acquire(MODEL_OF_THE_CASE, &scheduled->is_set) == 0) model_pause();
  rr_trampoline_acquire_scheduled(states.trampoline, 64);
  rr_trampoline_release(states.trampoline, (uint64_t)states.own->published);
}

static void finish_schedule(void) {
  model_release(scheduled);
  model_check(rr_trampoline_try_acquire(states.trampoline, STATES_TOKEN));
  states_finish();
}

const model_case snapshot_acquired_scheduled = {
    .name = "snapshot.acquired-scheduled",
    .about = "a reader loads the word twice while one thread publishes and another acquires it",
    .setup = set_up_schedule,
    .threads = {change_and_schedule, acquire_scheduled_and_release, states_read_2},
    .finish = finish_schedule,
    .bounds = {2, 1, 0},
    .far = {3, 2, 0},
};

/* MARK: a state that is destroyed while a thread still keeps a pin of it */

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

/* The thread releases its last reference to the first state after the first read. */
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
  rr_trampoline_destroy(other);
  model_release(states.own);
  model_release(done);
}

const model_case snapshot_forgotten = {
    .name = "snapshot.forgotten",
    .about = "a state is destroyed while a thread unpins the pin that it kept of it",
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
  rr_trampoline_release(states.trampoline, (uint64_t)states.own->published);
}

/* As a send that finds the state idle, while a state that another owner published is still being
 * read. */
static bool change(void) {
  const int slot = states_free_slot();
  if (slot < 0) return false;
  states.last_published++;
  states.own->slots[slot] = (state){states.last_published, states.last_published};
  states.own->published = slot;
  return true;
}

static bool try_acquire_and_change(uint64_t by) {
  if (!rr_trampoline_try_acquire(states.trampoline, by)) return false;
  turns += change();
  return true;
}

static void acquire_and_change(uint64_t by) {
  if (!try_acquire_and_change(by)) return;
  rr_trampoline_release(states.trampoline, (uint64_t)states.own->published);
}

static void acquire_1(void) { acquire_and_change(32); }
static void acquire_2(void) { acquire_and_change(64); }

static void finish_turns(void) {
  model_check(turns > 0);
  model_check(rr_trampoline_try_acquire(states.trampoline, STATES_TOKEN));
  states_finish();
}

const model_case snapshot_two_owners = {
    .name = "snapshot.two-owners",
    .about =
        "two owners, each overwrites the slot that the other one replaced; a third thread reads",
    .setup = set_up_turns,
    .threads = {acquire_1, acquire_2, states_read_1},
    .finish = finish_turns,
    .is_symmetric = true,
    .bounds = {3, 2, 0},
    .far = {4, 3, 0},
};

/* MARK: a light word */

/* "I change the state, then I look", from one side; "I say so, then I read", from the other one. */
static struct { _Atomic uint32_t is_set; } * said;
static bool was_said;
static uint64_t last_read;

static void set_up_said(int slot_count) {
  states_set_up(slot_count);
  turns = 0;
  said = model_allocate(sizeof *said);
  was_said = false;
}

static void set_up_light(void) {
  set_up_said(3);
  rr_trampoline_release_after(states.trampoline, (uint64_t)states.own->published, 0);
}

static void set_up_heavy(void) {
  set_up_said(2);
  rr_trampoline_release(states.trampoline, (uint64_t)states.own->published);
}

static void change_lightly(void) {
  if (!try_acquire_and_change(32)) return;
  rr_trampoline_release_after(states.trampoline, (uint64_t)states.own->published, (uint64_t)turns);
}

/* Publishes in the middle of the turn, and changes the state again. */
static void change_twice_lightly(void) {
  if (!try_acquire_and_change(32)) return;
  rr_trampoline_publish(states.trampoline, 32, (uint64_t)states.own->published);
  (void)change();
  rr_trampoline_release_after(states.trampoline, (uint64_t)states.own->published, (uint64_t)turns);
}

static void publish_lightly_and_look(void) {
  change_twice_lightly();
  change_twice_lightly();
  was_said = rr_load_seq_cst(MODEL_OF_THE_CASE, &said->is_set) != 0;
}

static void change_lightly_and_look(int count) {
  for (int i = 0; i < count; i++) change_lightly();
  was_said = rr_load_seq_cst(MODEL_OF_THE_CASE, &said->is_set) != 0;
}

static void change_2_lightly(void) { change_lightly_and_look(2); }
static void change_3_lightly(void) { change_lightly_and_look(3); }

static void say(void) { rr_store_seq_cst(MODEL_OF_THE_CASE, &said->is_set, 1); }

static void say_and_read(void) {
  say();
  last_read = states_read_after(1);
  model_readers_end_thread();
}

/* The thread keeps a pin. A read by that loads the word relaxed. */
static void read_say_and_read(void) {
  states_read_after(1);
  say();
  rr_full_fence(MODEL_OF_THE_CASE);
  last_read = states_read_after(1);
  model_readers_end_thread();
}

static void finish_light(void) {
  /* The word names the newest state, as a send that has ended promises to all later reads. */
  model_check(was_said || last_read == (uint64_t)states.last_published);
  model_check(rr_trampoline_try_acquire(states.trampoline, STATES_TOKEN));
  model_release(said);
  states_finish();
}

const model_case snapshot_light = {
    .name = "snapshot.light",
    .about = "a reader misses no state of a light word whose release ended before",
    .setup = set_up_light,
    .threads = {change_2_lightly, say_and_read},
    .finish = finish_light,
    .bounds = {4, 3, 0},
    .far = {5, 3, 0},
};

const model_case snapshot_light_kept = {
    .name = "snapshot.light-kept",
    .about = "the same of a reader that keeps a pin",
    .setup = set_up_light,
    .threads = {change_2_lightly, read_say_and_read},
    .finish = finish_light,
    .bounds = {3, 2, 0},
    .far = {4, 3, 0},
};

const model_case snapshot_becoming_light = {
    .name = "snapshot.becoming-light",
    .about = "the same while the word becomes light, and names the same slot again",
    .setup = set_up_heavy,
    .threads = {change_3_lightly, say_and_read},
    .finish = finish_light,
    .bounds = {3, 3, 0},
    .far = {4, 4, 0},
};

const model_case snapshot_light_published = {
    .name = "snapshot.light-published",
    .about = "as snapshot.light, and the owner publishes in the middle of its turns",
    .setup = set_up_light,
    .threads = {publish_lightly_and_look, say_and_read},
    .finish = finish_light,
    .bounds = {4, 2, 0},
    .far = {5, 3, 0},
};

/* The read may miss what has just ended. */
static void finish_light_refused(void) {
  was_said = true;
  finish_light();
}

const model_case snapshot_light_refused = {
    .name = "snapshot.light-refused",
    .about = "as snapshot.light while the kernel refuses membarrier: reads whole states",
    .setup = set_up_light,
    .threads = {change_2_lightly, say_and_read},
    .finish = finish_light_refused,
    .bounds = {3, 2, 1},
    .far = {4, 2, 2},
};

/* MARK: initialization */

static int starts;

static void set_up_start(void) {
  states_make(2);
  starts = turns = 0;
}

/* As Runtime.tryStartAndAcquire (Sources/ReactorRuntime/Reactor/Runtime+Send.swift) and
 * OwnedState.tryInitialize. A thread that is not the first one acquires, if the first one has
 * released. */
static void initialize_or_acquire(uint64_t by) {
  if (!rr_trampoline_try_initialize(states.trampoline, by)) {
    acquire_and_change(by);
    return;
  }
  states.own->slots[0] = (state){1, 1};
  states.own->published = 0;
  rr_trampoline_publish(states.trampoline, by, 0);
  states.last_published = 1;
  starts++;
  rr_trampoline_release(states.trampoline, 0);
}

static void start_1(void) { initialize_or_acquire(32); }
/* As a send, which initializes the state if it cannot acquire. */
static void acquire_or_initialize_2(void) {
  acquire_and_change(64);
  if (rr_trampoline_published_slot(states.trampoline) < 0) initialize_or_acquire(64);
}

/* Reads a whole state, or none: only if none was published before the read, and none was read
 * before. */
static uint64_t read_if_started(uint64_t before) {
  const bool was_published = starts > 0;
  const rr_pin pin = rr_readers_pin(states.trampoline);
  if (pin.slot >= 0) return states_read_by(pin, before);
  model_check(before == 0 && !was_published);
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
        "two threads initialize a state, one is the first; a reader finds no state or a whole one",
    .setup = set_up_start,
    .threads = {start_1, acquire_or_initialize_2, read_before_start},
    .finish = finish_start,
    .bounds = {3, 2, 0},
    .far = {4, 3, 0},
};
