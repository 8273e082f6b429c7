#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "CReactorCore.h"
#include "check.h"
#include "faulty_platform.h"

static bool is_readable(int descriptor) {
  struct pollfd watched = {.fd = descriptor, .events = POLLIN, .revents = 0};
  return poll(&watched, 1, 0) == 1 && (watched.revents & POLLIN) != 0;
}

static void test_wait_and_notify(rr_eventcount_kind kind) {
  rr_eventcount *ec = NULL;
  CHECK(rr_eventcount_create(&ec, kind) == RR_OK);
  CHECK((rr_eventcount_descriptor(ec) >= 0) == (kind == RR_EVENTCOUNT_DESCRIPTOR));
  CHECK(!rr_eventcount_must_notify(ec));
  rr_eventcount_notify(ec);
  CHECK(!rr_eventcount_must_notify(ec));

  /* No thread notifies: the time runs out, and the word stays armed. */
  uint32_t key = rr_eventcount_prepare(ec);
  CHECK(rr_eventcount_must_notify(ec));
  CHECK(!rr_eventcount_wait(ec, key, 1000000));
  CHECK(!rr_eventcount_wait(ec, key, 0));
  CHECK(rr_eventcount_must_notify(ec));

  /* Notified between prepare and wait: no sleep, whatever the timeout. */
  for (int i = 0; i < 10; i++) {
    key = rr_eventcount_prepare(ec);
    rr_eventcount_notify(ec);
    CHECK(!rr_eventcount_must_notify(ec));
    CHECK(rr_eventcount_wait(ec, key, -1));
  }

  /* wait returns at once for a key of an earlier epoch. */
  key = rr_eventcount_prepare(ec);
  rr_eventcount_notify(ec);
  const uint32_t later = rr_eventcount_prepare(ec);
  CHECK(later != key);
  CHECK(rr_eventcount_wait(ec, key, -1));
  rr_eventcount_destroy(ec);
}

static void test_prepare_again(void) {
  rr_eventcount *ec = NULL;
  CHECK(rr_eventcount_create(&ec, RR_EVENTCOUNT_FUTEX) == RR_OK);
  /* Nothing was armed: 0 is no key, though the word is 0. */
  uint32_t key = rr_eventcount_prepare_again(ec, 0);
  CHECK(rr_eventcount_must_notify(ec));
  CHECK(rr_eventcount_may_sleep(ec, key));
  const long fences = faulty_calls(FAULTY_MEMBARRIER);
  CHECK(rr_eventcount_prepare_again(ec, key) == key);
  CHECK(rr_eventcount_may_sleep(ec, key));
  CHECK(faulty_calls(FAULTY_MEMBARRIER) == fences);
  /* After a notification, the word is armed once more. */
  rr_eventcount_notify(ec);
  CHECK(!rr_eventcount_must_notify(ec));
  const uint32_t later = rr_eventcount_prepare_again(ec, key);
  CHECK(later != key);
  CHECK(rr_eventcount_must_notify(ec));
  CHECK(rr_eventcount_may_sleep(ec, later));
  /* A key of an earlier epoch does not count, even though the word is armed. */
  CHECK(rr_eventcount_prepare_again(ec, key) == later);
  rr_eventcount_destroy(ec);
}

static void test_descriptor(void) {
  rr_eventcount *ec = NULL;
  CHECK(rr_eventcount_create(&ec, RR_EVENTCOUNT_DESCRIPTOR) == RR_OK);
  const int descriptor = rr_eventcount_descriptor(ec);
  CHECK((fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0);
  CHECK((fcntl(descriptor, F_GETFL) & O_NONBLOCK) != 0);
  rr_eventcount_notify(ec);
  CHECK(!is_readable(descriptor));
  for (int i = 0; i < 3; i++) {
    rr_eventcount_prepare(ec);
    CHECK(!is_readable(descriptor));
    rr_eventcount_notify(ec);
    rr_eventcount_notify(ec);
    CHECK(is_readable(descriptor));
    rr_eventcount_acknowledge(ec);
    CHECK(!is_readable(descriptor));
    rr_eventcount_acknowledge(ec);
  }
  rr_eventcount_destroy(ec);
  CHECK(fcntl(descriptor, F_GETFD) < 0);

  /* There is nothing to empty. */
  CHECK(rr_eventcount_create(&ec, RR_EVENTCOUNT_FUTEX) == RR_OK);
  rr_eventcount_acknowledge(ec);
  rr_eventcount_destroy(ec);
}

void test_eventcount(void) {
  test_wait_and_notify(RR_EVENTCOUNT_FUTEX);
  test_wait_and_notify(RR_EVENTCOUNT_DESCRIPTOR);
  test_prepare_again();
  test_descriptor();
}
