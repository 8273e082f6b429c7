/* The ownership word with a mailbox: "run here if idle, else hand over". As RuntimeOn does
 * (Sources/ReactorRuntime/Reactor/Runtime+Send.swift, Runtime+Turn.swift,
 * Runtime+LoopHosted.swift), with 1 attempt for its 32 before the heavy fence. */
#include "cases.h"
#include "rr_fence.h"

#define MOST_KEPT 4

typedef struct kept {
  uint64_t item, stamp;
} kept;

/* What only the owner may touch. */
typedef struct owned {
  uint64_t processed;
  /* What it sent to itself: processed before what is claimed later. */
  kept queue[MOST_KEPT];
  int queue_first, queue_end;
  bool has_ended;
} owned;

static rr_trampoline *trampoline;
static rr_ring *ring;
static owned *own;
static received got;
/* Of each item, when its sending began and ended. */
static int clock_now, began[100], ended[100];
/* For placement on a loop: who is scheduled, in the order of the scheduling. */
static rr_ring *scheduled;
static rr_eventcount *waiting;
static uint64_t sends_again;
/* As Overflow.isRaised: makes the owner look. */
static struct { _Atomic uint32_t is_set; } * raised;

static uint64_t token(void) { return (uint64_t)(model_self() + 1) << 5; }

static void set_up_new(void) {
  memset(&got, 0, sizeof got);
  memset(began, 0, sizeof began);
  memset(ended, 0, sizeof ended);
  clock_now = 0;
  scheduled = NULL;
  sends_again = 0;
  model_check(rr_trampoline_create(&trampoline, 0) == RR_OK);
  ring = ring_make(4, 0);
  own = model_allocate(sizeof *own);
  raised = model_allocate(sizeof *raised);
}

static void set_up(void) {
  set_up_new();
  model_check(rr_trampoline_try_start(trampoline, token()));
  rr_trampoline_leave(trampoline, 0);
}

static void set_up_loop(void) {
  set_up();
  scheduled = ring_make(4, 0);
  model_check(rr_eventcount_create(&waiting, RR_EVENTCOUNT_FUTEX) == RR_OK);
}

/* MARK: the owner */

/* As Overflow.wasRaised. */
static bool is_raised(void) {
  rr_fence_light();
  return rr_load_seq_cst(MODEL_OF_THE_CASE, &raised->is_set) != 0;
}

static bool is_ring_empty(void) {
  return rr_ring_distance(rr_ring_head(ring), rr_ring_tail(ring)) == 0;
}

static bool is_empty(void) { return is_ring_empty() && !is_raised(); }

static void append(uint64_t item) {
  model_check(own->queue_end < MOST_KEPT);
  own->queue[own->queue_end++] = (kept){item, rr_ring_tail(ring)};
}

static void process(uint64_t item) {
  model_check(rr_trampoline_is_owner(trampoline, token()));
  received_add(&got, item);
  own->processed++;
  /* Item 1x sends item 3x from inside. */
  if (sends_again > 0 && item / 10 == 1) {
    sends_again--;
    const uint64_t next = 30 + item % 10;
    began[next] = ++clock_now;
    append(next);
    ended[next] = ++clock_now;
  }
}

static int process_own(uint64_t before) {
  int count = 0;
  while (own->queue_first < own->queue_end) {
    const kept k = own->queue[own->queue_first];
    if (rr_ring_distance(k.stamp, before) < 0) break;
    own->queue_first++;
    process(k.item);
    count++;
  }
  return count;
}

/* As MailboxOn.drain: what the owner sent to itself, in its place among the others. */
static int turn(void) {
  int count = 0;
  uint64_t cursor = rr_ring_head(ring);
  while (rr_ring_peek(ring, cursor) != 0) {
    count += process_own(cursor);
    process(*(const uint64_t *)rr_ring_payload(ring, cursor));
    rr_ring_release(ring, ++cursor);
    count++;
  }
  count += process_own(cursor);
  if (is_raised()) rr_store_relaxed(&raised->is_set, 0);
  /* As RuntimeOn.endIfDone. */
  if (rr_ring_is_closed(ring) && is_empty()) own->has_ended = true;
  return count;
}

static bool reenters(void) {
  for (int looks = 0; !is_empty(); looks++) {
    if (!rr_trampoline_try_enter(trampoline, token())) return false;
    if (rr_ring_peek(ring, rr_ring_head(ring)) != 0 || is_raised()) return true;
    const uint64_t oldest = rr_ring_head(ring);
    rr_trampoline_leave(trampoline, 0);
    if (looks < 1) continue;
    if (!rr_fence_heavy()) {
      model_pause();
    } else if (rr_ring_peek(ring, oldest) == 0) {
      return false;
    }
  }
  return false;
}

