/* For syscall and posix_memalign. */
#define _GNU_SOURCE

#include "rr_platform.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static long or_error(long result) { return result < 0 ? -errno : result; }

static long futex_wait(_Atomic uint32_t *word, uint32_t key, const struct timespec *timeout) {
  return or_error(syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, key, timeout, NULL, 0));
}

static void futex_wake(_Atomic uint32_t *word) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static long membarrier(int command) { return or_error(syscall(SYS_membarrier, command, 0, 0)); }

static int64_t clock_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Not aligned_alloc, which requires the size to be a multiple of the alignment. */
static void *allocate(size_t alignment, size_t size) {
  void *block = NULL;
  return posix_memalign(&block, alignment, size) == 0 ? block : NULL;
}

static void *allocate_zeroed(size_t size) { return calloc(1, size); }

static int event_descriptor(void) { return (int)or_error(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

static int timer_descriptor(void) {
  return (int)or_error(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
}

static int poller_descriptor(void) { return (int)or_error(epoll_create1(EPOLL_CLOEXEC)); }

static long read_from(int descriptor, void *bytes, size_t size) {
  return or_error(read(descriptor, bytes, size));
}

static long write_to(int descriptor, const void *bytes, size_t size) {
  return or_error(write(descriptor, bytes, size));
}

static void close_descriptor(int descriptor) { close(descriptor); }

static long timer_set(int timer, const struct itimerspec *when) {
  return or_error(timerfd_settime(timer, TFD_TIMER_ABSTIME, when, NULL));
}

static long poller_control(int poller, int operation, int descriptor, struct epoll_event *event) {
  return or_error(epoll_ctl(poller, operation, descriptor, event));
}

static long poller_wait(int poller, struct epoll_event *events, int capacity, int timeout_ms) {
  return or_error(epoll_wait(poller, events, capacity, timeout_ms));
}

const rr_platform rr_platform_system = {
    .futex_wait = futex_wait,
    .futex_wake = futex_wake,
    .membarrier = membarrier,
    .clock_ns = clock_ns,
    .allocate = allocate,
    .allocate_zeroed = allocate_zeroed,
    .release = free,
    .event_descriptor = event_descriptor,
    .timer_descriptor = timer_descriptor,
    .poller_descriptor = poller_descriptor,
    .read = read_from,
    .write = write_to,
    .close = close_descriptor,
    .timer_set = timer_set,
    .poller_control = poller_control,
    .poller_wait = poller_wait,
};

const rr_platform *rr_platform_in_use = &rr_platform_system;

int64_t rr_clock_ns(void) { return rr_platform_in_use->clock_ns(); }
