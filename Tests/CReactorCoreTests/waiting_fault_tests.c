#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "CReactorCore.h"
#include "check.h"
#include "faulty_platform.h"

#define LONG_NS 20000000000

static bool is_readable(int descriptor) {
  struct pollfd watched = {.fd = descriptor, .events = POLLIN, .revents = 0};
  return poll(&watched, 1, 0) == 1 && (watched.revents & POLLIN) != 0;
}

/* MARK: futex */

/* Whatever the kernel returns, wait returns false only if the time ran out, and the word is
 * unchanged. */
static void test_futex_results(void) {
  static const struct {
    int error;
    bool holds;
  } results[] = {{0, true}, {EINTR, true}, {EAGAIN, true}, {ETIMEDOUT, false}};
  rr_eventcount *ec = NULL;
  CHECK(rr_eventcount_create(&ec, RR_EVENTCOUNT_FUTEX) == RR_OK);
  for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
    const uint32_t key = rr_eventcount_prepare(ec);
    faulty_fail(FAULTY_FUTEX_WAIT, 1, results[i].error);
    CHECK(rr_eventcount_wait(ec, key, LONG_NS) == results[i].holds);
    CHECK(rr_eventcount_must_notify(ec));
    /* The next wait sleeps again. */
    CHECK(!rr_eventcount_wait(ec, key, 1000000));
    rr_eventcount_notify(ec);
    CHECK(!rr_eventcount_must_notify(ec));
    CHECK(rr_eventcount_wait(ec, key, LONG_NS));
  }
  CHECK(rr_eventcount_wake_count(ec) == 4);
  rr_eventcount_destroy(ec);
}

typedef struct sleeper {
  rr_eventcount *ec;
  _Atomic int condition;
  _Atomic int sleeps;
  int error;
} sleeper;

/* Every second sleep ends without a reason. */
static void *sleep_and_wake_early(void *argument) {
  sleeper *mine = argument;
  while (!rr_load_acquire(RR_EDGE_WAKE, &mine->condition)) {
    const uint32_t key = rr_eventcount_prepare(mine->ec);
    if (rr_load_acquire(RR_EDGE_WAKE, &mine->condition)) break;
    if (atomic_fetch_add_explicit(&mine->sleeps, 1, memory_order_relaxed) % 2 == 0)
      faulty_fail(FAULTY_FUTEX_WAIT, 1, mine->error);
    rr_eventcount_wait(mine->ec, key, LONG_NS);
  }
  faulty_reset();
  return NULL;
}

/* A sleeper that wakes for no reason sleeps again, until a notifier makes its condition true. */
static void test_sleeps_that_end_early(int error) {
  sleeper mine = {.condition = 0, .sleeps = 0, .error = error};
  CHECK(rr_eventcount_create(&mine.ec, RR_EVENTCOUNT_FUTEX) == RR_OK);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, sleep_and_wake_early, &mine) == 0);
  while (rr_load_relaxed(&mine.sleeps) < 2) sched_yield();
  /* The condition is still false, so the sleeper checks it and sleeps again: unnecessary
   * notifications. */
  for (int i = 0; i < 20; i++) {
    rr_eventcount_notify(mine.ec);
    sched_yield();
  }
  const int64_t start = rr_clock_ns();
  rr_store_release(RR_EDGE_WAKE, &mine.condition, 1);
  rr_eventcount_notify(mine.ec);
  CHECK(pthread_join(thread, NULL) == 0);
  /* It was woken, and did not sleep until the timeout. */
  CHECK(rr_clock_ns() - start < LONG_NS / 2);
  rr_eventcount_destroy(mine.ec);
}

/* MARK: descriptors */

static void test_no_descriptor(void) {
  static const int errors[] = {EMFILE, ENFILE, ENOMEM, ENODEV};
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
    const long alive = faulty_alive_of_thread();
    rr_eventcount *ec = (rr_eventcount *)(void *)&ec;
    faulty_fail(FAULTY_EVENT_DESCRIPTOR, 1, errors[i]);
    CHECK(rr_eventcount_create(&ec, RR_EVENTCOUNT_DESCRIPTOR) == RR_DESCRIPTOR_FAILED);
    CHECK(ec == NULL);
    CHECK(faulty_alive_of_thread() == alive);
    CHECK(rr_eventcount_create(&ec, RR_EVENTCOUNT_DESCRIPTOR) == RR_OK);
    rr_eventcount_destroy(ec);

    faulty_fail(FAULTY_EVENT_DESCRIPTOR, 1, errors[i]);
    faulty_fail(FAULTY_TIMER_DESCRIPTOR, 1, errors[i]);
    faulty_fail(FAULTY_POLLER_DESCRIPTOR, 1, errors[i]);
    errno = 0;
    CHECK(rr_event_create() == -1 && errno == errors[i]);
    errno = 0;
    CHECK(rr_timer_create() == -1 && errno == errors[i]);
    errno = 0;
    CHECK(rr_poller_create() == -1 && errno == errors[i]);
  }
}