static void run_turns(void) {
  do {
    while (turn() > 0) {
    }
    rr_trampoline_leave(trampoline, 0);
  } while (reenters());
}

/* MARK: whoever sends */

static bool start(void) {
  if (rr_trampoline_slot(trampoline) >= 0) return false;
  if (!rr_trampoline_try_start(trampoline, token())) return false;
  own->processed = 0;
  rr_trampoline_publish(trampoline, token(), 0);
  return true;
}

static void run_or_schedule(void) {
  const bool started = start();
  if (scheduled == NULL) {
    if (started || rr_trampoline_try_enter(trampoline, token())) run_turns();
    return;
  }
  if (!rr_trampoline_try_schedule(trampoline)) return;
  model_check(ring_try_send(scheduled, 1, 1) == RR_OK);
  rr_eventcount_notify(waiting);
}

static void send_through_ring(uint64_t item) {
  model_check(ring_try_send(ring, item, 1) == RR_OK);
  rr_fence_light();
  if (rr_trampoline_was_owner(trampoline) == 0) run_or_schedule();
}

/* The shortest way, for one who finds nobody there and nothing waiting. */
static bool takes_turn(uint64_t item) {
  if (scheduled != NULL || !rr_trampoline_try_enter(trampoline, token())) return false;
  if (rr_ring_is_idle(ring) && !is_raised()) {
    process(item);
    if (own->queue_first == own->queue_end) {
      rr_trampoline_leave(trampoline, 0);
      if (is_empty() || !reenters()) return true;
    }
  } else {
    append(item);
  }
  run_turns();
  return true;
}

static void send(uint64_t item) {
  began[item] = ++clock_now;
  if (!takes_turn(item)) send_through_ring(item);
  ended[item] = ++clock_now;
}

static void send_1_of_1(void) { send(10); }
static void send_1_of_2(void) { send(20); }
static void send_1_of_4(void) { send(40); }
static void send_2_of_1(void) {
  send(10);
  send(11);
}
static void send_2_of_2(void) {
  send(20);
  send(21);
}

/* MARK: what must hold */

/* What was sent before another one's sending began, is processed before it. */
static void check_real_time_order(void) {
  for (int i = 0; i < got.count; i++) {
    for (int j = i + 1; j < got.count; j++) {
      const uint64_t early = got.items[i], late = got.items[j];
      model_check(ended[late] == 0 || ended[late] > began[early]);
    }
  }
}

static void finish_all(int count) {
  model_check(got.count == count);
  received_check_order(&got);
  check_real_time_order();
  model_check(own->processed == (uint64_t)count);
  model_check(rr_trampoline_was_owner(trampoline) == 0);
  model_release(own);
  model_release(raised);
  rr_ring_destroy(ring);
  rr_trampoline_destroy(trampoline);
}

static void finish_2(void) { finish_all(2); }
static void finish_3(void) { finish_all(3); }
static void finish_4(void) { finish_all(4); }

const model_case ownership_two_senders = {
    .name = "ownership.two-senders",
    .about = "two threads send two each: one owner at a time, nothing left behind",
    .setup = set_up,
    .threads = {send_2_of_1, send_2_of_2},
    .finish = finish_4,
    .bounds = {3, 2, 0},
    .far = {4, 3, 0},
};

const model_case ownership_three_senders = {
    .name = "ownership.three-senders",
    .about = "three threads send one each",
    .setup = set_up,
    .threads = {send_1_of_1, send_1_of_2, send_1_of_4},
    .finish = finish_3,
    .bounds = {2, 2, 0},
    .far = {3, 2, 0},
};

const model_case ownership_symmetric = {
    .name = "ownership.symmetric",
    .about = "two threads send two and one, where the kernel has no membarrier",
    .setup = set_up,
    .threads = {send_2_of_1, send_1_of_2},
    .finish = finish_3,
    .is_symmetric = true,
    .bounds = {3, 2, 0},
    .far = {5, 3, 0},
};

const model_case ownership_refused = {
    .name = "ownership.refused",
    .about = "the kernel refuses membarrier: the owner waits for the publication",
    .setup = set_up,
    .threads = {send_2_of_1, send_1_of_2},
    .finish = finish_3,
    .bounds = {3, 2, 2},
    .far = {4, 2, 3},
};

/* Past the shortest way, so that claims and ownership meet more often. */
static void through_ring_1(void) { send_through_ring(10); }
static void through_ring_2(void) { send_through_ring(20); }

const model_case ownership_claim_and_leave = {
    .name = "ownership.claim-and-leave",
    .about = "two threads claim, publish and look, while one of them leaves",
    .setup = set_up,
    .threads = {through_ring_1, through_ring_2},
    .finish = finish_2,
    .bounds = {3, 3, 0},
    .far = {5, 3, 0},
};

