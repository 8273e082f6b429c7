/* The life of a loop that is closed while other threads submit to it and its rounds run.
 *
 * What every case checks: the loop is sealed once and ends once; what it has accepted is run,
 * exactly once, before it is sealed; nothing is accepted afterwards; what it has refused is not
 * run, and its sender takes it over after the end; by the time a close has returned, other
 * threads are refused; what waits for the end is told once, and sees what the turns wrote. */
#include "rounds.h"

/* What became of each item. */
enum { UNSEEN, ACCEPTED, REFUSED, RUN };
static int fates[100];
static int accepted, ran, late, refused, taken_over, end_actions;
static bool has_closed;

/* Edges of the cases: whether a thread that waits for the end was woken, whether a close has
 * returned, and how many items were run. And a reason to close. */
static struct {
  _Atomic uint32_t is_woken[2];
  _Atomic uint32_t has_closed;
  _Atomic uint32_t ran;
  int reason;
} * signals;

static void note(uint64_t item, bool is_accepted) {
  model_check(fates[item] == UNSEEN || (fates[item] == RUN && is_accepted));
  accepted += is_accepted;
  if (fates[item] != RUN) fates[item] = is_accepted ? ACCEPTED : REFUSED;
}

/* May come before the submission has returned. */
static void run(uint64_t item) {
  model_check(fates[item] == UNSEEN || fates[item] == ACCEPTED);
  fates[item] = RUN;
  ran++;
}

/* Waits for the end from the beginning on. */
static void note_end(void) {
  /* First of all, since a load of the word would acquire what the turns wrote. */
  model_check(rounds_count() == ran);
  model_check(rounds_has_ended());
  end_actions++;
}

static void set_up_with(void (*run_item)(uint64_t item)) {
  memset(fates, 0, sizeof fates);
  accepted = ran = late = refused = taken_over = end_actions = 0;
  has_closed = false;
  signals = model_allocate(sizeof *signals);
  rounds_make(1, run_item);
  rounds_when_ended(note_end);
}

static void set_up(void) { set_up_with(run); }

static void finish(void) {
  model_check(ran == accepted && rounds_count() == accepted && taken_over == refused);
  model_check(end_actions == 1);
  rounds_finish();
  model_release((void *)signals);
}

/* MARK: what the threads do */

/* As Runtime.discardMailbox, of a reactor that the loop has refused: what belongs to the loop's
 * thread may be touched after the end only. */
static void take_over(void) {
  taken_over++;
  model_check(rounds_has_ended() && rounds_count() == ran);
}

static void discard(void) {
  refused++;
  /* The sender goes on without the loop unless it finds a loop that is closed and has not ended. */
  model_check(rounds_is_closed());
  if (rounds_has_ended()) {
    take_over();
  } else {
    rounds_when_ended(take_over);
  }
}

static void submit(uint64_t item) {
  const bool was_closed = has_closed;
  const bool is_accepted = rounds_submit(item);
  note(item, is_accepted);
  model_check(!is_accepted || !was_closed);
  if (!is_accepted) discard();
}

static void submit_1(void) { submit(10); }
static void submit_2(void) {
  submit(10);
  submit(11);
}

static void wake_1(void) { rr_store_release(MODEL_OF_THE_CASE, &signals->is_woken[0], 1); }
static void wake_2(void) { rr_store_release(MODEL_OF_THE_CASE, &signals->is_woken[1], 1); }

/* As Loop.finishClosing. Everything that waited for the end when the loop ended has been told. */
static void wait_for_end(int waiter, void (*wake)(void)) {
  rounds_when_completed(wake);
  while (rr_load_acquire(MODEL_OF_THE_CASE, &signals->is_woken[waiter]) == 0) model_pause();
  model_check(end_actions == 1 && rounds_count() == ran);
  model_check(rounds_has_ended());
}

static void close_loop(void) {
  rounds_close();
  has_closed = true;
  rr_store_release(MODEL_OF_THE_CASE, &signals->has_closed, 1);
}

static void shut_down_1(void) {
  close_loop();
  wait_for_end(0, wake_1);
}

static void shut_down_2(void) {
  close_loop();
  wait_for_end(1, wake_2);
}

/* MARK: several closers */

const model_case looplife_closers = {
    .name = "looplife.closers",
    .about = "two threads shut a loop down and wait for its end, while a third "
             "submits",
    .setup = set_up,
    .threads = {shut_down_1, shut_down_2, submit_1, rounds_run},
    .finish = finish,
    .bounds = {1, 1, 0},
    .far = {2, 0, 0},
};

const model_case looplife_full = {
    .name = "looplife.full",
    .about = "shut down while another thread submits to a full inbox, and so "
             "beside the ring",
    .setup = set_up,
    .threads = {shut_down_1, submit_2, rounds_run},
    .finish = finish,
    .bounds = {2, 1, 0},
    .far = {3, 1, 0},
};

