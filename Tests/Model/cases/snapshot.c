/* Snapshots: an owner that shows states, threads that read them, with pins that are given back at
 * once and with pins that are kept. As OwnedState does (Sources/ReactorCore/Ownership), with two or
 * three slots instead of eight, so that they run out. */
#include "cases.h"

/* Of two words, so that half a state can be told from a whole one. */
typedef struct state {
  uint64_t a, b;
} state;

/* What is handed on with the ownership. */
typedef struct owned {
  int shown;
  state states[3];
} owned;

static rr_trampoline *trampoline, *other;
static owned *own;
static int slots, last_shown, withheld;

static const uint64_t token = 32;

/* MARK: the owner, who stays the owner */

static void show(uint64_t value, int slot) {
  own->states[slot] = (state){value, value};
  own->shown = slot;
  rr_trampoline_publish(trampoline, token, (uint64_t)slot);
  last_shown = (int)value;
}

static int free_slot(void) {
  for (int i = 0; i < slots; i++) {
    if (i != own->shown && rr_pins_is_free(trampoline, i)) return i;
  }
  return -1;
}

/* Shows a newer state, if there is a slot for it, or one whose pins can be taken back. */
static void change(uint64_t value) {
  int slot = free_slot();
  if (slot < 0 && rr_readers_revoke(trampoline)) slot = free_slot();
  if (slot < 0) {
    withheld++;
  } else {
    show(value, slot);
  }
}

static void set_up(int count) {
  slots = count;
  withheld = 0;
  other = NULL;
  own = model_allocate(sizeof *own);
  model_check(rr_trampoline_create(&trampoline, 0) == RR_OK);
  model_check(rr_trampoline_try_start(trampoline, token));
  show(1, 0);
}

static void set_up_2(void) { set_up(2); }
static void set_up_3(void) { set_up(3); }

static void change_2(void) {
  change(2);
  change(3);
}

static void change_3(void) {
  change_2();
  change(4);
}

/* MARK: readers */

/* A whole state, not an older one than before. */
static uint64_t read_by(rr_pin pin, uint64_t before) {
  const state found = own->states[pin.slot];
  model_check(found.a == found.b && found.a >= before);
  rr_readers_unpin(trampoline, pin);
  return found.a;
}

static uint64_t read_after(uint64_t before) {
  const rr_pin pin = rr_readers_pin(trampoline);
  model_check(pin.slot >= 0);
  return read_by(pin, before);
}

static void read_1(void) {
  read_after(1);
  model_readers_end_thread();
}

static void read_2(void) {
  read_after(read_after(1));
  model_readers_end_thread();
}

static void read_3(void) {
  read_after(read_after(read_after(1)));
  model_readers_end_thread();
}

/* A read inside of a read, of the same state. */
static void read_nested(void) {
  const uint64_t first = read_after(1);
  const rr_pin pin = rr_readers_pin(trampoline);
  const state outer = own->states[pin.slot];
  const uint64_t inner = read_after(first);
  model_check(inner >= outer.a);
  const state again = own->states[pin.slot];
  model_check(again.a == outer.a && again.b == outer.a);
  rr_readers_unpin(trampoline, pin);
  model_readers_end_thread();
}

static void check_no_pins(void) {
  for (int i = 0; i < RR_TRAMPOLINE_SLOTS; i++) model_check(rr_pins_is_free(trampoline, i));
}

/* Nobody reads any more: no pin is left over, and the next change can be shown. */
static void finish(void) {
  check_no_pins();
  const int before = withheld;
  change(9);
  model_check(withheld == before && last_shown == 9);
  model_check(rr_readers_count() == 0);
  model_release(own);
  rr_trampoline_destroy(trampoline);
}

const model_case snapshot_pins = {
    .name = "snapshot.pins",
    .about = "a reader reads twice while the owner shows two states; pins are given back at once",
    .setup = set_up_2,
    .threads = {change_2, read_2},
    .finish = finish,
    .is_symmetric = true,
    .bounds = {4, 2, 0},
    .far = {6, 3, 0},
};

const model_case snapshot_two_readers = {
    .name = "snapshot.two-readers",
    .about = "two readers and an owner that shows two states; pins are given back at once",
    .setup = set_up_2,
    .threads = {change_2, read_1, read_1},
    .finish = finish,
    .is_symmetric = true,
    .bounds = {3, 1, 0},
    .far = {3, 2, 0},
};

const model_case snapshot_kept = {
    .name = "snapshot.kept",
    .about = "a reader keeps its pin; an owner with two slots shows two states, and revokes",
    .setup = set_up_2,
    .threads = {change_2, read_2},
    .finish = finish,
    .bounds = {4, 2, 0},
    .far = {5, 3, 0},
};

