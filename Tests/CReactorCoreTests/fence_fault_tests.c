/* For setenv. */
#define _GNU_SOURCE

#include <errno.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "CReactorCore.h"
#include "check.h"
#include "faulty_platform.h"

/* Far longer than a test takes: a thread that sleeps this long has missed its wake-up. */
#define LONG_NS 20000000000

void test_in_child(void (*body)(void)) {
  const pid_t child = fork();
  if (child == 0) {
    const long before = checks_failed;
    body();
    _exit(checks_failed == before ? 0 : 1);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void check_symmetric(void) {
  rr_fence_setup();
  CHECK(rr_fence_kind.is_symmetric);
  /* membarrier was called at most once; a fence of the processor does the rest. */
  const long calls = faulty_calls(FAULTY_MEMBARRIER);
  CHECK(calls <= 1);
  rr_fence_setup();
  CHECK(rr_fence_heavy());
  rr_fence_light();
  CHECK(faulty_calls(FAULTY_MEMBARRIER) == calls);

  rr_eventcount *ec = NULL;
  CHECK(rr_eventcount_create(&ec, RR_EVENTCOUNT_FUTEX) == RR_OK);
  uint32_t key = rr_eventcount_prepare(ec);
  CHECK(!rr_eventcount_wait(ec, key, 1000000));
  CHECK(rr_eventcount_may_sleep(ec, key));
  rr_eventcount_notify(ec);
  CHECK(rr_eventcount_wait(ec, key, LONG_NS));
  rr_eventcount_destroy(ec);
}

static void without_membarrier(void) {
  unsetenv("RR_NO_MEMBARRIER");
  faulty_fail(FAULTY_MEMBARRIER, -1, ENOSYS);
  check_symmetric();
  CHECK(faulty_calls(FAULTY_MEMBARRIER) == 1);
}

static void with_membarrier_forbidden(void) {
  unsetenv("RR_NO_MEMBARRIER");
  faulty_fail(FAULTY_MEMBARRIER, -1, EPERM);
  check_symmetric();
}

static void with_membarrier_disabled(void) {
  setenv("RR_NO_MEMBARRIER", "1", 1);
  check_symmetric();
  CHECK(faulty_calls(FAULTY_MEMBARRIER) == 0);
}

/* Pins are kept only where there is a heavy fence that can take them back. */
static void without_kept_pins(void) {
  unsetenv("RR_NO_MEMBARRIER");
  faulty_fail(FAULTY_MEMBARRIER, -1, ENOSYS);
  rr_trampoline *t = NULL;
  CHECK(rr_trampoline_create(&t, 0) == RR_OK);
  CHECK(rr_trampoline_try_initialize(t, rr_thread_token()));
  rr_trampoline_release(t, 0);
  for (int i = 0; i < 100; i++) {
    rr_readers_unpin(t, rr_readers_pin(t));
    CHECK(rr_pins_is_free(t, 0));
  }
  rr_trampoline_destroy(t);
}

static rr_trampoline *started(void) {
  rr_trampoline *t = NULL;
  CHECK(rr_trampoline_create(&t, 0) == RR_OK);
  CHECK(rr_trampoline_try_initialize(t, rr_thread_token()));
  rr_trampoline_release(t, 0);
  return t;
}

/* As another thread, which owns the state. */
static void release_light(void *trampoline) {
  rr_trampoline_release_after((rr_trampoline *)trampoline, 0, 1);
}

/* A thread that cannot know whether the owner of a light word has released waits for it, for a
 * while. In a process of its own, in which the kernel has not refused anything before. */
static void light_while_refused(void) {
  unsetenv("RR_NO_MEMBARRIER");
  rr_trampoline *light = started();
  if (!rr_fence_kind.is_symmetric) {
    const uint64_t other = rr_thread_token() + 16;
    CHECK(rr_trampoline_try_acquire(light, other));
    rr_trampoline_release_after(light, 0, RR_TRAMPOLINE_LIGHT_AFTER);
    CHECK(rr_trampoline_try_acquire(light, other));
    faulty_reset();
    faulty_fail(FAULTY_MEMBARRIER, -1, EPERM);
    /* The owner stays. */
    CHECK(rr_trampoline_is_busy(light));
    CHECK(faulty_calls(FAULTY_MEMBARRIER) == 2 && rr_fence_was_refused());
    /* It releases meanwhile, by an exchange. */
    faulty_before(FAULTY_MEMBARRIER, release_light, light);
    CHECK(!rr_trampoline_is_busy(light));
    CHECK(atomic_load(&light->word) == 0);
    /* No word becomes light any more. */
    CHECK(rr_trampoline_try_acquire(light, other));
    rr_trampoline_release_after(light, 0, 0);
    CHECK(atomic_load(&light->word) == 0);
    faulty_reset();
  }
  rr_trampoline_destroy(light);
}

/* Runs before any other use of the library. */
void test_fence_setup_faults(void) {
  test_in_child(without_membarrier);
  test_in_child(with_membarrier_forbidden);
  test_in_child(with_membarrier_disabled);
  test_in_child(without_kept_pins);
  test_in_child(light_while_refused);
}

/* The cheap command is refused; the slow one succeeds, if the kernel has it. */
static void test_second_command(void) {
  faulty_fail(FAULTY_MEMBARRIER, 1, EPERM);
  const bool has_global = rr_platform_system.membarrier(MEMBARRIER_CMD_GLOBAL) == 0;
  CHECK(rr_fence_heavy() == has_global);
  CHECK(faulty_calls(FAULTY_MEMBARRIER) == 2);
}

static void test_sleeper(rr_eventcount_kind kind, int error) {
  rr_eventcount *ec = NULL;
  CHECK(rr_eventcount_create(&ec, kind) == RR_OK);
  faulty_reset();
  faulty_fail(FAULTY_MEMBARRIER, -1, error);
  CHECK(!rr_fence_heavy());
  CHECK(faulty_calls(FAULTY_MEMBARRIER) == 2);
  /* A notifier may have missed that the word is armed: the sleeper must not sleep, on the word or
   * elsewhere. */
  uint32_t key = rr_eventcount_prepare(ec);
  CHECK(!rr_eventcount_may_sleep(ec, key));
  CHECK(rr_eventcount_wait(ec, key, LONG_NS));
  CHECK(rr_eventcount_must_notify(ec));
  /* It may sleep once the fence is granted again. */
  faulty_reset();
  key = rr_eventcount_prepare(ec);
  CHECK(rr_eventcount_may_sleep(ec, key));
  CHECK(!rr_eventcount_wait(ec, key, 1000000));
  rr_eventcount_notify(ec);
  CHECK(!rr_eventcount_may_sleep(ec, key));
  CHECK(rr_eventcount_wait(ec, key, LONG_NS));
  rr_eventcount_destroy(ec);
}

/* No pin is taken from a reader if the owner cannot know whether the reader is inside of a read. */
static void test_revoking(int error) {
  rr_trampoline *t = started();
  rr_reader *idle = rr_reader_create();
  rr_reader *reads_again = rr_reader_create();
  rr_reader *const readers[] = {idle, reads_again};
  for (int i = 0; i < 2; i++) {
    rr_pins_pin(t, 0);
    CHECK(rr_reader_try_keep(readers[i], t, 0, t));
  }
  CHECK(rr_trampoline_try_acquire(t, rr_thread_token()));
  rr_trampoline_release(t, 1);

  faulty_reset();
  faulty_fail(FAULTY_MEMBARRIER, -1, error);
  CHECK(!rr_readers_revoke(t));
  CHECK(t->pins[0] == 2);
  /* A thread that reads again finds the mark, and unpins. */
  rr_pin pin;
  CHECK(!rr_reader_try_begin_read(reads_again, t, &pin));
  rr_reader_unpin_kept(reads_again);
  CHECK(t->pins[0] == 1);
  CHECK(!rr_readers_revoke(t));
  CHECK(t->pins[0] == 1);
  /* A thread that never reads again does not hold the pin forever. */
  faulty_reset();
  CHECK(rr_readers_revoke(t));
  CHECK(rr_pins_is_free(t, 0));
  CHECK(!rr_readers_revoke(t));

  rr_reader_destroy(idle);
  rr_reader_destroy(reads_again);
  rr_trampoline_destroy(t);
}

/* Granted at first, and refused later. */
void test_fence_faults(void) {
  rr_fence_setup();
  faulty_reset();
  if (rr_fence_kind.is_symmetric) {
    faulty_fail(FAULTY_MEMBARRIER, -1, EPERM);
    CHECK(rr_fence_heavy());
    CHECK(faulty_calls(FAULTY_MEMBARRIER) == 0);
    faulty_reset();
    return;
  }
  test_second_command();
  static const int errors[] = {EPERM, ENOSYS, ENOMEM};
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
    test_sleeper(RR_EVENTCOUNT_FUTEX, errors[i]);
    test_sleeper(RR_EVENTCOUNT_DESCRIPTOR, errors[i]);
    test_revoking(errors[i]);
  }
  faulty_reset();
}
