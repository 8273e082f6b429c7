/* For itimerspec. */
#define _GNU_SOURCE

#include "rr_poller.h"

#include <errno.h>
#include <sys/epoll.h>
#include <time.h>

#include "rr_platform.h"

enum { MOST_EVENTS = 64 };

/* Converts -errno to -1 with errno set. */
static int or_minus_one(long result) {
  if (result >= 0) return (int)result;
  errno = (int)-result;
  return -1;
}

int rr_poller_create(void) { return or_minus_one(rr_platform_in_use->poller_descriptor()); }

static bool control(int poller, int operation, int descriptor, uint32_t interest, uint64_t tag) {
  struct epoll_event event = {.events = 0, .data.u64 = tag};
  if (interest & RR_POLL_READABLE) event.events |= EPOLLIN;
  if (interest & RR_POLL_WRITABLE) event.events |= EPOLLOUT;
  return or_minus_one(rr_platform_in_use->poller_control(poller, operation, descriptor, &event)) ==
         0;
}

bool rr_poller_add(int poller, int descriptor, uint32_t interest, uint64_t tag) {
  return control(poller, EPOLL_CTL_ADD, descriptor, interest, tag);
}

bool rr_poller_change(int poller, int descriptor, uint32_t interest, uint64_t tag) {
  return control(poller, EPOLL_CTL_MOD, descriptor, interest, tag);
}

bool rr_poller_remove(int poller, int descriptor) {
  return control(poller, EPOLL_CTL_DEL, descriptor, 0, 0);
}

int rr_poller_wait(int poller, rr_poll_event *events, int capacity, int timeout_ms) {
  struct epoll_event found[MOST_EVENTS];
  const int most = capacity < MOST_EVENTS ? capacity : MOST_EVENTS;
  const long count = rr_platform_in_use->poller_wait(poller, found, most, timeout_ms);
  if (count < 0) return count == -EINTR ? 0 : or_minus_one(count);
  for (int index = 0; index < count; index++) {
    const uint32_t bits = found[index].events;
    uint32_t ready = 0;
    if (bits & EPOLLIN) ready |= RR_POLL_READABLE;
    if (bits & EPOLLOUT) ready |= RR_POLL_WRITABLE;
    /* The caller's next read or write then returns the error. */
    if (bits & (EPOLLERR | EPOLLHUP)) ready |= RR_POLL_READABLE | RR_POLL_WRITABLE;
    events[index] = (rr_poll_event){.tag = found[index].data.u64, .ready = ready};
  }
  return (int)count;
}

int rr_timer_create(void) { return or_minus_one(rr_platform_in_use->timer_descriptor()); }

void rr_timer_set(int timer, int64_t deadline_ns) {
  const struct itimerspec when = {
      .it_value = {.tv_sec = deadline_ns / 1000000000, .tv_nsec = deadline_ns % 1000000000}};
  rr_platform_in_use->timer_set(timer, &when);
}

int rr_event_create(void) { return or_minus_one(rr_platform_in_use->event_descriptor()); }

void rr_event_signal(int event) {
  const uint64_t one = 1;
  /* EAGAIN means that the counter is at its maximum, so the descriptor is already readable. */
  while (rr_platform_in_use->write(event, &one, sizeof one) == -EINTR) {
  }
}

void rr_descriptor_acknowledge(int descriptor) {
  uint64_t count;
  /* One read empties the descriptor. An empty one is not an error. */
  while (rr_platform_in_use->read(descriptor, &count, sizeof count) == -EINTR) {
  }
}

void rr_descriptor_close(int descriptor) { rr_platform_in_use->close(descriptor); }

/* MARK: Dispatch */

extern int _dispatch_get_main_queue_handle_4CF(void) __attribute__((weak));
extern void _dispatch_main_queue_callback_4CF(void *message) __attribute__((weak));

int rr_main_queue_descriptor(void) {
  if (_dispatch_get_main_queue_handle_4CF == NULL || _dispatch_main_queue_callback_4CF == NULL)
    return -1;
  return _dispatch_get_main_queue_handle_4CF();
}

void rr_main_queue_run(void) {
  const int descriptor = rr_main_queue_descriptor();
  if (descriptor < 0) return;
  rr_descriptor_acknowledge(descriptor);
  _dispatch_main_queue_callback_4CF(NULL);
}
