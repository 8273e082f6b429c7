/* A state with one place (rr_access.h): an owner that changes it, and readers, take turns. */
#include "cases.h"

typedef struct state {
  uint64_t a, b;
} state;

static rr_trampoline *trampoline;
static rr_eventcount *waiting;
static state *own;
/* Whether the kernel refuses the fence, so that no thread sleeps. */
static bool returns_at_once;

static void set_up(void) {
  model_check(rr_trampoline_create(&trampoline, 0) == RR_OK);
  model_check(rr_eventcount_create(&waiting, RR_EVENTCOUNT_FUTEX) == RR_OK);
  own = model_allocate(sizeof *own);
  returns_at_once = false;
}

/* As StateAccess (Sources/ReactorCore/Ownership/StateAccess.swift), without spinning. */
static bool is_open(void) { return rr_access_is_open(trampoline, false); }
static bool passes(void) { return rr_access_is_open(trampoline, true); }
static bool is_not_awaited(void) { return rr_access_was_waiting_count(trampoline) == 0; }
static bool is_not_starving(void) { return !rr_access_has_starving(trampoline); }
static bool is_not_read(void) { return rr_access_was_reader_count(trampoline) == 0; }

static void sleep_until(bool (*condition)(void)) {
  while (!condition()) {
    const uint32_t key = rr_eventcount_prepare(waiting);
    if (condition()) break;
    rr_eventcount_wait(waiting, key, -1);
    if (returns_at_once) rr_pause();
  }
}

static void begin_change(void) {
  if (rr_access_try_begin_change(trampoline)) return;
  rr_access_give_up_bias(trampoline);
  if (rr_access_was_waiting_count(trampoline) != 0) rr_eventcount_notify(waiting);
  sleep_until(is_not_starving);
  rr_access_hold(trampoline);
  while (!rr_access_try_begin_held_change(trampoline)) sleep_until(is_not_read);
}

static void change(void) {
  begin_change();
  own->a++;
  own->b++;
  if (rr_access_end_change(trampoline)) rr_eventcount_notify(waiting);
}

/* A reader starves at once, or never: there is no clock. */
static bool are_patient;

static void begin_read(bool passes_hold) {
  if (rr_access_try_begin_read(trampoline, passes_hold)) return;
  rr_access_begin_wait(trampoline);
  if (!are_patient) rr_access_begin_starving(trampoline);
  while (!rr_access_try_begin_read(trampoline, passes_hold)) {
    if (rr_access_is_held(trampoline)) rr_eventcount_notify(waiting);
    if (rr_access_is_open(trampoline, passes_hold)) rr_pause();
    sleep_until(passes_hold ? passes : is_open);
  }
  if (!are_patient) rr_access_end_starving(trampoline);
  rr_access_end_wait(trampoline);
  rr_eventcount_notify(waiting);
}

static void end_read(void) {
  if (rr_access_end_read(trampoline)) rr_eventcount_notify(waiting);
}

static uint64_t look(uint64_t before) {
  const state found = *own;
  model_check(found.a == found.b && found.a >= before);
  return found.a;
}

static uint64_t read_after(uint64_t before) {
  begin_read(false);
  const uint64_t found = look(before);
  rr_access_note_copy(trampoline);
  end_read();
  return found;
}

static void set_up_starving(void) {
  set_up();
  are_patient = false;
}

static void set_up_patient(void) {
  set_up();
  are_patient = true;
}

/* From now on the state has no owner while it is not changed, so that a reader can order itself by
 * the ownership word. */
static void set_up_idle(void) {
  set_up_starving();
  model_check(rr_trampoline_try_initialize(trampoline, rr_thread_token()));
  rr_trampoline_release(trampoline, 0);
}

static void set_up_refused(void) {
  set_up_idle();
  returns_at_once = true;
}

static void change_in_turn(void) {
  model_check(rr_trampoline_try_acquire(trampoline, rr_thread_token()));
  change();
  rr_trampoline_release(trampoline, 0);
}

static void turns_3(void) {
  change_in_turn();
  change_in_turn();
  change_in_turn();
}

/* Stays the owner between the changes. */
static void turn_of_3(void) {
  model_check(rr_trampoline_try_acquire(trampoline, rr_thread_token()));
  change();
  change();
  change();
  rr_trampoline_release(trampoline, 0);
}

/* One of several threads that own the state in turns. */
static void one_of_the_owners(void) {
  while (!rr_trampoline_try_acquire(trampoline, rr_thread_token())) rr_pause();
  change();
  change();
  rr_trampoline_release(trampoline, 0);
}

static void change_1(void) { change(); }
static void change_2(void) {
  change();
  change();
}
static void change_3(void) {
  change();
  change_2();
}
static void read_1(void) { read_after(0); }
static void read_2(void) { read_after(read_after(0)); }

/* A thread that is inside of a read begins another one, while the owner may be waiting for it. */
static void read_inside(void) {
  begin_read(false);
  const uint64_t outer = look(0);
  begin_read(true);
  model_check(look(outer) == outer);
  end_read();
  model_check(look(outer) == outer);
  end_read();
}

/* A thread that is inside of a turn of another reactor: it does not hold back. */
static void read_passing(void) {
  begin_read(true);
  look(0);
  rr_access_note_copy(trampoline);
  end_read();
}

