/* Who runs. A thread goes on until it waits, ends, or is interrupted before an operation. */
#include <stdio.h>

#include "model.h"

/* So many steps, and it does not end. */
#define MOST_STEPS 5000

typedef enum stage { READY, PAUSED, BLOCKED, FROZEN, ENDED } stage;

typedef struct thread {
  stage stage;
  const void *awaited;
  const char *why;
  bool is_fragile;
} thread;

int model_running;
static thread threads[MODEL_EVERYBODY];
static int thread_count;
static unsigned steps;
/* How often in a row somebody paused, and nobody had written anything. */
static unsigned idle;

void model_schedule_reset(int count) {
  thread_count = count;
  model_running = 0;
  steps = 0;
  idle = 0;
  for (int i = 0; i < MODEL_EVERYBODY; i++) threads[i] = (thread){.stage = READY};
}

int model_self(void) { return model_running; }
bool model_was_frozen(int number) { return threads[number].stage == FROZEN; }
void model_fragile(bool fragile) { threads[model_running].is_fragile = fragile; }

void model_note_progress(void) {
  idle = 0;
  for (int i = 1; i <= thread_count; i++) {
    if (threads[i].stage == PAUSED && i != model_running) threads[i].stage = READY;
  }
}

static void go_to(int next) {
  const int from = model_running;
  model_running = next;
  model_fiber_switch(from, next);
}

/* The others that could run. */
static unsigned list_ready(int ready[MODEL_THREADS]) {
  unsigned count = 0;
  for (int i = 1; i <= thread_count; i++) {
    if (i != model_running && threads[i].stage == READY) ready[count++] = i;
  }
  return count;
}

static void complain_of_deadlock(void) {
  for (int i = 1; i <= thread_count; i++) {
    if (threads[i].stage == BLOCKED) {
      model_fail("deadlock: thread %d %s, and nobody is left to wake it", i, threads[i].why);
    }
  }
}

static bool is_over(void) {
  for (int i = 1; i <= thread_count; i++) {
    if (threads[i].stage != ENDED && threads[i].stage != FROZEN) return false;
  }
  return true;
}

/* Lets those look again that paused; the running thread last. */
static void end_pauses(void) {
  bool any = false;
  for (int i = 1; i <= thread_count; i++) {
    if (threads[i].stage != PAUSED || i == model_running) continue;
    threads[i].stage = READY;
    any = true;
  }
  if (!any && threads[model_running].stage == PAUSED) threads[model_running].stage = READY;
}

/* The running thread cannot go on, or does not want to. */
static void leave(void) {
  int ready[MODEL_THREADS];
  unsigned count = list_ready(ready);
  if (count == 0) {
    if (is_over()) {
      go_to(0);
      return;
    }
    end_pauses();
    if (threads[model_running].stage == READY) return;
    count = list_ready(ready);
  }
  if (count == 0) complain_of_deadlock();
  go_to(ready[model_choose(count)]);
}

void model_step(void) {
  if (model_running == 0) return;
  thread *self = &threads[model_running];
  if (++steps > MOST_STEPS) model_fail("more than %d steps: it does not end", MOST_STEPS);
  if (self->is_fragile && model_may_fail()) {
    if (model_is_tracing) model_trace("stops for good");
    self->stage = FROZEN;
    leave();
  }
  int ready[MODEL_THREADS];
  const unsigned others = list_ready(ready);
  const unsigned taken = model_choose_within(&model_left.preemptions, others + 1);
  if (taken != 0) go_to(ready[taken - 1]);
}

void model_pause(void) {
  if (model_running == 0) return;
  if (++idle > 8 * MODEL_EVERYBODY) model_fail("nobody makes progress");
  threads[model_running].stage = PAUSED;
  leave();
}

void model_block(const void *address, const char *why) {
  thread *self = &threads[model_running];
  if (model_running == 0) model_fail("the setup or the end %s for ever", why);
  self->stage = BLOCKED;
  self->awaited = address;
  self->why = why;
  leave();
}

void model_wake(const void *address) {
  for (int i = 1; i <= thread_count; i++) {
    if (threads[i].stage == BLOCKED && threads[i].awaited == address) threads[i].stage = READY;
  }
}

void model_schedule_end_thread(void) {
  threads[model_running].stage = ENDED;
  idle = 0;
  for (int i = 1; i <= thread_count; i++) {
    if (threads[i].stage == PAUSED) threads[i].stage = READY;
  }
  leave();
  __builtin_unreachable();
}

void model_schedule_run(void) {
  if (thread_count == 0) return;
  leave();
  model_running = 0;
}
