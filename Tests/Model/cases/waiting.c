/* The event count: no wake-up is lost, whatever the order of the threads and the results of the
 * kernel. */
#include "cases.h"

static rr_ring *ring;
static rr_eventcount *waiting;
static received got;

static void set_up(void) {
  memset(&got, 0, sizeof got);
  ring = ring_make(4, 0);
  model_check(rr_eventcount_create(&waiting, RR_EVENTCOUNT_FUTEX) == RR_OK);
}

static void send(uint64_t item) {
  model_check(ring_try_send(ring, item, 1) == RR_OK);
  rr_eventcount_notify(waiting);
}

static bool is_ready(void) { return rr_ring_peek(ring, rr_ring_head(ring)) != 0; }

/* As EventCount.wait (Sources/ReactorCore/Waiting/EventCount.swift). */
static void wait_until_ready(void) {
  while (!is_ready()) {
    const uint32_t key = rr_eventcount_prepare(waiting);
    if (is_ready()) break;
    rr_eventcount_wait(waiting, key, -1);
  }
}

static void receive(int count) {
  while (got.count < count) {
    wait_until_ready();
    ring_drain(ring, &got, count - got.count, 1);
  }
}

static void send_1_of_1(void) { send(10); }
static void send_1_of_2(void) { send(20); }
static void send_1_of_3(void) { send(30); }
static void send_2_of_1(void) {
  send(10);
  send(11);
}
static void receive_1(void) { receive(1); }
static void receive_2(void) { receive(2); }
static void receive_3(void) { receive(3); }

static void finish(void) {
  received_check_order(&got);
  rr_ring_destroy(ring);
  rr_eventcount_destroy(waiting);
}

const model_case waiting_one_producer = {
    .name = "waiting.one-producer",
    .about = "a consumer parks for each of two items of one producer",
    .setup = set_up,
    .threads = {send_2_of_1, receive_2},
    .finish = finish,
    .bounds = {3, 3, 0},
    .far = {5, 5, 0},
};

const model_case waiting_two_producers = {
    .name = "waiting.two-producers",
    .about = "a consumer parks for the items of two producers",
    .setup = set_up,
    .threads = {send_1_of_1, send_1_of_2, receive_2},
    .finish = finish,
    .bounds = {2, 2, 0},
    .far = {3, 3, 0},
};

const model_case waiting_three_producers = {
    .name = "waiting.three-producers",
    .about = "a consumer parks for the items of three producers",
    .setup = set_up,
    .threads = {send_1_of_1, send_1_of_2, send_1_of_3, receive_3},
    .finish = finish,
    .bounds = {1, 2, 0},
    .far = {2, 2, 0},
};

const model_case waiting_symmetric = {
    .name = "waiting.symmetric",
    .about = "the same without membarrier: both fences are full fences",
    .setup = set_up,
    .threads = {send_2_of_1, receive_2},
    .finish = finish,
    .is_symmetric = true,
    .bounds = {3, 3, 0},
    .far = {5, 5, 0},
};

const model_case waiting_faults = {
    .name = "waiting.faults",
    .about = "the kernel wakes for no reason, and refuses membarrier",
    .setup = set_up,
    .threads = {send_2_of_1, receive_2},
    .finish = finish,
    .bounds = {2, 2, 2},
    .far = {4, 3, 3},
};

/* MARK: a word that stays armed */

static uint32_t kept;

static void set_up_kept(void) {
  set_up();
  kept = 0;
}

/* As a loop that watches descriptors (Sources/ReactorRuntime/Placement/Watching/LoopWatches.swift).
 * Where it finds an item after it has armed the word, and where the kernel wakes it for no reason,
 * as a descriptor would, the word stays armed. */
static void receive_2_armed(void) {
  while (got.count < 2) {
    while (!is_ready()) {
      kept = rr_eventcount_prepare_again(waiting, kept);
      if (is_ready()) break;
      rr_eventcount_wait(waiting, kept, -1);
    }
    ring_drain(ring, &got, 2 - got.count, 1);
  }
}

const model_case waiting_armed_again = {
    .name = "waiting.armed-again",
    .about = "a consumer that is also woken by others sleeps again while the word is still armed",
    .setup = set_up_kept,
    .threads = {send_2_of_1, receive_2_armed},
    .finish = finish,
    .bounds = {3, 3, 1},
    .far = {4, 4, 3},
};

const model_case waiting_armed_again_by_two = {
    .name = "waiting.armed-again-by-two",
    .about = "the same with two producers, one of which has seen the word before it was armed",
    .setup = set_up_kept,
    .threads = {send_1_of_1, send_1_of_2, receive_2_armed},
    .finish = finish,
    .bounds = {2, 2, 1},
    .far = {3, 3, 1},
};

