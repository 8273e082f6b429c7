/* A loop that is closed: see rounds.h. */
#include "rounds.h"

typedef struct inbox_contents {
  /* Under the lock, which is this object: what is beside the ring. */
  received items;
} inbox_contents;

typedef struct loop_state {
  loop_lifecycle life;
  _Atomic uint32_t has_contents;
} loop_state;

/* Only the thread that runs the rounds accesses it. Of a loop without a thread, it is the lock. */
typedef struct loop_rounds {
  uint64_t taken_in[MOST_ITEMS];
  int taken_count;
  int run_count;
} loop_rounds;

static rr_ring *ring;
static rr_eventcount *wake;
static inbox_contents *contents;
static loop_state *state;
static loop_rounds *rounds;
/* What runs after the end, and what waits until that has returned. */
static termination *ended, *completed;
static void (*run_item)(uint64_t item);
/* For checks. */
static int seal_count, end_count;

void rounds_make(uint64_t capacity, void (*run)(uint64_t item)) {
  ring = ring_make(capacity, 0);
  model_check(rr_eventcount_create(&wake, RR_EVENTCOUNT_FUTEX) == RR_OK);
  contents = model_allocate(sizeof *contents);
  state = model_allocate(sizeof *state);
  rounds = model_allocate(sizeof *rounds);
  ended = model_allocate(sizeof *ended);
  completed = model_allocate(sizeof *completed);
  run_item = run;
  seal_count = 0;
  end_count = 0;
}

/* MARK: the inbox */

static bool refuses_nothing(void) { return false; }
static bool refuses_if_ring_is_closed(void) { return rr_ring_is_closed(ring); }
static bool refuses_if_closed(void) { return loop_lifecycle_is_closed(&state->life); }
static bool refuses_if_sealed(void) { return loop_lifecycle_is_sealed(&state->life); }

/* As LoopInbox.tryAdd. */
static bool try_add(bool (*is_refused)(void), uint64_t item) {
  model_mutex_lock(contents);
  const bool is_added = !is_refused();
  if (is_added) {
    model_check(seal_count == 0);
    received_add(&contents->items, item);
    rr_store_relaxed(&state->has_contents, 1);
  }
  model_mutex_unlock(contents);
  return is_added;
}

/* As LoopInbox.post. */
static bool post(bool (*is_refused)(void), uint64_t item) {
  const bool is_added = try_add(is_refused, item);
  if (is_added) rr_eventcount_notify(wake);
  return is_added;
}

/* As LoopInbox.submit. */
bool rounds_submit(uint64_t item) {
  const rr_status status = ring_try_send(ring, item, 1);
  if (status == RR_CLOSED) return false;
  if (status == RR_FULL && !try_add(refuses_if_ring_is_closed, item)) return false;
  rr_eventcount_notify(wake);
  return true;
}

bool rounds_post(uint64_t item) { return post(refuses_if_closed, item); }
bool rounds_post_piece(uint64_t item) { return post(refuses_if_sealed, item); }
bool rounds_post_from_turn(uint64_t item) { return post(refuses_if_sealed, item); }
void rounds_submit_from_turn(uint64_t item) { model_check(try_add(refuses_nothing, item)); }

/* As LoopInbox.isReady. */
static bool is_ready(void) {
  return rr_ring_peek(ring, rr_ring_head(ring)) != 0 || rr_ring_is_closed(ring) ||
         rr_load_relaxed(&state->has_contents) != 0;
}

/* As LoopInbox.isRingDrained. */
static bool is_ring_drained(void) {
  return rr_ring_is_closed(ring) && rr_ring_distance(rr_ring_head(ring), rr_ring_tail(ring)) == 0;
}

/* MARK: closing */

static void close_inbox(void) {
  rr_ring_close(ring);
  rr_eventcount_notify(wake);
}

void rounds_close(void) {
  loop_lifecycle_open_to_closing(&state->life);
  close_inbox();
}

void rounds_close_fragile(void) {
  model_set_fragile(true);
  loop_lifecycle_open_to_closing(&state->life);
  /* One more operation, at which it may stop: the loop is closing, and its ring is open. */
  rounds_is_closed();
  model_set_fragile(false);
  close_inbox();
}

bool rounds_is_closed(void) { return loop_lifecycle_is_closed(&state->life); }
bool rounds_has_ended(void) { return loop_lifecycle_has_ended(&state->life); }
void rounds_when_ended(void (*action)(void)) { termination_when_over(ended, action); }
void rounds_when_completed(void (*action)(void)) { termination_when_over(completed, action); }
int rounds_count(void) { return rounds->run_count; }

/* MARK: the thread that runs the rounds */

static void accept(uint64_t item) {
  model_check(rounds->taken_count < MOST_ITEMS);
  rounds->taken_in[rounds->taken_count++] = item;
}