static void finish(void) {
  model_check(is_open() && is_not_read() && is_not_awaited() && is_not_starving());
  model_check(rr_access_was_copied_count(trampoline) > 0);
  rr_trampoline_destroy(trampoline);
  rr_eventcount_destroy(waiting);
  model_release(own);
}

const model_case access_turns = {
    .name = "access.turns",
    .about = "a reader reads twice while the owner changes the state in place twice",
    .setup = set_up_starving,
    .threads = {change_2, read_2},
    .finish = finish,
    .bounds = {3, 2, 0},
    .far = {4, 3, 0},
};

const model_case access_patient = {
    .name = "access.patient",
    .about = "two readers that never starve, while the owner changes the state in place twice",
    .setup = set_up_patient,
    .threads = {change_2, read_1, read_1},
    .finish = finish,
    .bounds = {2, 1, 0},
    .far = {3, 2, 0},
};

const model_case access_two_readers = {
    .name = "access.two-readers",
    .about = "two readers, and an owner that changes the state in place twice",
    .setup = set_up_starving,
    .threads = {change_2, read_1, read_1},
    .finish = finish,
    .bounds = {2, 1, 0},
    .far = {3, 2, 0},
};

/* After one change the state is biased to its owner (RR_ACCESS_BIASED_AFTER); a reader may revoke
 * the bias before, inside of and after the second change. */
const model_case access_biased = {
    .name = "access.biased",
    .about = "a reader revokes the owner's bias, which the owner begins anew",
    .setup = set_up_starving,
    .threads = {change_3, read_2},
    .finish = finish,
    .bounds = {3, 2, 0},
    .far = {4, 3, 0},
};

const model_case access_revoked_by_two = {
    .name = "access.revoked-by-two",
    .about = "two readers revoke the owner's bias at the same time",
    .setup = set_up_starving,
    .threads = {change_3, read_1, read_1},
    .finish = finish,
    .bounds = {2, 1, 0},
    .far = {3, 2, 0},
};

/* The second owner changes by the bias that the first one has set. */
const model_case access_owners = {
    .name = "access.owners",
    .about = "a reader revokes a bias that goes from one owner to another",
    .setup = set_up_idle,
    .threads = {one_of_the_owners, one_of_the_owners, read_1},
    .finish = finish,
    .bounds = {2, 1, 0},
    .far = {3, 1, 0},
};

const model_case access_passing = {
    .name = "access.passing",
    .about = "a reader that passes an owner that holds, and another one, revoke the owner's bias",
    .setup = set_up_starving,
    .threads = {change_3, read_passing, read_1},
    .finish = finish,
    .bounds = {2, 1, 0},
    .far = {3, 2, 0},
};

const model_case access_idle = {
    .name = "access.idle",
    .about = "the same by the ownership word, between the owner's turns",
    .setup = set_up_idle,
    .threads = {turns_3, read_1, read_1},
    .finish = finish,
    .bounds = {1, 2, 0},
    .far = {2, 2, 0},
};

/* Only the owner, by giving the bias up, can let the reader enter. */
const model_case access_refused = {
    .name = "access.refused",
    .about = "the kernel always refuses membarrier to a reader that revokes the owner's bias",
    .setup = set_up_refused,
    .threads = {turn_of_3, read_1},
    .finish = finish,
    .is_refused = true,
    .bounds = {2, 1, 0},
    .far = {3, 2, 0},
};

const model_case access_nested = {
    .name = "access.nested",
    .about = "a read nested in a read of the same state passes an owner that waits",
    .setup = set_up_starving,
    .threads = {change_1, read_inside, read_1},
    .finish = finish,
    .bounds = {2, 1, 0},
    .far = {3, 2, 0},
};

/* Two threads, each inside of a read of its own state, would each become the owner of the other's.
 */
static rr_trampoline *states[2];
static bool found_reader[2];

static void set_up_each_other(void) {
  for (int i = 0; i < 2; i++) {
    model_check(rr_trampoline_create(&states[i], 0) == RR_OK);
    found_reader[i] = false;
  }
}

static void read_and_ask(int mine) {
  model_check(rr_access_try_begin_read(states[mine], false));
  found_reader[mine] = rr_access_has_readers(states[1 - mine]);
}
static void read_first(void) { read_and_ask(0); }
static void read_second(void) { read_and_ask(1); }

static void finish_each_other(void) {
  model_check(found_reader[0] || found_reader[1]);
  for (int i = 0; i < 2; i++) {
    model_check(!rr_access_end_read(states[i]));
    rr_trampoline_destroy(states[i]);
  }
}

const model_case access_each_other = {
    .name = "access.each-other",
    .about = "of two threads that read, and ask whether the other's state is read, one finds that",
    .setup = set_up_each_other,
    .threads = {read_first, read_second},
    .finish = finish_each_other,
    .bounds = {4, 3, 0},
    .far = {6, 6, 0},
};

const model_case access_symmetric = {
    .name = "access.symmetric",
    .about = "the same as access.turns without membarrier: the end of a change has a full fence",
    .setup = set_up_starving,
    .threads = {change_2, read_2},
    .finish = finish,
    .is_symmetric = true,
    .bounds = {3, 2, 0},
    .far = {4, 3, 0},
};

const model_case access_faults = {
    .name = "access.faults",
    .about = "the kernel wakes for no reason, and refuses membarrier",
    .setup = set_up_starving,
    .threads = {change_2, read_1},
    .finish = finish,
    .bounds = {2, 2, 2},
    .far = {3, 2, 2},
};