const model_case waiting_armed_again_symmetric = {
    .name = "waiting.armed-again-symmetric",
    .about = "the same without membarrier",
    .setup = set_up_kept,
    .threads = {send_2_of_1, receive_2_armed},
    .finish = finish,
    .is_symmetric = true,
    .bounds = {3, 3, 2},
    .far = {4, 4, 3},
};

/* MARK: several sleepers */

static struct { _Atomic uint32_t is_set; } * conditions[2];

static void set_up_sleepers(void) {
  set_up();
  for (int i = 0; i < 2; i++) conditions[i] = model_allocate(sizeof *conditions[i]);
}

/* The conditions are not objects of the core, so they use an edge of the case. */
static void sleep_until(int i) {
  while (rr_load_acquire(MODEL_OF_THE_CASE, &conditions[i]->is_set) == 0) {
    const uint32_t key = rr_eventcount_prepare(waiting);
    if (rr_load_acquire(MODEL_OF_THE_CASE, &conditions[i]->is_set) != 0) break;
    rr_eventcount_wait(waiting, key, -1);
  }
}

static void make_true(int i) {
  rr_store_release(MODEL_OF_THE_CASE, &conditions[i]->is_set, 1);
  rr_eventcount_notify(waiting);
}

static void sleep_until_0(void) { sleep_until(0); }
static void sleep_until_1(void) { sleep_until(1); }
static void make_0_true(void) { make_true(0); }
static void make_1_true(void) { make_true(1); }
static void make_both_true(void) {
  make_true(0);
  make_true(1);
}

static void finish_sleepers(void) {
  for (int i = 0; i < 2; i++) model_release(conditions[i]);
  finish();
}

const model_case waiting_two_sleepers = {
    .name = "waiting.two-sleepers",
    .about = "two threads sleep on one event count, each for a condition of its own",
    .setup = set_up_sleepers,
    .threads = {sleep_until_0, sleep_until_1, make_both_true},
    .finish = finish_sleepers,
    .bounds = {3, 2, 0},
    .far = {4, 3, 0},
};

const model_case waiting_two_notifiers = {
    .name = "waiting.two-notifiers",
    .about = "two sleepers and two notifiers, which may find the same word armed",
    .setup = set_up_sleepers,
    .threads = {sleep_until_0, sleep_until_1, make_0_true, make_1_true},
    .finish = finish_sleepers,
    .bounds = {2, 2, 0},
    .far = {3, 2, 0},
};

/* MARK: a postponed wake-up */

/* As Mailbox.notifyRoom (Sources/ReactorRuntime/Mailbox/Mailbox.swift): a wake-up that was not
 * worth it is not remembered, because the next check finds the word unchanged. */
static void send_two_and_look_again(void) {
  model_check(ring_try_send(ring, 10, 1) == RR_OK);
  (void)rr_eventcount_must_notify(waiting);
  model_check(ring_try_send(ring, 11, 1) == RR_OK);
  if (rr_eventcount_must_notify(waiting)) rr_eventcount_notify(waiting);
}

const model_case waiting_put_off = {
    .name = "waiting.put-off",
    .about = "a producer postpones a wake-up until after its second item",
    .setup = set_up,
    .threads = {send_two_and_look_again, receive_1},
    .finish = finish,
    .bounds = {3, 3, 0},
    .far = {5, 4, 0},
};

const model_case waiting_put_off_symmetric = {
    .name = "waiting.put-off-symmetric",
    .about = "the same without membarrier: the check has a full fence",
    .setup = set_up,
    .threads = {send_two_and_look_again, receive_1},
    .finish = finish,
    .is_symmetric = true,
    .bounds = {3, 3, 0},
    .far = {5, 4, 0},
};

/* As rr_eventcount_must_notify() says: a thread that finds the word armed must notify later; other
 * threads need not. */
static void send_two_and_pay(void) {
  model_check(ring_try_send(ring, 10, 1) == RR_OK);
  const bool owes = rr_eventcount_must_notify(waiting);
  model_check(ring_try_send(ring, 11, 1) == RR_OK);
  if (owes) rr_eventcount_notify(waiting);
}

const model_case waiting_owed = {
    .name = "waiting.owed",
    .about =
        "a producer checks once, and wakes after its second item if the check found the word armed",
    .setup = set_up,
    .threads = {send_two_and_pay, receive_1},
    .finish = finish,
    .is_symmetric = true,
    .bounds = {3, 3, 0},
    .far = {5, 4, 0},
};
