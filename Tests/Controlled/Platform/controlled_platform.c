#include "controlled_platform.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <malloc.h>
#include <time.h>

#include "controlled.h"
#include "rr_platform.h"

#define HERE ((ctl_place){.text = __func__, .line = __LINE__})

/* The kernel compares and begins to sleep in one step. */
static long futex_wait(_Atomic uint32_t *word, uint32_t key, const struct timespec *timeout) {
  if (!ctl_is_controlled()) return rr_platform_system.futex_wait(word, key, timeout);
  ctl_point("checks a futex", word, HERE);
  ctl_drain_own();
  if (__c11_atomic_load(word, __ATOMIC_SEQ_CST) != key) return -EAGAIN;
  const int64_t deadline =
      timeout == NULL ? INT64_MAX
                      : ctl_clock_ns() + (int64_t)timeout->tv_sec * 1000000000 + timeout->tv_nsec;
  return ctl_block("sleeps on a futex", word, deadline, HERE) ? 0 : -ETIMEDOUT;
}

static void futex_wake(_Atomic uint32_t *word) {
  if (!ctl_is_controlled()) {
    rr_platform_system.futex_wake(word);
    return;
  }
  ctl_point("wakes a futex", word, HERE);
  ctl_drain_own();
  ctl_wake(word);
}

static long membarrier(int command) {
  if (!ctl_is_controlled()) return rr_platform_system.membarrier(command);
  if (command == MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) return 0;
  ctl_fence_everywhere(HERE);
  return 0;
}

/* A late store must not reach memory that was freed. */
static void release(void *block) {
  if (block != NULL) ctl_forget(block, malloc_usable_size(block));
  rr_platform_system.release(block);
}

static rr_platform controlled;

/* Before the process uses any object of the library: see rr_platform.h. */
__attribute__((constructor)) static void install(void) {
  controlled = rr_platform_system;
  controlled.futex_wait = futex_wait;
  controlled.futex_wake = futex_wake;
  controlled.membarrier = membarrier;
  controlled.release = release;
  rr_platform_in_use = &controlled;
}
