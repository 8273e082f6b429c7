/* Snapshots: an owner that stays the owner and publishes states, and threads that read them, with
 * pins that are released at once and with pins that are kept. */
#include "states.h"

static void set_up_3(void) { states_set_up(3); }

static void change_2(void) {
  states_change(2);
  states_change(3);
}

static void change_3(void) {
  change_2();
  states_change(4);
}

static void read_3(void) {
  states_read_after(states_read_after(states_read_after(1)));
  model_readers_end_thread();
}

/* A read nested in another read of the same state. */
static void read_nested(void) {
  const uint64_t first = states_read_after(1);
  const rr_pin pin = rr_readers_pin(states.trampoline);
  const state outer = states.own->slots[pin.slot];
  const uint64_t inner = states_read_after(first);
  model_check(inner >= outer.a);
  const state again = states.own->slots[pin.slot];
  model_check(again.a == outer.a && again.b == outer.a);
  rr_readers_unpin(states.trampoline, pin);
  model_readers_end_thread();
}

const model_case snapshot_pins = {
    .name = "snapshot.pins",
    .about = "a reader reads twice while the owner publishes two states; pins are released at once",
    .setup = states_set_up_2,
    .threads = {change_2, states_read_2},
    .finish = states_finish,
    .is_symmetric = true,
    .bounds = {4, 2, 0},
    .far = {6, 3, 0},
};

const model_case snapshot_two_readers = {
    .name = "snapshot.two-readers",
    .about = "two readers, and an owner that publishes two states; pins are released at once",
    .setup = states_set_up_2,
    .threads = {change_2, states_read_1, states_read_1},
    .finish = states_finish,
    .is_symmetric = true,
    .bounds = {3, 1, 0},
    .far = {3, 2, 0},
};

const model_case snapshot_kept = {
    .name = "snapshot.kept",
    .about = "a reader keeps its pin; an owner with two slots publishes two states, and revokes",
    .setup = states_set_up_2,
    .threads = {change_2, states_read_2},
    .finish = states_finish,
    .bounds = {4, 2, 0},
    .far = {5, 3, 0},
};

const model_case snapshot_kept_twice = {
    .name = "snapshot.kept-twice",
    .about = "a reader keeps pins of two states; an owner with two slots publishes three",
    .setup = states_set_up_2,
    .threads = {change_3, states_read_2},
    .finish = states_finish,
    .bounds = {3, 1, 0},
    .far = {4, 2, 0},
};

const model_case snapshot_revoked_on_the_way_in = {
    .name = "snapshot.revoked-on-the-way-in",
    .about = "a reader finds its pin revoked when it begins a read by it",
    .setup = states_set_up_2,
    .threads = {change_2, read_3},
    .finish = states_finish,
    .bounds = {3, 1, 0},
    .far = {4, 2, 0},
};

/* The thread stays alive, but reads no more. */
static void read_2_and_live(void) { states_read_after(states_read_after(1)); }

/* The owner takes the pin that the thread keeps; the thread's record is destroyed at the end. */
static void finish_when_granted(void) {
  for (uint64_t value = 5; value < 8; value++) {
    states_change(value);
    model_check(states.last_published == (int)value);
  }
  model_readers_end_of(1);
  states_finish();
}

static void finish_while_it_lives(void) {
  /* The later one of the two, the reader that ended its read or the owner that revoked, has removed
   * the pin. */
  model_check(!model_readers_is_marked(1));
  finish_when_granted();
}

const model_case snapshot_none_forgotten = {
    .name = "snapshot.none-forgotten",
    .about = "an owner that needs the slot takes the pin of a thread that reads no more",
    .setup = states_set_up_2,
    .threads = {read_2_and_live, change_2},
    .finish = finish_while_it_lives,
    .bounds = {4, 1, 0},
    .far = {5, 2, 0},
};

/* As pthread_exit() inside of a read: no code unpins. At the end of a thread only its kept pin is
 * known. */
static void read_and_end_inside(void) {
  const uint64_t first = states_read_after(1);
  const rr_pin pin = rr_readers_pin(states.trampoline);
  if (pin.reader == NULL) {
    states_read_by(pin, first);
  } else {
    const state found = states.own->slots[pin.slot];
    model_check(found.a == found.b && found.a >= first);
  }
  model_readers_end_thread();
}

const model_case snapshot_ended_inside = {
    .name = "snapshot.ended-inside",
    .about = "a thread ends inside of a read by a kept pin, and the pin is unpinned",
    .setup = states_set_up_2,
    .threads = {change_2, read_and_end_inside},
    .finish = states_finish,
    .bounds = {4, 2, 0},
    .far = {5, 3, 0},
};

const model_case snapshot_kept_long = {
    .name = "snapshot.kept-long",
    .about =
        "a reader reads three times by kept pins; an owner with three slots publishes three states",
    .setup = set_up_3,
    .threads = {change_3, read_3},
    .finish = states_finish,
    .bounds = {3, 2, 0},
    .far = {4, 2, 0},
};

const model_case snapshot_two_keepers = {
    .name = "snapshot.two-keepers",
    .about = "two readers keep their pins; an owner with two slots publishes two states",
    .setup = states_set_up_2,
    .threads = {change_2, states_read_2, states_read_1},
    .finish = states_finish,
    .bounds = {2, 1, 0},
    .far = {3, 1, 0},
};

const model_case snapshot_nested = {
    .name = "snapshot.nested",
    .about = "a read nested in a read by a kept pin, while the owner publishes two states",
    .setup = states_set_up_2,
    .threads = {change_2, read_nested},
    .finish = states_finish,
    .bounds = {3, 1, 0},
    .far = {4, 2, 0},
};

const model_case snapshot_refused = {
    .name = "snapshot.refused",
    .about = "the kernel refuses membarrier: the owner takes no pins until it is granted",
    .setup = states_set_up_2,
    .threads = {read_2_and_live, change_2},
    .finish = finish_when_granted,
    .bounds = {3, 1, 2},
    .far = {4, 2, 3},
};
