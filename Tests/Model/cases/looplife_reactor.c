/* A reactor on a loop that is closed, while another thread sends to the reactor.
 *
 * What the case checks, beside what it checks of the loop: each action that was accepted is
 * processed by the loop, or taken out by the thread whose schedule the loop has refused; until the
 * loop has ended, only its thread touches what its turns have sent. */
#include "mailbox.h"
#include "rounds.h"

/* The items of the loop: the mailbox, which is a reactor of the loop, and another reactor, whose
 * turn sends to the first one. */
enum { MAILBOX = 50, OTHER = 60 };
static int sent;

static void submit_mailbox(void) {
  if (rounds_is_current()) {
    rounds_submit_from_turn(MAILBOX);
  } else if (!rounds_submit(MAILBOX)) {
    mailbox_discard();
  }
}

/* As OwnedReactors: it is closed, has a turn, and is released if it can be. */
static void run_reactor(uint64_t item) {
  if (item == OTHER) {
    sent += mailbox_send_from_turn(30) == RR_OK;
    return;
  }
  mailbox_acquire_scheduled();
  do {
    if (rounds_is_closed()) mailbox_close_by_loop();
    mailbox_turn();
  } while (!mailbox_try_release());
}

static void set_up_reactor(void) {
  sent = 0;
  mailbox_make_idle();
  rounds_make(2, run_reactor);
  mailbox_put_on_loop_that_ends(submit_mailbox, rounds_has_ended, rounds_when_ended);
  model_check(rounds_submit(OTHER));
}

static void send_to_reactor(void) { sent += mailbox_send_through_ring(10) == RR_OK; }

/* Only the loop was closed, so the reactor has not ended. */
static void finish_reactor(void) {
  rounds_finish();
  model_check(!lifecycle_has_ended(mailbox_lifecycle()));
  mailbox_finish(sent);
}

const model_case looplife_discarded = {
    .name = "looplife.discarded",
    .about = "closed while a thread sends to a reactor, to which a turn of the loop sends as well",
    .setup = set_up_reactor,
    .threads = {rounds_close, send_to_reactor, rounds_run},
    .finish = finish_reactor,
    .bounds = {2, 1, 0},
    .far = {3, 1, 0},
};

/* MARK: the reactor is closed as well */

static void close_reactor(void) { mailbox_close(CLOSER_DRAINS); }

static void finish_closed(void) {
  rounds_finish();
  model_check(lifecycle_has_ended(mailbox_lifecycle()));
  mailbox_finish(sent);
}

const model_case looplife_discarded_and_closed = {
    .name = "looplife.discarded-and-closed",
    .about = "the same while a fourth thread closes the reactor, which ends once",
    .setup = set_up_reactor,
    .threads = {rounds_close, send_to_reactor, close_reactor, rounds_run},
    .finish = finish_closed,
    .bounds = {1, 1, 0},
    .far = {2, 1, 0},
};
