/* The system, with the functions that the core calls: those of rr_platform.h (futex, membarrier,
 * memory, the clock), and a mutex, which rr_readers.c calls directly. */
#include "rr_platform.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core.h"
#include "rr_model_atomic.h"

static bool is_symmetric;
static bool is_refused;
static int64_t now;

static void reset_mutexes(void);

void model_platform_reset(const model_case *which) {
  is_symmetric = which->is_symmetric;
  is_refused = which->is_refused;
  now = 0;
  reset_mutexes();
  model_fence_reset(!which->chooses_fence, which->is_symmetric);
  model_readers_reset();
}

int64_t model_clock_ns(void) { return now; }

/* The kernel compares and begins to sleep in one step, under a lock of its own. That lock is not an
 * edge: it orders nothing, neither here nor in the C11 model. */
static long futex_wait(_Atomic uint32_t *word, uint32_t key, const struct timespec *timeout) {
  model_step();
  if (model_choose_fault()) {
    if (model_is_tracing) model_trace("futex_wait: returns for no reason");
    return -EINTR;
  }
  const uint32_t found = model_memory_newest(word);
  if (model_is_tracing) model_trace("futex_wait: for 0x%x, finds 0x%x", key, found);
  if (found != key) return -EAGAIN;
  if (timeout != NULL && model_choose_fault()) {
    now += (int64_t)timeout->tv_sec * 1000000000 + timeout->tv_nsec;
    return -ETIMEDOUT;
  }
  model_block(word, "sleeps");
  return 0;
}

static void futex_wake(_Atomic uint32_t *word) {
  model_step();
  if (model_is_tracing) model_trace("futex_wake");
  model_wake(word);
}

static long membarrier(int command) {
  if (is_symmetric) return -ENOSYS;
  if (command == MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) return 0;
  const model_site *site = MODEL_SITE("RR_EDGE_WAKE", "membarrier", "", MODEL_SEQ_CST);
  if (site->order == MODEL_NONE) return 0;
  model_step();
  /* Never refused at the end of a case. */
  if (model_running != 0 && (is_refused || model_choose_fault())) return -EPERM;
  if (model_is_tracing) model_trace("membarrier");
  model_memory_barrier_everywhere();
  return 0;
}

/* The arena's blocks have every alignment. */
static void *allocate(size_t alignment, size_t size) {
  (void)alignment;
  return model_running != 0 && model_choose_fault() ? NULL : model_allocate(size);
}

static const rr_platform platform = {
    .futex_wait = futex_wait,
    .futex_wake = futex_wake,
    .membarrier = membarrier,
    .clock_ns = model_clock_ns,
    .allocate = allocate,
    .allocate_zeroed = model_allocate,
    .release = model_release,
};
const rr_platform *rr_platform_in_use = &platform;

/* MARK: mutexes, by their addresses */

#define MOST_MUTEXES 8

typedef struct mutex {
  const void *address;
  bool is_locked;
  /* What the last holder knew when it unlocked the mutex. */
  model_view handed_on;
} mutex;

static mutex mutexes[MOST_MUTEXES];
static unsigned mutex_count;

static void reset_mutexes(void) { mutex_count = 0; }

static mutex *mutex_at(const void *address) {
  for (unsigned i = 0; i < mutex_count; i++) {
    if (mutexes[i].address == address) return &mutexes[i];
  }
  if (mutex_count == MOST_MUTEXES) model_fail("more than %d mutexes", MOST_MUTEXES);
  mutexes[mutex_count] = (mutex){.address = address};
  return &mutexes[mutex_count++];
}

int model_mutex_lock(void *which) {
  model_step();
  mutex *m = mutex_at(which);
  while (m->is_locked) model_block(m, "waits for a mutex");
  m->is_locked = true;
  model_view_join(model_view_of(model_running), &m->handed_on);
  return 0;
}

int model_mutex_unlock(void *which) {
  mutex *m = mutex_at(which);
  model_view *own = model_view_of(model_running);
  m->handed_on = *own;
  own->clock[model_running]++;
  m->is_locked = false;
  model_wake(m);
  return 0;
}

int model_yield(void) {
  model_pause();
  return 0;
}
