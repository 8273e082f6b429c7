#include "controlled_platform.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <malloc.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/timerfd.h>
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

/* MARK: descriptors
 *
 * They are the kernel's, and only what waits for them is replaced. So a poller may watch another
 * one. */

/* What all threads wait for that wait for descriptors: each looks at its own when one of any kind
 * was written to. */
static const char descriptors;

/* The timers that have not expired. The kernel does not know their time, which is virtual. */
enum { MOST_TIMERS = 64 };
static struct timer {
  int descriptor;
  int64_t due;
} timers[MOST_TIMERS];
static size_t timer_count;

static void forget_timers(void) { timer_count = 0; }

static void remove_timer(int descriptor) {
  for (size_t i = 0; i < timer_count; i++) {
    if (timers[i].descriptor != descriptor) continue;
    timers[i] = timers[--timer_count];
    return;
  }
}

static const struct itimerspec never = {.it_value = {.tv_nsec = 0}};
static const struct itimerspec at_once = {.it_value = {.tv_nsec = 1}};

/* Makes a timer readable. The kernel lets it expire in an interrupt, a moment later. */
static long expire(int descriptor) {
  const long failure = rr_platform_system.timer_set(descriptor, &at_once);
  struct pollfd watched = {.fd = descriptor, .events = POLLIN};
  if (failure == 0) poll(&watched, 1, -1);
  return failure;
}

/* Lets those that are due expire, and returns when the next one is. */
static int64_t expire_timers(void) {
  int64_t next = INT64_MAX;
  for (size_t i = 0; i < timer_count;) {
    const struct timer each = timers[i];
    if (each.due <= ctl_clock_ns()) {
      expire(each.descriptor);
      remove_timer(each.descriptor);
    } else {
      if (each.due < next) next = each.due;
      i++;
    }
  }
  return next;
}

static long timer_set(int descriptor, const struct itimerspec *when) {
  if (!ctl_is_controlled()) return rr_platform_system.timer_set(descriptor, when);
  ctl_point("sets a timer", &descriptors, HERE);
  ctl_drain_own();
  const int64_t due = (int64_t)when->it_value.tv_sec * 1000000000 + when->it_value.tv_nsec;
  const bool is_due = due != 0 && due <= ctl_clock_ns();
  remove_timer(descriptor);
  const long failure =
      is_due ? expire(descriptor) : rr_platform_system.timer_set(descriptor, &never);
  if (is_due) ctl_wake(&descriptors);
  if (failure != 0 || due == 0 || is_due) return failure;
  if (timer_count == MOST_TIMERS) ctl_fail("too many timers that a poller waits for");
  timers[timer_count++] = (struct timer){.descriptor = descriptor, .due = due};
  /* A thread that waits for a later time waits for this one instead. */
  ctl_wake(&descriptors);
  return 0;
}

static long poller_wait(int poller, struct epoll_event *events, int capacity, int timeout_ms) {
  if (!ctl_is_controlled())
    return rr_platform_system.poller_wait(poller, events, capacity, timeout_ms);
  ctl_point("polls descriptors", &descriptors, HERE);
  ctl_drain_own();
  const int64_t deadline =
      timeout_ms < 0 ? INT64_MAX : ctl_clock_ns() + (int64_t)timeout_ms * 1000000;
  for (;;) {
    const int64_t next = expire_timers();
    const long count = rr_platform_system.poller_wait(poller, events, capacity, 0);
    if (count != 0 || ctl_clock_ns() >= deadline) return count;
    ctl_block("waits for a descriptor", &descriptors, next < deadline ? next : deadline, HERE);
  }
}

/* Only events and signals of the library are written to by this table. */
static long write_to(int descriptor, const void *bytes, size_t size) {
  if (!ctl_is_controlled()) return rr_platform_system.write(descriptor, bytes, size);
  ctl_point("makes a descriptor readable", &descriptors, HERE);
  ctl_drain_own();
  const long written = rr_platform_system.write(descriptor, bytes, size);
  ctl_wake(&descriptors);
  return written;
}

static long read_from(int descriptor, void *bytes, size_t size) {
  if (ctl_is_controlled()) {
    ctl_point("empties a descriptor", &descriptors, HERE);
    ctl_drain_own();
  }
  return rr_platform_system.read(descriptor, bytes, size);
}

static long poller_control(int poller, int operation, int descriptor, struct epoll_event *event) {
  if (!ctl_is_controlled())
    return rr_platform_system.poller_control(poller, operation, descriptor, event);
  ctl_point("changes what a poller watches", &descriptors, HERE);
  ctl_drain_own();
  const long failure = rr_platform_system.poller_control(poller, operation, descriptor, event);
  ctl_wake(&descriptors);
  return failure;
}

static void close_descriptor(int descriptor) {
  if (ctl_is_controlled()) remove_timer(descriptor);
  rr_platform_system.close(descriptor);
}

static rr_platform controlled;

/* Before the process uses any object of the library: see rr_platform.h. */
__attribute__((constructor)) static void install(void) {
  controlled = rr_platform_system;
  controlled.futex_wait = futex_wait;
  controlled.futex_wake = futex_wake;
  controlled.membarrier = membarrier;
  controlled.release = release;
  controlled.timer_set = timer_set;
  controlled.poller_wait = poller_wait;
  controlled.poller_control = poller_control;
  controlled.write = write_to;
  controlled.read = read_from;
  controlled.close = close_descriptor;
  rr_platform_in_use = &controlled;
  ctl_at_begin(forget_timers);
}