const model_case snapshot_kept_twice = {
    .name = "snapshot.kept-twice",
    .about = "a reader keeps pins of two states; an owner with two slots shows three",
    .setup = set_up_2,
    .threads = {change_3, read_2},
    .finish = finish,
    .bounds = {3, 1, 0},
    .far = {4, 2, 0},
};

const model_case snapshot_revoked_on_the_way_in = {
    .name = "snapshot.revoked-on-the-way-in",
    .about = "a reader finds its pin revoked after it has read by it",
    .setup = set_up_2,
    .threads = {change_2, read_3},
    .finish = finish,
    .bounds = {3, 1, 0},
    .far = {4, 2, 0},
};

/* Goes on living, and reads no more. */
static void read_2_and_live(void) { read_after(read_after(1)); }

/* What it keeps is taken by the owner; its record goes at last. */
static void finish_when_granted(void) {
  for (uint64_t value = 5; value < 8; value++) {
    change(value);
    model_check(last_shown == (int)value);
  }
  model_readers_end_of(1);
  finish();
}

static void finish_while_it_lives(void) {
  /* Whoever was later, the reader that left or the owner that revoked, has seen to it. */
  model_check(!model_readers_is_marked(1));
  finish_when_granted();
}

const model_case snapshot_none_forgotten = {
    .name = "snapshot.none-forgotten",
    .about = "the pin of a thread that reads no more is taken by an owner that needs the slot",
    .setup = set_up_2,
    .threads = {read_2_and_live, change_2},
    .finish = finish_while_it_lives,
    .bounds = {4, 1, 0},
    .far = {5, 2, 0},
};

/* As pthread_exit() inside of a read: nobody unpins. Only what a thread keeps is known when it
 * ends. */
static void read_and_end_inside(void) {
  const uint64_t first = read_after(1);
  const rr_pin pin = rr_readers_pin(trampoline);
  if (pin.reader == NULL) {
    read_by(pin, first);
  } else {
    const state found = own->states[pin.slot];
    model_check(found.a == found.b && found.a >= first);
  }
  model_readers_end_thread();
}

const model_case snapshot_ended_inside = {
    .name = "snapshot.ended-inside",
    .about = "a thread ends inside of a read by a kept pin, which is given back",
    .setup = set_up_2,
    .threads = {change_2, read_and_end_inside},
    .finish = finish,
    .bounds = {4, 2, 0},
    .far = {5, 3, 0},
};

const model_case snapshot_kept_long = {
    .name = "snapshot.kept-long",
    .about =
        "a reader reads three times by kept pins; an owner with three slots shows three states",
    .setup = set_up_3,
    .threads = {change_3, read_3},
    .finish = finish,
    .bounds = {3, 2, 0},
    .far = {4, 2, 0},
};

const model_case snapshot_two_keepers = {
    .name = "snapshot.two-keepers",
    .about = "two readers keep their pins; an owner with two slots shows two states",
    .setup = set_up_2,
    .threads = {change_2, read_2, read_1},
    .finish = finish,
    .bounds = {2, 1, 0},
    .far = {3, 1, 0},
};

const model_case snapshot_nested = {
    .name = "snapshot.nested",
    .about = "a read inside of a read by a kept pin, while the owner shows two states",
    .setup = set_up_2,
    .threads = {change_2, read_nested},
    .finish = finish,
    .bounds = {3, 1, 0},
    .far = {4, 2, 0},
};

const model_case snapshot_refused = {
    .name = "snapshot.refused",
    .about = "the kernel refuses membarrier: the owner takes no pins back, until it is granted",
    .setup = set_up_2,
    .threads = {read_2_and_live, change_2},
    .finish = finish_when_granted,
    .bounds = {3, 1, 2},
    .far = {4, 2, 3},
};

/* MARK: a word that is written without a state being shown */

static struct { _Atomic uint32_t is_set; } * scheduled;

static void set_up_schedule(void) {
  set_up(2);
  scheduled = model_allocate(sizeof *scheduled);
}

static void change_and_schedule(void) {
  change(2);
  rr_trampoline_leave(trampoline, (uint64_t)own->shown);
  model_check(rr_trampoline_try_schedule(trampoline));
  rr_store_release(MODEL_OF_THE_CASE, &scheduled->is_set, 1);
}

/* As another thread, with a token of its own. */
static void begin_and_leave(void) {
  while (rr_load_acquire(MODEL_OF_THE_CASE, &scheduled->is_set) == 0) model_pause();
  rr_trampoline_begin(trampoline, 64);
  rr_trampoline_leave(trampoline, (uint64_t)own->shown);
}