/* The look is the attempt to enter, or to schedule. */
static void enter_after_ring(uint64_t item) {
  model_check(ring_try_send(ring, item, 1) == RR_OK);
  rr_fence_light();
  if (rr_trampoline_try_enter(trampoline, token())) run_turns();
}

static void enter_after_1(void) { enter_after_ring(10); }
static void enter_after_2(void) { enter_after_ring(20); }

const model_case ownership_enter_or_go = {
    .name = "ownership.enter-or-go",
    .about = "two threads claim, publish and enter, or go if somebody is there, who then looks",
    .setup = set_up,
    .threads = {enter_after_1, enter_after_2},
    .finish = finish_2,
    .bounds = {4, 3, 0},
    .far = {6, 4, 0},
};

const model_case ownership_starting = {
    .name = "ownership.starting",
    .about = "two threads start it at once and send",
    .setup = set_up_new,
    .threads = {through_ring_1, through_ring_2},
    .finish = finish_2,
    .bounds = {4, 3, 0},
    .far = {6, 4, 0},
};

static void set_up_reentrant(void) {
  set_up();
  sends_again = 1;
}

const model_case ownership_reentrance = {
    .name = "ownership.reentrance",
    .about = "an action sends another from inside, while a second thread sends two",
    .setup = set_up_reentrant,
    .threads = {send_1_of_1, send_2_of_2},
    .finish = finish_4,
    .bounds = {3, 2, 0},
    .far = {4, 3, 0},
};

/* MARK: closing */

/* As RuntimeOn.close: refuses what comes, and makes the owner look once more. */
static void close_it(void) {
  rr_ring_close(ring);
  rr_exchange_seq_cst(MODEL_OF_THE_CASE, &raised->is_set, 1u);
  model_check(rr_fence_heavy());
  if (rr_trampoline_was_owner(trampoline) == 0) run_or_schedule();
}

static int accepted;

static void set_up_closing(void) {
  set_up();
  accepted = 0;
}

static void send_or_find_closed(void) {
  const rr_status status = ring_try_send(ring, 10, 1);
  model_check(status == RR_OK || status == RR_CLOSED);
  accepted += status == RR_OK;
  rr_fence_light();
  if (status == RR_OK && rr_trampoline_was_owner(trampoline) == 0) run_or_schedule();
}

static void finish_closed(void) {
  model_check(own->has_ended);
  finish_all(accepted);
}

const model_case ownership_closing = {
    .name = "ownership.closing",
    .about = "closed while another sends: what was accepted is processed, and then it ends",
    .setup = set_up_closing,
    .threads = {close_it, send_or_find_closed},
    .finish = finish_closed,
    .bounds = {3, 2, 0},
    .far = {5, 3, 0},
};

/* MARK: on a loop */

static void serve(int count) {
  while (got.count < count) {
    uint64_t cursor = rr_ring_head(scheduled);
    while (rr_ring_peek(scheduled, cursor) == 0) {
      const uint32_t key = rr_eventcount_prepare(waiting);
      if (rr_ring_peek(scheduled, cursor) != 0) break;
      rr_eventcount_wait(waiting, key, -1);
    }
    rr_ring_release(scheduled, cursor + 1);
    rr_trampoline_begin(trampoline, token());
    run_turns();
  }
}

static void serve_2(void) { serve(2); }
static void serve_3(void) { serve(3); }

/* Somebody may have scheduled it again for nothing. */
static void finish_loop(int count) {
  if (rr_trampoline_was_owner(trampoline) == RR_TRAMPOLINE_SCHEDULED) {
    rr_trampoline_begin(trampoline, token());
    rr_trampoline_leave(trampoline, 0);
  }
  rr_ring_destroy(scheduled);
  rr_eventcount_destroy(waiting);
  finish_all(count);
}

static void finish_loop_2(void) { finish_loop(2); }
static void finish_loop_3(void) { finish_loop(3); }

const model_case ownership_loop = {
    .name = "ownership.loop",
    .about = "two threads schedule it on a loop that parks",
    .setup = set_up_loop,
    .threads = {send_1_of_1, send_1_of_2, serve_2},
    .finish = finish_loop_2,
    .bounds = {2, 1, 0},
    .far = {3, 2, 0},
};

static void set_up_reentrant_loop(void) {
  set_up_loop();
  sends_again = 1;
}

const model_case ownership_loop_again = {
    .name = "ownership.loop-again",
    .about = "one thread schedules it on a loop twice; an action sends another from inside",
    .setup = set_up_reentrant_loop,
    .threads = {send_2_of_1, serve_3},
    .finish = finish_loop_3,
    .bounds = {3, 2, 0},
    .far = {5, 3, 0},
};