/* An interrupted read or write is repeated until it succeeds. */
static void test_interrupted_descriptors(void) {
  rr_eventcount *ec = NULL;
  CHECK(rr_eventcount_create(&ec, RR_EVENTCOUNT_DESCRIPTOR) == RR_OK);
  const int descriptor = rr_eventcount_descriptor(ec);
  const int event = rr_event_create();
  for (int times = 0; times < 4; times++) {
    rr_eventcount_prepare(ec);
    faulty_fail(FAULTY_WRITE, times, EINTR);
    rr_eventcount_notify(ec);
    CHECK(is_readable(descriptor));
    faulty_fail(FAULTY_READ, times, EINTR);
    rr_eventcount_acknowledge(ec);
    CHECK(!is_readable(descriptor));

    faulty_fail(FAULTY_WRITE, times, EINTR);
    rr_event_signal(event);
    CHECK(is_readable(event));
    faulty_fail(FAULTY_READ, times, EINTR);
    rr_descriptor_acknowledge(event);
    CHECK(!is_readable(event));
  }
  close(event);
  rr_eventcount_destroy(ec);
}

/* A full counter and an empty one return EAGAIN, which is neither an error nor a reason to try
 * again. */
static void test_full_and_empty_descriptors(void) {
  rr_eventcount *ec = NULL;
  CHECK(rr_eventcount_create(&ec, RR_EVENTCOUNT_DESCRIPTOR) == RR_OK);
  const int descriptor = rr_eventcount_descriptor(ec);
  const uint64_t most = UINT64_MAX - 1;
  CHECK(write(descriptor, &most, sizeof most) == sizeof most);
  faulty_reset();
  rr_eventcount_prepare(ec);
  rr_eventcount_notify(ec);
  CHECK(faulty_calls(FAULTY_WRITE) == 1);
  CHECK(is_readable(descriptor));
  rr_eventcount_acknowledge(ec);
  CHECK(!is_readable(descriptor));
  rr_eventcount_acknowledge(ec);
  CHECK(faulty_calls(FAULTY_READ) == 2);
  rr_eventcount_destroy(ec);
}

static void test_poller(void) {
  const int poller = rr_poller_create();
  const int event = rr_event_create();
  CHECK(rr_poller_add(poller, event, RR_POLL_READABLE, 7));
  rr_event_signal(event);
  rr_poll_event found[4];
  /* A signal is not an event, and hides none. */
  faulty_fail(FAULTY_POLLER_WAIT, 1, EINTR);
  CHECK(rr_poller_wait(poller, found, 4, -1) == 0);
  CHECK(rr_poller_wait(poller, found, 4, -1) == 1);
  CHECK(found[0].tag == 7 && found[0].ready == RR_POLL_READABLE);
  faulty_fail(FAULTY_POLLER_WAIT, 1, EBADF);
  errno = 0;
  CHECK(rr_poller_wait(poller, found, 4, -1) == -1 && errno == EBADF);
  errno = 0;
  CHECK(!rr_poller_add(poller, event, RR_POLL_READABLE, 8) && errno == EEXIST);
  close(event);
  close(poller);
}

/* MARK: signals */

static void test_interrupted_signals(void) {
  const int numbers[] = {SIGUSR1};
  rr_signals *signals = rr_signals_catch(numbers, 1);
  CHECK(signals != NULL);
  if (signals == NULL) return;
  CHECK(raise(SIGUSR1) == 0);
  faulty_fail(FAULTY_READ, 3, EINTR);
  CHECK(rr_signals_take(signals) == SIGUSR1);
  CHECK(rr_signals_take(signals) == 0);
  rr_signals_restore(signals);
}

/* The handlers are inherited, but not the thread that catches. */
static void test_signals_after_fork(void) {
  const int numbers[] = {SIGUSR2};
  rr_signals *signals = rr_signals_catch(numbers, 1);
  CHECK(signals != NULL);
  if (signals == NULL) return;
  const pid_t child = fork();
  if (child == 0) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    raise(SIGUSR2);
    _exit(0);
  }
  CHECK(child > 0);
  int status = 0;
  pid_t ended = 0;
  for (int tries = 0; tries < 6000 && ended == 0; tries++) {
    ended = waitpid(child, &status, WNOHANG);
    if (ended == 0) poll(NULL, 0, 10);
  }
  CHECK(ended == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR2);
  if (ended == 0) {
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
  }
  rr_signals_restore(signals);
}

/* MARK: the clock */

static void test_clock(void) {
  const int64_t before = rr_clock_ns();
  faulty_stop_clock(42);
  CHECK(rr_clock_ns() == 42);
  CHECK(rr_clock_ns() == 42);
  faulty_stop_clock(INT64_MAX);
  CHECK(rr_clock_ns() == INT64_MAX);
  faulty_stop_clock(-1);
  CHECK(rr_clock_ns() >= before);
}

void test_waiting_faults(void) {
  test_futex_results();
  static const int errors[] = {0, EINTR, EAGAIN, ETIMEDOUT};
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) test_sleeps_that_end_early(errors[i]);
  test_no_descriptor();
  test_interrupted_descriptors();
  test_full_and_empty_descriptors();
  test_poller();
  test_interrupted_signals();
  test_signals_after_fork();
  test_clock();
  faulty_reset();
}