const model_case looplife_frozen = {
    .name = "looplife.frozen",
    .about = "a closer stops permanently before it has closed the inbox: "
             "another closer does so",
    .setup = set_up,
    .threads = {rounds_close_fragile, shut_down_2, submit_1, rounds_run},
    .finish = finish,
    .bounds = {1, 1, 1},
    .far = {2, 0, 1},
};

/* MARK: before the close */

static void await(uint32_t count) {
  while (rr_load_acquire(MODEL_OF_THE_CASE, &signals->ran) < count) model_pause();
}

/* Through the ring, or beside it if it is full; then as a job. The loop must not sleep until it
 * is closed. */
static void submit_await_and_close(void) {
  submit(10);
  submit(11);
  await(2);
  model_check(rounds_post(20));
  note(20, true);
  await(3);
  shut_down_1();
}

static void run_and_signal(uint64_t item) {
  run(item);
  rr_store_release(MODEL_OF_THE_CASE, &signals->ran, (uint32_t)ran);
}

static void set_up_awaited(void) { set_up_with(run_and_signal); }

const model_case looplife_awaited = {
    .name = "looplife.awaited",
    .about = "a thread submits to the loop, and closes it once everything was run",
    .setup = set_up_awaited,
    .threads = {submit_await_and_close, rounds_run},
    .finish = finish,
    .bounds = {2, 1, 0},
    .far = {3, 1, 0},
};

/* Why the loop was closed: a thread that finds it closed must see the reason. */
static void close_for_a_reason(void) {
  signals->reason = 7;
  close_loop();
}

static void find_closed(void) {
  if (rounds_is_closed()) model_check(signals->reason == 7);
}

const model_case looplife_closed_because = {
    .name = "looplife.closed-because",
    .about = "a thread that finds the loop closed sees what was written before "
             "it was closed",
    .setup = set_up,
    .threads = {close_for_a_reason, find_closed, rounds_run},
    .finish = finish,
    .bounds = {3, 2, 0},
    .far = {4, 2, 0},
};

/* MARK: jobs, pieces of tasks, and what turns submit */

static void run_late(void) {
  model_check(rounds_count() == ran);
  late++;
}

/* The first item submits a reactor and a job, as a turn or a job of the loop. */
static void run_and_submit(uint64_t item) {
  run(item);
  if (item != 10) return;
  rounds_submit_from_turn(30);
  note(30, true);
  model_check(rounds_post_from_turn(31));
  note(31, true);
}

static void set_up_jobs(void) {
  set_up_with(run_and_submit);
  model_check(rounds_submit(10));
  note(10, true);
}

static void post_1(void) {
  /* A job is refused by a load, so this thread must know of the close. */
  const bool was_closed = rr_load_acquire(MODEL_OF_THE_CASE, &signals->has_closed) != 0;
  const bool is_accepted = rounds_post(20);
  note(20, is_accepted);
  model_check(is_accepted ? !was_closed : rounds_is_closed());
}

static void post_piece(void) {
  const bool is_accepted = rounds_post_piece(40);
  note(40, is_accepted);
  if (!is_accepted) rounds_when_ended(run_late);
}

static void finish_pieces(void) {
  model_check(late == (fates[40] == REFUSED));
  finish();
}

const model_case looplife_from_turns = {
    .name = "looplife.from-turns",
    .about = "closed while a turn submits a reactor and a job, and another "
             "thread posts a job",
    .setup = set_up_jobs,
    .threads = {close_loop, post_1, rounds_run},
    .finish = finish,
    .bounds = {2, 1, 0},
    .far = {3, 1, 0},
};

const model_case looplife_pieces = {
    .name = "looplife.pieces",
    .about = "closed while another thread posts a piece of a task: the loop "
             "runs it, or it is late",
    .setup = set_up,
    .threads = {close_loop, post_piece, rounds_run},
    .finish = finish_pieces,
    .bounds = {3, 2, 0},
    .far = {4, 2, 0},
};

/* MARK: a loop without a thread */

const model_case looplife_stepped = {
    .name = "looplife.stepped",
    .about = "two threads shut down a loop without a thread, and run its "
             "rounds; a third submits",
    .setup = set_up,
    .threads = {rounds_shut_down, rounds_shut_down, submit_1},
    .finish = finish,
    .bounds = {2, 1, 0},
    .far = {3, 1, 0},
};

static void step_fragile(void) {
  for (int i = 0; i < 3; i++) rounds_step_fragile();
}

const model_case looplife_frozen_step = {
    .name = "looplife.frozen-step",
    .about = "a thread that has sealed a loop stops permanently: the next one "
             "to run a round ends it",
    .setup = set_up,
    .threads = {step_fragile, rounds_shut_down, submit_1},
    .finish = finish,
    .bounds = {2, 1, 1},
    .far = {3, 1, 1},
};

const model_case looplife_hosted = {
    .name = "looplife.hosted",
    .about = "closed while a foreign loop that runs its rounds goes to sleep; "
             "a third thread submits",
    .setup = set_up,
    .threads = {shut_down_1, submit_1, rounds_host},
    .finish = finish,
    .bounds = {2, 1, 0},
    .far = {3, 1, 0},
};
