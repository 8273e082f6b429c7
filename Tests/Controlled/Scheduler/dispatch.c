/* The part of Dispatch that the library uses on its own: jobs of the concurrent global queues, at
 * once or later, and semaphores. Each job becomes a controlled thread. */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
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
void *dispatch_get_global_queue(intptr_t priority, uintptr_t flags);
void dispatch_async(void *queue, struct block *block);
void dispatch_after(dispatch_time_t when, void *queue, struct block *block);
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
  ctl_fail("a body uses a queue of Dispatch that is not one of the global ones");
}

void dispatch_async(void *queue, struct block *block) {
  if (!ctl_is_controlled()) {
    REAL(dispatch_async)(queue, block);
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
  if (ctl_is_controlled()) ctl_point("signals a semaphore", semaphore, CTL_NOWHERE);
  const intptr_t has_woken = REAL(dispatch_semaphore_signal)(semaphore);
  ctl_wake(semaphore);
  return has_woken;
}
