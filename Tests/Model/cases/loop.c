/* A loop: see loop.h. */
#include "loop.h"

static rr_ring *scheduled;
static rr_eventcount *waiting;
/* Of a loop that other threads step: which thread runs the next round, and whether the loop holds
 * the reactor. */
static struct {
  _Atomic uint32_t turn;
  bool serves;
} * hosting;

static void submit(void) {
  model_check(ring_try_send(scheduled, 1, 1) == RR_OK);
  rr_eventcount_notify(waiting);
}

void loop_make(void) {
  scheduled = ring_make(4, 0);
  model_check(rr_eventcount_create(&waiting, RR_EVENTCOUNT_FUTEX) == RR_OK);
  hosting = model_allocate(sizeof *hosting);
  mailbox_put_on_loop(submit);
}

/* The mailbox may have been scheduled once more with nothing left to do. */
void loop_finish(void) {
  if (mailbox_is_scheduled()) {
    mailbox_acquire_scheduled();
    model_check(mailbox_turn() == 0 && mailbox_try_release());
  }
  rr_ring_destroy(scheduled);
  rr_eventcount_destroy(waiting);
  model_release(hosting);
}

static bool take_scheduled(void) {
  const uint64_t cursor = rr_ring_head(scheduled);
  if (rr_ring_peek(scheduled, cursor) == 0) return false;
  rr_ring_release(scheduled, cursor + 1);
  return true;
}

void loop_serve(int count) {
  while (mailbox_processed() < count) {
    while (!take_scheduled()) {
      const uint32_t key = rr_eventcount_prepare(waiting);
      if (take_scheduled()) break;
      rr_eventcount_wait(waiting, key, -1);
    }
    mailbox_acquire_scheduled();
    do {
      mailbox_turn();
    } while (!mailbox_try_release());
  }
}

/* As LoopStepper and OwnedReactors. */
static void run_round(void) {
  mailbox_acquire_scheduled();
  if (mailbox_turn() > 0 || !mailbox_try_release()) {
    mailbox_reschedule();
  } else {
    hosting->serves = false;
  }
}

void loop_host(unsigned number, int count) {
  while (mailbox_processed() < count) {
    if (rr_load_acquire(MODEL_OF_THE_CASE, &hosting->turn) != number) {
      model_pause();
      continue;
    }
    if (!hosting->serves) hosting->serves = take_scheduled();
    if (!hosting->serves) {
      model_pause();
      continue;
    }
    run_round();
    rr_store_release(MODEL_OF_THE_CASE, &hosting->turn, 1 - number);
  }
}
