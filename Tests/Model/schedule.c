/* Which thread runs. A thread runs until it waits, ends, or is interrupted before an operation. */
#include <stdio.h>

#include "model.h"

/* An execution with more steps is considered endless. */
#define MOST_STEPS 5000

typedef enum stage { READY, PAUSED, BLOCKED, FROZEN, ENDED } stage;

typedef struct thread {
  stage stage;
  const void *awaited;
  const char *why;
  bool is_fragile;
} thread;

int model_running;
static thread threads[MODEL_ALL_THREADS];
static int thread_count;
static unsigned steps;
/* How often in a row a thread has paused while no thread wrote anything. */
static unsigned idle;

void model_schedule_reset(int count) {
  thread_count = count;
  model_running = 0;
  steps = 0;
  idle = 0;
  for (int i = 0; i < MODEL_ALL_THREADS; i++) threads[i] = (thread){.stage = READY};
}

int model_self(void) { return model_running; }
bool model_was_frozen(int number) { return threads[number].stage == FROZEN; }
void model_set_fragile(bool fragile) { threads[model_running].is_fragile = fragile; }

void model_note_progress(void) {
  idle = 0;
  for (int i = 1; i <= thread_count; i++) {
    if (threads[i].stage == PAUSED && i != model_running) threads[i].stage = READY;
  }
}

static void switch_to(int next) {
  const int from = model_running;
  model_running = next;
  model_fiber_switch(from, next);
}

/* Lists the other threads that could run. */
static unsigned list_ready(int ready[MODEL_THREADS]) {
  unsigned count = 0;
  for (int i = 1; i <= thread_count; i++) {
    if (i != model_running && threads[i].stage == READY) ready[count++] = i;
  }
  return count;
}

static void report_deadlock(void) {
  for (int i = 1; i <= thread_count; i++) {
    if (threads[i].stage == BLOCKED) {
      model_fail("deadlock: thread %d %s, and no thread is left to wake it", i, threads[i].why);
    }
  }
}

static bool is_over(void) {
  for (int i = 1; i <= thread_count; i++) {
    if (threads[i].stage != ENDED && threads[i].stage != FROZEN) return false;
  }
  return true;
}

/* Lets the threads that paused check again; the running thread last. */
static void end_pauses(void) {
  bool any = false;
  for (int i = 1; i <= thread_count; i++) {
    if (threads[i].stage != PAUSED || i == model_running) continue;
    threads[i].stage = READY;
    any = true;
  }
  if (!any && threads[model_running].stage == PAUSED) threads[model_running].stage = READY;
}

/* Switches to another thread, because the running thread cannot continue or has paused. */
static void run_another(void) {
  int ready[MODEL_THREADS];
  unsigned count = list_ready(ready);
  if (count == 0) {
    if (is_over()) {
      switch_to(0);
      return;
    }
    end_pauses();
    if (threads[model_running].stage == READY) return;
    count = list_ready(ready);
  }
  if (count == 0) report_deadlock();
  switch_to(ready[model_choose(count)]);
}

void model_step(void) {
  if (model_running == 0) return;
  thread *self = &threads[model_running];
  if (++steps > MOST_STEPS)
    model_fail("more than %d steps: the execution does not end", MOST_STEPS);
  if (self->is_fragile && model_choose_fault()) {
    if (model_is_tracing) model_trace("stops for good");
    self->stage = FROZEN;
    run_another();
  }
  int ready[MODEL_THREADS];
  const unsigned others = list_ready(ready);
  const unsigned taken = model_choose_within(&model_left.preemptions, others + 1);
  if (taken != 0) switch_to(ready[taken - 1]);
}

void model_pause(void) {
  if (model_running == 0) return;
  if (++idle > 8 * MODEL_ALL_THREADS) model_fail("no thread makes progress");
  threads[model_running].stage = PAUSED;
  run_another();
}

void model_block(const void *address, const char *why) {
  thread *self = &threads[model_running];
  if (model_running == 0) model_fail("the setup or the finish %s forever", why);
  self->stage = BLOCKED;
  self->awaited = address;
  self->why = why;
  run_another();
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
  run_another();
  __builtin_unreachable();
}

void model_schedule_run(void) {
  if (thread_count == 0) return;
  run_another();
  model_running = 0;
}
