/* Replayed states: the owner brings a state that readers have left up to date in place, by the
 * mutations that this state has missed, and copies only into a slot without a state. As
 * OwnedState.change(byReplaying:) does (Sources/ReactorCore/Ownership/OwnedState+Replayed.swift),
 * without a bound on the log. */
#include "states.h"

/* What only the owner uses. */
static struct {
  uint64_t log[4];
  int end;
  /* How many mutations the state in each slot contains; -1 where there is no state. */
  int positions[3];
  uint64_t sum;
} replay;

static void set_up_3(void) {
  states_set_up(3);
  for (int i = 0; i < 3; i++) replay.positions[i] = -1;
  replay.end = 0;
  replay.sum = 1;
}

static void apply(state *changed, uint64_t mutation) {
  changed->a += mutation;
  changed->b += mutation;
}

static int earlier_slot(void) {
  int newest = -1;
  for (int i = 0; i < states.slot_count; i++) {
    if (i == states.own->published || replay.positions[i] < 0) continue;
    if (!rr_pins_is_free(states.trampoline, i)) continue;
    if (newest < 0 || replay.positions[i] > replay.positions[newest]) newest = i;
  }
  return newest;
}

static void change(uint64_t mutation) {
  owned *own = states.own;
  replay.positions[own->published] = replay.end;
  int slot = earlier_slot();
  if (slot < 0) slot = states_free_slot();
  if (slot < 0 && rr_readers_revoke(states.trampoline)) slot = states_free_slot();
  if (slot < 0) {
    states.deferred++;
    return;
  }
  if (replay.positions[slot] < 0) {
    own->slots[slot] = own->slots[own->published];
  } else {
    for (int i = replay.positions[slot]; i < replay.end; i++)
      apply(&own->slots[slot], replay.log[i]);
  }
  model_check(own->slots[slot].a == replay.sum && own->slots[slot].b == replay.sum);
  apply(&own->slots[slot], mutation);
  replay.log[replay.end++] = mutation;
  replay.sum += mutation;
  own->published = slot;
  rr_trampoline_publish(states.trampoline, STATES_TOKEN, (uint64_t)slot);
  states.last_published = (int)replay.sum;
}

static void change_4(void) {
  for (uint64_t mutation = 2; mutation < 6; mutation++) change(mutation);
}

const model_case snapshot_replayed = {
    .name = "snapshot.replayed",
    .about = "a reader reads twice while the owner brings earlier ones of three states up to date",
    .setup = set_up_3,
    .threads = {change_4, states_read_2},
    .finish = states_finish,
    .bounds = {3, 2, 0},
    .far = {4, 2, 0},
};

const model_case snapshot_replayed_two_readers = {
    .name = "snapshot.replayed-two-readers",
    .about = "two readers, and an owner that brings earlier ones of three states up to date",
    .setup = set_up_3,
    .threads = {change_4, states_read_1, states_read_1},
    .finish = states_finish,
    .bounds = {2, 1, 0},
    .far = {3, 2, 0},
};
