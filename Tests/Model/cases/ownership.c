/* The ownership word with a mailbox: one owner at a time, and no item is left behind. */
#include "loop.h"

static void send_1_of_1(void) { model_check(mailbox_send(10) == RR_OK); }
static void send_1_of_2(void) { model_check(mailbox_send(20) == RR_OK); }
static void send_1_of_4(void) { model_check(mailbox_send(40) == RR_OK); }
static void send_2_of_1(void) {
  model_check(mailbox_send(10) == RR_OK);
  model_check(mailbox_send(11) == RR_OK);
}
static void send_2_of_2(void) {
  model_check(mailbox_send(20) == RR_OK);
  model_check(mailbox_send(21) == RR_OK);
}

static void finish_2(void) { mailbox_finish(2); }
static void finish_3(void) { mailbox_finish(3); }
static void finish_4(void) { mailbox_finish(4); }

const model_case ownership_two_senders = {
    .name = "ownership.two-senders",
    .about = "two threads send two items each: one owner at a time, nothing is left behind",
    .setup = mailbox_make_idle,
    .threads = {send_2_of_1, send_2_of_2},
    .finish = finish_4,
    .bounds = {3, 2, 0},
    .far = {4, 3, 0},
};

const model_case ownership_three_senders = {
    .name = "ownership.three-senders",
    .about = "three threads send one item each",
    .setup = mailbox_make_idle,
    .threads = {send_1_of_1, send_1_of_2, send_1_of_4},
    .finish = finish_3,
    .bounds = {2, 2, 0},
    .far = {3, 2, 0},
};

const model_case ownership_symmetric = {
    .name = "ownership.symmetric",
    .about = "two threads send two items and one, without membarrier",
    .setup = mailbox_make_idle,
    .threads = {send_2_of_1, send_1_of_2},
    .finish = finish_3,
    .is_symmetric = true,
    .bounds = {3, 2, 0},
    .far = {5, 3, 0},
};

const model_case ownership_refused = {
    .name = "ownership.refused",
    .about = "the kernel refuses membarrier: the owner waits for the publication",
    .setup = mailbox_make_idle,
    .threads = {send_2_of_1, send_1_of_2},
    .finish = finish_3,
    .bounds = {3, 2, 2},
    .far = {4, 2, 3},
};

static void through_ring_1(void) { model_check(mailbox_send_through_ring(10) == RR_OK); }
static void through_ring_2(void) { model_check(mailbox_send_through_ring(20) == RR_OK); }

const model_case ownership_claim_and_release = {
    .name = "ownership.claim-and-release",
    .about = "two threads claim, publish and load the word, while one of them releases",
    .setup = mailbox_make_idle,
    .threads = {through_ring_1, through_ring_2},
    .finish = finish_2,
    .bounds = {3, 3, 0},
    .far = {5, 3, 0},
};

const model_case ownership_light = {
    .name = "ownership.light",
    .about = "one thread sends two items to a mailbox with a light word, and another one sends one",
    .setup = mailbox_make_light,
    .threads = {send_2_of_1, through_ring_2},
    .finish = finish_3,
    .bounds = {3, 2, 0},
    .far = {5, 3, 0},
};

const model_case ownership_light_three = {
    .name = "ownership.light-three",
    .about = "three threads send to a mailbox with a light word, one of them through the ring",
    .setup = mailbox_make_light,
    .threads = {send_1_of_1, through_ring_2, send_1_of_4},
    .finish = finish_3,
    .bounds = {2, 2, 0},
    .far = {3, 3, 0},
};

static void send_and_acquire_or_rely(void) { mailbox_send_and_acquire_or_rely(20); }

const model_case ownership_light_acquired = {
    .name = "ownership.light-acquired",
    .about = "as ownership.light, and the other thread tries to acquire first",
    .setup = mailbox_make_light,
    .threads = {send_2_of_1, send_and_acquire_or_rely},
    .finish = finish_3,
    .bounds = {3, 2, 0},
    .far = {5, 3, 0},
};

const model_case ownership_light_refused = {
    .name = "ownership.light-refused",
    .about = "the same as ownership.light while the kernel refuses membarrier",
    .setup = mailbox_make_light,
    .threads = {send_2_of_1, through_ring_2},
    .finish = finish_3,
    .bounds = {3, 2, 2},
    .far = {4, 2, 3},
};

static void send_and_acquire_1(void) { mailbox_send_and_acquire(10); }
static void send_and_acquire_2(void) { mailbox_send_and_acquire(20); }

const model_case ownership_try_acquire = {
    .name = "ownership.try-acquire",
    .about = "two threads claim, publish and try to acquire; an owner checks after its release",
    .setup = mailbox_make_idle,
    .threads = {send_and_acquire_1, send_and_acquire_2},
    .finish = finish_2,
    .bounds = {4, 3, 0},
    .far = {6, 4, 0},
};

const model_case ownership_try_acquire_symmetric = {
    .name = "ownership.try-acquire-symmetric",
    .about = "the same without membarrier",
    .setup = mailbox_make_idle,
    .threads = {send_and_acquire_1, send_and_acquire_2},
    .finish = finish_2,
    .is_symmetric = true,
    .bounds = {4, 3, 0},
    .far = {6, 4, 0},
};

