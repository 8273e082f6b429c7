/* The part of Dispatch that the library uses on its own: jobs of the concurrent global queues, at
 * once or later, timers on them, jobs of the main queue, and semaphores. Each job and each timer of
 * a global queue becomes a controlled thread. A burst of the main queue's jobs has one together, as
 * it has after dispatchMain(), where any thread of Dispatch's may run it. */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "internal.h"

/* As in <dispatch/dispatch.h>, which needs the compiler's blocks. */
typedef uint64_t dispatch_time_t;
struct block {
  void *class;
  int flags, reserved;
  void (*invoke)(struct block *);
};
extern void *_Block_copy(const void *block);
extern void _Block_release(const void *block);
extern char _dispatch_main_q[];
void *dispatch_get_global_queue(intptr_t priority, uintptr_t flags);
const char *dispatch_queue_get_label(const void *queue);
void *dispatch_get_specific(const void *key);
void *dispatch_queue_get_specific(void *queue, const void *key);
void dispatch_async(void *queue, struct block *block);
void dispatch_after(dispatch_time_t when, void *queue, struct block *block);
typedef const struct dispatch_source_type *source_type;
extern const char _dispatch_source_type_timer[];
void *dispatch_source_create(source_type type, uintptr_t handle, uintptr_t mask, void *queue);
void dispatch_source_set_event_handler(void *source, struct block *handler);
void dispatch_source_set_timer(void *source, dispatch_time_t start, uint64_t interval,
                               uint64_t leeway);
void dispatch_activate(void *object);
void dispatch_resume(void *object);
void dispatch_source_cancel(void *source);
intptr_t dispatch_semaphore_wait(void *semaphore, dispatch_time_t timeout);
intptr_t dispatch_semaphore_signal(void *semaphore);

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* A time of the clock that stands still while the machine sleeps; not one of the wall clock. */
static int64_t deadline_of(dispatch_time_t when) {
  if (when == UINT64_MAX) return INT64_MAX;
  if (when >> 62 != 0) ctl_fail("a body uses the wall clock of Dispatch, which is not controlled");
  return when == 0 ? ctl_clock_ns() : (int64_t)when;
}

/* MARK: jobs */

typedef struct job {
  struct block *block;
  int64_t due;
} job;

static void *run_job(void *argument) {
  job *const job = argument;
  prctl(PR_SET_NAME, "dispatch-job", 0, 0, 0);
  while (ctl_clock_ns() < job->due) ctl_block("waits for its time", job, job->due, CTL_NOWHERE);
  job->block->invoke(job->block);
  _Block_release(job->block);
  free(job);
  return NULL;
}

static void start_job(struct block *block, int64_t due) {
  job *const added = malloc(sizeof *added);
  *added = (job){.block = _Block_copy(block), .due = due};
  pthread_detach(ctl_start_thread(run_job, added)->handle);
}

static void check_queue(const void *queue) {
  /* Each priority, with and without overcommit. */
  static const intptr_t priorities[] = {2, 0, -2, INT16_MIN, 0x21, 0x19, 0x15, 0x11, 0x09};
  for (size_t i = 0; i < sizeof priorities / sizeof *priorities; i++) {
    if (queue == dispatch_get_global_queue(priorities[i], 0)) return;
  }
  /* Serial: as if its jobs could run at the same time. */
  if (strcmp(dispatch_queue_get_label(queue), "reactor-deadlines") == 0) return;
  ctl_fail("a body uses a queue of Dispatch that is not controlled, or the main one for something "
           "that is due later");
}

/* MARK: the main queue */

typedef struct main_job {
  struct main_job *next;
  struct block *block;
} main_job;

static main_job *first_main_job, **last_main_job = &first_main_job;
/* Whether a thread runs them, and whether this one does. */
static bool runs_main_queue;
static _Thread_local bool is_main_queue;

__attribute__((constructor)) static void reset_at_begin(void);

/* The threads of an execution that failed have kept what they ran. */
static void reset_main_queue(void) {
  first_main_job = NULL;
  last_main_job = &first_main_job;
  runs_main_queue = false;
}

static void reset_at_begin(void) { ctl_at_begin(reset_main_queue); }

static void *run_main_queue(void *unused) {
  (void)unused;
  prctl(PR_SET_NAME, "main-queue", 0, 0, 0);
  is_main_queue = true;
  while (first_main_job != NULL) {
    main_job *const job = first_main_job;
    first_main_job = job->next;
    if (first_main_job == NULL) last_main_job = &first_main_job;
    ctl_point("runs a job of the main queue", NULL, CTL_NOWHERE);
    job->block->invoke(job->block);
    _Block_release(job->block);
    free(job);
    ctl_drain_own();
  }
  runs_main_queue = false;
  return NULL;
}

static void add_main_job(struct block *block) {
  main_job *const added = malloc(sizeof *added);
  *added = (main_job){.block = _Block_copy(block)};
  ctl_point("adds a job to the main queue", NULL, CTL_NOWHERE);
  ctl_drain_own();
  *last_main_job = added;
  last_main_job = &added->next;
  if (runs_main_queue) return;
  runs_main_queue = true;
  pthread_detach(ctl_start_thread(run_main_queue, NULL)->handle);
}

void *dispatch_get_specific(const void *key) {
  if (is_main_queue) return dispatch_queue_get_specific(_dispatch_main_q, key);
  return REAL(dispatch_get_specific)(key);
}

/* MARK: jobs of any queue */

