/* Executions, and their threads. */
/* For PTHREAD_DESTRUCTOR_ITERATIONS. */
#define _GNU_SOURCE

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "internal.h"

/* The clock begins here, so that no time is near zero. */
#define BEGINNING INT64_C(1000000000000)
/* How long the other threads may use the clock after the body has returned. */
#define AFTERMATH_NS INT64_C(600000000000)
/* A thread that has the baton but comes to no point is blocked outside of the scheduler. */
#define WATCHDOG_NS INT64_C(20000000000)

/* MARK: threads */

static pthread_key_t end_key;
static pthread_once_t end_key_once = PTHREAD_ONCE_INIT;

/* Ends the controlled thread after the destructors of all other keys, which the library uses. The
 * system calls the destructors of keys that are set again, up to four times. */
static void end_later(void *rounds) {
  const uintptr_t left = (uintptr_t)rounds;
  if (left > 1) {
    pthread_setspecific(end_key, (void *)(left - 1));
    return;
  }
  thread *const me = ctl_self;
  execution *const now = ctl_current;
  ctl_drain(me);
  ctl_note(now, me, "ends", NULL, CTL_NOWHERE);
  me->state = ENDED;
  ctl_wake(me);
  if (me->number == 0) {
    now->is_closing = true;
    now->horizon = now->now + AFTERMATH_NS;
  }
  thread *const next = ctl_choose(now);
  ctl_self = NULL;
  if (next == NULL) {
    ctl_end_execution(now);
  } else {
    ctl_give_baton(now, next);
  }
}

static void make_end_key(void) { pthread_key_create(&end_key, end_later); }

static void *run_thread(void *argument) {
  thread *const me = argument;
  ctl_self = me;
  pthread_setspecific(end_key, (void *)(uintptr_t)PTHREAD_DESTRUCTOR_ITERATIONS);
  ctl_await_baton(me);
  return me->body(me->argument);
}

static thread *add_thread(execution *now, void *(*body)(void *), void *argument) {
  pthread_once(&end_key_once, make_end_key);
  thread *const added = calloc(1, sizeof *added);
  if (added == NULL || now->thread_count == MOST_THREADS) {
    fprintf(stderr, "controlled: more than %d threads, or no memory\n", MOST_THREADS);
    abort();
  }
  added->number = now->thread_count;
  added->deadline = INT64_MAX;
  added->body = body;
  added->argument = argument;
  added->what = "starts";
  ctl_strategy_add(now, added);
  now->threads[now->thread_count++] = added;
  const int failure = ctl_real_create(&added->handle, NULL, run_thread, added);
  if (failure != 0) {
    fprintf(stderr, "controlled: the system gave no thread: %s\n", strerror(failure));
    abort();
  }
  return added;
}

thread *ctl_start_thread(void *(*body)(void *), void *argument) {
  execution *const now = ctl_current;
  ctl_drain(ctl_self);
  thread *const added = add_thread(now, body, argument);
  ctl_note_write();
  ctl_point("starts a thread", added, CTL_NOWHERE);
  return added;
}

thread *ctl_thread_of(pthread_t handle) {
  /* The newest first: a thread that was detached and has ended may have had the same handle. */
  for (uint32_t i = ctl_current->thread_count; i > 0; i--) {
    thread *const found = ctl_current->threads[i - 1];
    if (!found->is_joined && pthread_equal(found->handle, handle)) return found;
  }
  return NULL;
}

/* MARK: executions */

typedef struct body {
  void (*run)(void *);
  void *context;
} body;

static void *run_body(void *argument) {
  const body *const body = argument;
  prctl(PR_SET_NAME, "body", 0, 0, 0);
  body->run(body->context);
  return NULL;
}

static void await_end(execution *now) {
  uint32_t seen = 0;
  while (__atomic_load_n(&now->is_over, __ATOMIC_ACQUIRE) == 0) {
    ctl_futex_wait(&now->is_over, 0, WATCHDOG_NS);
    const uint32_t points = __atomic_load_n(&now->points, __ATOMIC_RELAXED);
    if (points == seen && __atomic_load_n(&now->is_over, __ATOMIC_ACQUIRE) == 0) {
      ctl_report(now,
                 "the running thread comes to no point: it is blocked outside of the scheduler");
      fprintf(stderr, "%s", now->outcome->text);
      abort();
    }
    seen = points;
  }
}

#define MOST_RESETS 4
static void (*resets[MOST_RESETS])(void);
static uint32_t reset_count;

void ctl_at_begin(void (*reset)(void)) {
  if (reset_count == MOST_RESETS) abort();
  resets[reset_count++] = reset;
}

void ctl_run(const ctl_options *options, void (*run)(void *), void *context, ctl_outcome *outcome) {
  execution *const now = calloc(1, sizeof *now);
  if (now == NULL) abort();
  *outcome = (ctl_outcome){.hash = UINT64_C(0xCBF29CE484222325), .text = ""};
  now->options = *options;
  now->outcome = outcome;
  now->now = BEGINNING;
  ctl_current = now;
  for (uint32_t i = 0; i < reset_count; i++) resets[i]();
  ctl_report_begin(now);
  ctl_strategy_begin(now);
  body of_execution = {run, context};
  thread *const first = add_thread(now, run_body, &of_execution);
  ctl_give_baton(now, first);
  await_end(now);
  if (outcome->failed) return;
  ctl_real_join(first->handle, NULL);
  for (uint32_t i = 0; i < now->thread_count; i++) free(now->threads[i]);
  free(now);
  ctl_current = NULL;
}