/* As LoopRounds.takeContents. */
static void take_contents(void) {
  model_mutex_lock(contents);
  rr_store_relaxed(&state->has_contents, 0);
  const received taken = contents->items;
  contents->items.count = 0;
  model_mutex_unlock(contents);
  for (int i = 0; i < taken.count; i++) accept(taken.items[i]);
}

static bool is_done(void) { return rounds->taken_count == 0; }

/* As LoopState.asCurrent, without the thread's token: only the thread itself asks. */
static int current_thread;

bool rounds_is_current(void) { return current_thread == model_self() && !rounds_has_ended(); }

/* As OwnedReactors.runTurns, of one that was taken in. */
static int run_taken(void) {
  model_check(seal_count == 0 && end_count == 0);
  rounds->run_count++;
  current_thread = model_self();
  run_item(rounds->taken_in[--rounds->taken_count]);
  current_thread = -1;
  return 1;
}

/* As LoopRounds.runRound. Returns how many items it ran. */
static int run_round(void) {
  if (rr_load_relaxed(&state->has_contents) != 0) take_contents();
  const int arriving = (int)rr_ring_distance(rr_ring_head(ring), rr_ring_tail(ring));
  /* One turn only, of those that it owns or else of those that arrive, so that there are rounds
   * that end with something left. */
  if (!is_done()) return run_taken();
  received from_ring = {.count = 0};
  ring_drain(ring, &from_ring, arriving < MOST_ITEMS ? arriving : MOST_ITEMS, MOST_ITEMS);
  for (int i = 0; i < from_ring.count; i++) accept(from_ring.items[i]);
  return is_done() ? 0 : run_taken();
}

/* As LoopState.trySeal and LoopState.sealIfInboxIsEmpty. */
static bool try_seal(void) {
  if (!is_ring_drained()) return false;
  model_mutex_lock(contents);
  const bool is_sealed =
      contents->items.count == 0 && loop_lifecycle_closing_to_sealed(&state->life);
  seal_count += is_sealed;
  model_mutex_unlock(contents);
  return is_sealed;
}

/* As LoopState.endIfSealed and LoopLifecycle.runEndActions. */
static void end_if_sealed(void) {
  if (!loop_lifecycle_is_sealed(&state->life)) return;
  if (!loop_lifecycle_sealed_to_ended(&state->life)) return;
  model_check(seal_count == 1 && ++end_count == 1);
  model_set_fragile(false);
  termination_finish(ended);
  termination_finish(completed);
}

/* As LoopState.park. */
static void park(void) {
  const uint32_t key = rr_eventcount_prepare(wake);
  if (!is_ready()) rr_eventcount_wait(wake, key, -1);
}

void rounds_run(void) {
  do {
    if (run_round() > 0) continue;
    if (is_ready()) {
      model_pause();
    } else {
      park();
    }
  } while (!(rounds_is_closed() && is_done() && try_seal()));
  end_if_sealed();
}

/* MARK: a loop without a thread */

/* Returns whether there was nothing to do. */
static bool step(bool is_fragile) {
  model_mutex_lock(rounds);
  const bool is_idle = run_round() == 0;
  const bool is_sealed = rounds_is_closed() && is_done() && try_seal();
  model_mutex_unlock(rounds);
  if (is_fragile && is_sealed) model_set_fragile(true);
  end_if_sealed();
  model_set_fragile(false);
  return is_idle;
}

void rounds_step_fragile(void) { step(true); }

void rounds_shut_down(void) {
  rounds_close();
  while (!rounds_has_ended()) {
    if (step(false) && !rounds_has_ended()) model_pause();
  }
}

/* As LoopInbox.isWaiting and HostedLoop.isEnding. */
static bool must_run_again(void) {
  return rr_ring_peek(ring, rr_ring_head(ring)) != 0 ||
         rr_load_relaxed(&state->has_contents) != 0 || (rounds_is_closed() && !rounds_has_ended());
}

void rounds_host(void) {
  uint32_t key = 0;
  for (;;) {
    if (!step(false)) continue;
    if (rounds_has_ended()) return;
    key = rr_eventcount_prepare_again(wake, key);
    if (must_run_again()) {
      model_pause();
    } else {
      rr_eventcount_wait(wake, key, -1);
    }
  }
}

/* MARK: what must hold */

void rounds_finish(void) {
  model_check(seal_count == 1 && end_count == 1 && rounds_has_ended());
  model_check(is_ring_drained() && contents->items.count == 0 && is_done());
  model_check(!rounds_submit(90) && !rounds_post(91) && !rounds_post_piece(92));
  rr_ring_destroy(ring);
  rr_eventcount_destroy(wake);
  model_release(contents);
  model_release((void *)state);
  model_release(rounds);
  model_release(ended);
  model_release(completed);
}