void dispatch_async(void *queue, struct block *block) {
  if (!ctl_is_controlled()) {
    REAL(dispatch_async)(queue, block);
    return;
  }
  if (queue == _dispatch_main_q) {
    add_main_job(block);
    return;
  }
  check_queue(queue);
  start_job(block, 0);
}

void dispatch_after(dispatch_time_t when, void *queue, struct block *block) {
  if (!ctl_is_controlled()) {
    REAL(dispatch_after)(when, queue, block);
    return;
  }
  check_queue(queue);
  start_job(block, deadline_of(when));
}

/* MARK: timers */

/* A source that fires once. Dispatch has the object, but neither its time nor its handler. */
typedef struct timer {
  struct timer *next;
  void *source;
  struct block *handler;
  int64_t due;
  /* It goes away when its thread has ended and it was cancelled. */
  bool is_started, is_cancelled, is_over;
} timer;

static timer *timers;
/* Whether this thread is inside of Dispatch, which signals semaphores of its own threads: these are
 * no points, since it depends on the time whether such a thread sleeps. */
static _Thread_local bool is_inside;

static timer *find_timer(const void *source) {
  timer *found = timers;
  while (found != NULL && found->source != source) found = found->next;
  return found;
}

static void remove_timer(timer *old) {
  timer **link = &timers;
  while (*link != old) link = &(*link)->next;
  *link = old->next;
  if (old->handler != NULL) _Block_release(old->handler);
  free(old);
}

static void *run_timer(void *argument) {
  timer *const me = argument;
  prctl(PR_SET_NAME, "dispatch-timer", 0, 0, 0);
  while (!me->is_cancelled && ctl_clock_ns() < me->due) {
    ctl_block("waits for its time", me, me->due, CTL_NOWHERE);
  }
  if (!me->is_cancelled && me->handler != NULL) me->handler->invoke(me->handler);
  me->is_over = true;
  if (me->is_cancelled) remove_timer(me);
  return NULL;
}

void *dispatch_source_create(source_type type, uintptr_t handle, uintptr_t mask, void *queue) {
  void *const source = REAL(dispatch_source_create)(type, handle, mask, queue);
  if (!ctl_is_controlled()) return source;
  if ((const char *)type != _dispatch_source_type_timer)
    ctl_fail("a body uses a source of Dispatch that is not a timer");
  check_queue(queue);
  timer *const added = calloc(1, sizeof *added);
  *added = (timer){.next = timers, .source = source, .due = INT64_MAX};
  timers = added;
  return source;
}

void dispatch_source_set_event_handler(void *source, struct block *handler) {
  timer *const known = ctl_is_controlled() ? find_timer(source) : NULL;
  if (known == NULL) {
    REAL(dispatch_source_set_event_handler)(source, handler);
    return;
  }
  if (known->handler != NULL) ctl_fail("a body changes the handler of a timer");
  known->handler = _Block_copy(handler);
}

void dispatch_source_set_timer(void *source, dispatch_time_t start, uint64_t interval,
                               uint64_t leeway) {
  timer *const known = ctl_is_controlled() ? find_timer(source) : NULL;
  if (known == NULL) {
    REAL(dispatch_source_set_timer)(source, start, interval, leeway);
    return;
  }
  if (interval != UINT64_MAX) ctl_fail("a body uses a timer that repeats");
  known->due = deadline_of(start);
}

/* What was the source's time and handler is the thread's now. */
static void start_timer(void *source) {
  timer *const known = ctl_is_controlled() ? find_timer(source) : NULL;
  if (known == NULL || known->is_started) return;
  known->is_started = true;
  pthread_detach(ctl_start_thread(run_timer, known)->handle);
}

void dispatch_activate(void *object) {
  is_inside = true;
  REAL(dispatch_activate)(object);
  is_inside = false;
  start_timer(object);
}

/* A new source is resumed to be activated. */
void dispatch_resume(void *object) {
  is_inside = true;
  REAL(dispatch_resume)(object);
  is_inside = false;
  start_timer(object);
}

void dispatch_source_cancel(void *source) {
  timer *const known = ctl_is_controlled() ? find_timer(source) : NULL;
  is_inside = true;
  REAL(dispatch_source_cancel)(source);
  is_inside = false;
  if (known == NULL) return;
  ctl_point("cancels a timer", known, CTL_NOWHERE);
  known->is_cancelled = true;
  /* Its address may be that of a later source before its thread has ended. */
  known->source = NULL;
  ctl_wake(known);
  if (known->is_over) remove_timer(known);
}

/* MARK: semaphores */

intptr_t dispatch_semaphore_wait(void *semaphore, dispatch_time_t timeout) {
  if (!ctl_is_controlled()) return REAL(dispatch_semaphore_wait)(semaphore, timeout);
  const int64_t deadline = deadline_of(timeout);
  ctl_point("waits for a semaphore", semaphore, CTL_NOWHERE);
  while (REAL(dispatch_semaphore_wait)(semaphore, 0) != 0) {
    if (!ctl_block("waits for a semaphore", semaphore, deadline, CTL_NOWHERE)) return 1;
  }
  return 0;
}

intptr_t dispatch_semaphore_signal(void *semaphore) {
  if (is_inside) return REAL(dispatch_semaphore_signal)(semaphore);
  if (ctl_is_controlled()) ctl_point("signals a semaphore", semaphore, CTL_NOWHERE);
  const intptr_t has_woken = REAL(dispatch_semaphore_signal)(semaphore);
  ctl_wake(semaphore);
  return has_woken;
}