static void finish_schedule(void) {
  model_release(scheduled);
  model_check(rr_trampoline_try_enter(trampoline, token));
  finish();
}

const model_case snapshot_begun = {
    .name = "snapshot.begun",
    .about = "a reader looks twice at the word when one thread has shown a state and another began",
    .setup = set_up_schedule,
    .threads = {change_and_schedule, begin_and_leave, read_2},
    .finish = finish_schedule,
    .bounds = {2, 1, 0},
    .far = {3, 2, 0},
};

/* MARK: a state that goes away while a thread still keeps a pin of it */

static struct { _Atomic uint32_t is_set; } * done;

static void set_up_two_states(void) {
  set_up(2);
  done = model_allocate(sizeof *done);
  model_check(rr_trampoline_create(&other, 0) == RR_OK);
  model_check(rr_trampoline_try_start(other, token));
  rr_trampoline_publish(other, token, 0);
}

static void read_other(void) {
  const rr_pin pin = rr_readers_pin(other);
  model_check(pin.slot == 0);
  rr_readers_unpin(other, pin);
}

/* Its last reference to the first state is given up after the first read. */
static void read_then_read_other(void) {
  read_after(1);
  rr_store_release(MODEL_OF_THE_CASE, &done->is_set, 1);
  read_other();
  read_other();
  model_readers_end_thread();
}

static void destroy_when_done(void) {
  while (rr_load_acquire(MODEL_OF_THE_CASE, &done->is_set) == 0) model_pause();
  rr_trampoline_destroy(trampoline);
}

static void finish_forgotten(void) {
  trampoline = other;
  check_no_pins();
  model_check(rr_readers_count() == 0);
  rr_trampoline_destroy(other);
  model_release(own);
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
  set_up(2);
  turns = 0;
  rr_trampoline_leave(trampoline, (uint64_t)own->shown);
}

/* As a send that finds nobody there; what another one showed is still being read. */
static void enter_and_change(uint64_t by) {
  if (!rr_trampoline_try_enter(trampoline, by)) return;
  const int slot = free_slot();
  if (slot >= 0) {
    turns++;
    last_shown++;
    own->states[slot] = (state){last_shown, last_shown};
    own->shown = slot;
  }
  rr_trampoline_leave(trampoline, (uint64_t)own->shown);
}

static void enter_1(void) { enter_and_change(32); }
static void enter_2(void) { enter_and_change(64); }

static void finish_turns(void) {
  model_check(turns > 0);
  model_check(rr_trampoline_try_enter(trampoline, token));
  finish();
}

const model_case snapshot_two_owners = {
    .name = "snapshot.two-owners",
    .about =
        "two threads enter, each overwrites the slot that the one before has hidden; one reads",
    .setup = set_up_turns,
    .threads = {enter_1, enter_2, read_1},
    .finish = finish_turns,
    .is_symmetric = true,
    .bounds = {3, 2, 0},
    .far = {4, 3, 0},
};

/* MARK: a start */

static int starts;

static void set_up_start(void) {
  slots = 2;
  starts = turns = withheld = last_shown = 0;
  own = model_allocate(sizeof *own);
  model_check(rr_trampoline_create(&trampoline, 0) == RR_OK);
}

/* As RuntimeOn.start (Sources/ReactorRuntime/Reactor/Runtime+Send.swift) and OwnedStateOn.tryStart;
 * who is not the first enters, if that one has left. */
static void start_or_enter(uint64_t by) {
  if (!rr_trampoline_try_start(trampoline, by)) {
    enter_and_change(by);
    return;
  }
  own->states[0] = (state){1, 1};
  own->shown = 0;
  rr_trampoline_publish(trampoline, by, 0);
  last_shown = 1;
  starts++;
  rr_trampoline_leave(trampoline, 0);
}

static void start_1(void) { start_or_enter(32); }
/* As a send, which starts it if it cannot enter. */
static void enter_or_start_2(void) {
  enter_and_change(64);
  if (rr_trampoline_slot(trampoline) < 0) start_or_enter(64);
}

/* A whole state, or none: only if none was shown, nor found before. */
static uint64_t read_if_started(uint64_t before) {
  const bool is_shown = starts > 0;
  const rr_pin pin = rr_readers_pin(trampoline);
  if (pin.slot >= 0) return read_by(pin, before);
  model_check(before == 0 && !is_shown);
  return 0;
}

static void read_before_start(void) {
  read_if_started(read_if_started(0));
  model_readers_end_thread();
}

static void finish_start(void) {
  model_check(starts == 1);
  model_check(rr_trampoline_try_enter(trampoline, token));
  finish();
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
