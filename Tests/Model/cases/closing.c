/* The life of a reactor that several threads close, while another one sends and an owner ends it.
 *
 * What every case checks: the reactor ends exactly once; nothing is accepted after that, and
 * nothing is processed; what was accepted is processed or taken out before; a discard is never
 * undone. Whether an item is processed or reported makes no difference here. */
#include "chain.h"
#include "mailbox.h"

static int accepted, end_count;
/* Whether the life cycle said so after a close that discards. */
static bool has_discarded;
static received got;

static void reset(void) {
  accepted = 0;
  end_count = 0;
  has_discarded = false;
  memset(&got, 0, sizeof got);
}

static void count(rr_status status) {
  model_check(status == RR_OK || status == RR_CLOSED);
  accepted += status == RR_OK;
}

static void check_ended(lifecycle *life) {
  model_check(lifecycle_has_ended(life));
  model_check(!has_discarded || lifecycle_discards(life));
}

/* MARK: a mailbox that grows */

static void set_up_growing(void) {
  reset();
  chain_make(1, 2);
}

static void send_2(void) {
  for (uint64_t i = 0; i < 2; i++) count(chain_offer(10 + i));
}

static void close_chain_by_loop(void) { chain_close(CLOSER_IS_LOOP); }
static void discard_chain(void) {
  chain_close(CLOSER_DISCARDS);
  has_discarded = lifecycle_discards(chain_lifecycle());
}

static void process(uint64_t item, uint64_t cursor) {
  (void)cursor;
  model_check(end_count == 0);
  received_add(&got, item);
}

static bool always(void) { return true; }

/* As Runtime.turn and Runtime.endIfDone. */
static void own_until_ended(void) {
  while (end_count == 0) {
    if (chain_drain(always, chain_any, process) > 0) continue;
    if (!lifecycle_may_end(chain_lifecycle()) || !chain_is_empty()) {
      model_pause();
    } else if (lifecycle_sealed_to_ended(chain_lifecycle())) {
      end_count++;
    }
  }
}

static void finish_growing(void) {
  model_check(end_count == 1 && got.count == accepted && (int)chain_tail() == accepted);
  model_check(chain_offer(30) == RR_CLOSED);
  check_ended(chain_lifecycle());
  chain_free();
}

const model_case lifecycle_growing = {
    .name = "lifecycle.growing",
    .about = "closed by its loop and with a discard while a send puts a larger segment behind",
    .setup = set_up_growing,
    .threads = {send_2, close_chain_by_loop, discard_chain, own_until_ended},
    .finish = finish_growing,
    .bounds = {1, 1, 0},
    .far = {2, 0, 0},
};

/* MARK: several closers */

static void set_up(void) {
  reset();
  mailbox_make_idle();
}

static void send_1(void) { count(mailbox_send_through_ring(10)); }
static void close_to_drain(void) { mailbox_close(CLOSER_DRAINS); }
static void close_to_discard(void) {
  mailbox_close(CLOSER_DISCARDS);
  has_discarded = lifecycle_discards(mailbox_lifecycle());
}

static void finish(void) {
  check_ended(mailbox_lifecycle());
  model_check(mailbox_send(40) == RR_CLOSED);
  mailbox_finish(accepted);
}

const model_case lifecycle_closers = {
    .name = "lifecycle.closers",
    .about = "one thread closes with a drain and another with a discard, while a third one sends",
    .setup = set_up,
    .threads = {close_to_drain, close_to_discard, send_1},
    .finish = finish,
    .bounds = {2, 1, 0},
    .far = {3, 1, 0},
};

/* It stops anywhere between its first transition and the request that the owner check once more. */
static void close_fragile(void) { mailbox_close_fragile(CLOSER_DRAINS); }

const model_case lifecycle_frozen = {
    .name = "lifecycle.frozen",
    .about = "a closer stops permanently before the owner must check: another closer does the rest",
    .setup = set_up,
    .threads = {close_fragile, close_to_drain, send_1},
    .finish = finish,
    .bounds = {2, 1, 1},
    .far = {3, 2, 1},
};

/* MARK: closed by the loop */

/* Nobody has closed the reactor itself, so it has not ended; but it can still be ended. */
static void finish_loop_only(void) {
  model_check(!lifecycle_has_ended(mailbox_lifecycle()));
  model_check(mailbox_send_through_ring(40) == RR_CLOSED);
  close_to_drain();
  finish();
}

const model_case lifecycle_loop_only = {
    .name = "lifecycle.loop-only",
    .about =
        "closed by its loop only, while another thread sends: it ends when it is closed itself",
    .setup = set_up,
    .threads = {mailbox_close_by_loop, send_1},
    .finish = finish_loop_only,
    .bounds = {3, 2, 0},
    .far = {5, 3, 0},
};

const model_case lifecycle_loop_and_drain = {
    .name = "lifecycle.loop-and-drain",
    .about = "closed by its loop and by another thread, while a third one sends",
    .setup = set_up,
    .threads = {mailbox_close_by_loop, close_to_drain, send_1},
    .finish = finish,
    .bounds = {2, 1, 0},
    .far = {3, 1, 0},
};

/* The loop has ended, so each thread that schedules takes the mailbox out itself. */
static void set_up_refused(void) {
  set_up();
  mailbox_put_on_loop(mailbox_discard);
}

const model_case lifecycle_discarded = {
    .name = "lifecycle.discarded",
    .about = "its loop has ended: one thread closes and one sends, and both discard the mailbox",
    .setup = set_up_refused,
    .threads = {close_to_drain, send_1},
    .finish = finish,
    .bounds = {3, 2, 0},
    .far = {5, 3, 0},
};