const model_case ownership_starting = {
    .name = "ownership.starting",
    .about = "two threads initialize the mailbox at the same time, and send",
    .setup = mailbox_make,
    .threads = {through_ring_1, through_ring_2},
    .finish = finish_2,
    .bounds = {4, 3, 0},
    .far = {6, 4, 0},
};

static void set_up_reentrant(void) {
  mailbox_make_idle();
  mailbox_resend(1);
}

const model_case ownership_reentrance = {
    .name = "ownership.reentrance",
    .about = "an item sends another one while it is processed, and a second thread sends two",
    .setup = set_up_reentrant,
    .threads = {send_1_of_1, send_2_of_2},
    .finish = finish_4,
    .bounds = {3, 2, 0},
    .far = {4, 3, 0},
};

/* MARK: closing */

static int accepted;

static void set_up_closing(void) {
  mailbox_make_idle();
  accepted = 0;
}

static void count(rr_status status) {
  model_check(status == RR_OK || status == RR_CLOSED);
  accepted += status == RR_OK;
}

static void through_ring_or_not(void) { count(mailbox_send_through_ring(10)); }
static void send_or_not(void) { count(mailbox_send(20)); }

static void close_to_drain(void) { mailbox_close(CLOSER_DRAINS); }

static void set_up_light_closing(void) {
  mailbox_make_light();
  accepted = 0;
}

static void finish_closed(void) {
  model_check(lifecycle_has_ended(mailbox_lifecycle()));
  mailbox_finish(accepted);
}

const model_case ownership_closing = {
    .name = "ownership.closing",
    .about = "closed while another thread sends: accepted items are processed, then it ends",
    .setup = set_up_closing,
    .threads = {close_to_drain, through_ring_or_not},
    .finish = finish_closed,
    .bounds = {3, 2, 0},
    .far = {5, 3, 0},
};

const model_case ownership_closing_a_turn = {
    .name = "ownership.closing-a-turn",
    .about =
        "closed while a second thread runs a turn on the fast path and a third sends to the ring",
    .setup = set_up_closing,
    .threads = {close_to_drain, send_or_not, through_ring_or_not},
    .finish = finish_closed,
    .bounds = {3, 1, 0},
    .far = {3, 2, 0},
};

const model_case ownership_light_closing = {
    .name = "ownership.light-closing",
    .about = "closed while another thread runs turns with a light word",
    .setup = set_up_light_closing,
    .threads = {close_to_drain, send_or_not, through_ring_or_not},
    .finish = finish_closed,
    .bounds = {2, 1, 0},
    .far = {3, 2, 0},
};

const model_case ownership_closing_symmetric = {
    .name = "ownership.closing-symmetric",
    .about = "as ownership.closing, without membarrier",
    .setup = set_up_closing,
    .threads = {close_to_drain, through_ring_or_not},
    .finish = finish_closed,
    .is_symmetric = true,
    .bounds = {3, 2, 0},
    .far = {5, 3, 0},
};

/* MARK: on a loop */

static void set_up_loop(void) {
  mailbox_make_idle();
  loop_make();
}

static void set_up_new_on_loop(void) {
  mailbox_make();
  loop_make();
}

static void finish_loop(int count) {
  loop_finish();
  mailbox_finish(count);
}

static void finish_loop_2(void) { finish_loop(2); }
static void finish_loop_3(void) { finish_loop(3); }

static void serve_2(void) { loop_serve(2); }
static void serve_3(void) { loop_serve(3); }

const model_case ownership_loop = {
    .name = "ownership.loop",
    .about = "two threads schedule the mailbox on a loop that parks",
    .setup = set_up_loop,
    .threads = {send_1_of_1, send_1_of_2, serve_2},
    .finish = finish_loop_2,
    .bounds = {2, 1, 0},
    .far = {3, 2, 0},
};

const model_case ownership_loop_starting = {
    .name = "ownership.loop-starting",
    .about = "two threads initialize the mailbox and schedule it on a loop that parks",
    .setup = set_up_new_on_loop,
    .threads = {send_1_of_1, send_1_of_2, serve_2},
    .finish = finish_loop_2,
    .bounds = {2, 1, 0},
    .far = {3, 2, 0},
};

static void host_first(void) { loop_host(0, 2); }
static void host_second(void) { loop_host(1, 2); }

const model_case ownership_handed_round = {
    .name = "ownership.handed-round",
    .about =
        "two threads run a loop's rounds in turn, and continue with what the other rescheduled",
    .setup = set_up_loop,
    .threads = {send_2_of_1, host_first, host_second},
    .finish = finish_loop_2,
    .bounds = {2, 1, 0},
    .far = {3, 2, 0},
};

static void set_up_reentrant_loop(void) {
  set_up_loop();
  mailbox_resend(1);
}

const model_case ownership_loop_again = {
    .name = "ownership.loop-again",
    .about = "one thread schedules the mailbox on a loop twice; an item sends another one",
    .setup = set_up_reentrant_loop,
    .threads = {send_2_of_1, serve_3},
    .finish = finish_loop_3,
    .bounds = {3, 2, 0},
    .far = {5, 3, 0},
};
