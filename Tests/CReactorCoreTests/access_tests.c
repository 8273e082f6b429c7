#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "CReactorCore.h"
#include "check.h"
#include "faulty_platform.h"

static rr_trampoline *create_owned(void) {
  rr_trampoline *t = NULL;
  CHECK(rr_trampoline_create(&t, 0) == RR_OK);
  CHECK(rr_trampoline_try_initialize(t, rr_thread_token()));
  rr_trampoline_publish(t, rr_thread_token(), 0);
  return t;
}

static void change(rr_trampoline *t) {
  CHECK(rr_access_try_begin_change(t));
  CHECK(!rr_access_end_change(t));
}

static void change_until_biased(rr_trampoline *t) {
  for (unsigned i = 0; i < RR_ACCESS_BIASED_AFTER; i++) change(t);
  CHECK(t->bias == (rr_fence_is_symmetric() ? RR_ACCESS_UNBIASED : RR_ACCESS_BIASED));
}

/* The owner changes by the bias, and a reader comes meanwhile. */
static void test_revoked_inside_of_a_change(void) {
  rr_trampoline *t = create_owned();
  change_until_biased(t);
  CHECK(rr_access_try_begin_change(t));
  CHECK(t->access == (rr_fence_is_symmetric() ? RR_ACCESS_OWNER : 0));
  CHECK(!rr_access_is_open(t, false));
  CHECK(!rr_access_try_begin_read(t, false));
  CHECK(rr_access_was_reader_count(t) == 0);
  CHECK(!rr_access_end_change(t));

  CHECK(rr_access_is_open(t, false));
  CHECK(rr_access_try_begin_read(t, false));
  CHECK(!rr_access_try_begin_change(t));
  CHECK(!rr_access_end_read(t));
  CHECK(t->bias == RR_ACCESS_WAS_READ);
  change(t);
  CHECK(t->bias == RR_ACCESS_UNBIASED);
  rr_trampoline_destroy(t);
}

/* A read makes the count of changes begin anew. */
static void test_biased_only_after_changes_without_a_read(void) {
  rr_trampoline *t = create_owned();
  for (unsigned i = 0; i + 1 < RR_ACCESS_BIASED_AFTER; i++) change(t);
  CHECK(rr_access_try_begin_read(t, false));
  CHECK(!rr_access_end_read(t));
  change(t);
  CHECK(t->bias == RR_ACCESS_UNBIASED);
  change_until_biased(t);
  rr_trampoline_destroy(t);
}

/* A reader that waits for the end of a change would have to revoke a bias that is set there. */
static void test_not_biased_while_a_reader_waits(void) {
  rr_trampoline *t = create_owned();
  for (unsigned i = 0; i + 1 < RR_ACCESS_BIASED_AFTER; i++) change(t);
  CHECK(rr_access_try_begin_change(t));
  rr_access_begin_wait(t);
  CHECK(rr_access_end_change(t));
  CHECK(t->bias == RR_ACCESS_UNBIASED);
  rr_access_end_wait(t);
  change(t);
  CHECK(t->bias == (rr_fence_is_symmetric() ? RR_ACCESS_UNBIASED : RR_ACCESS_BIASED));
  rr_trampoline_destroy(t);
}

/* An owner that changes by the bias goes on for one change beside a reader that waits, until that
 * has revoked the bias. */
static void test_waiting_reader_of_a_biased_state(void) {
  rr_trampoline *t = create_owned();
  change_until_biased(t);
  rr_access_begin_wait(t);
  if (!rr_fence_is_symmetric()) {
    CHECK(rr_access_try_begin_change(t));
    CHECK(rr_access_end_change(t));
    CHECK(rr_access_try_begin_read(t, false));
    CHECK(!rr_access_end_read(t));
  }
  CHECK(!rr_access_try_begin_change(t));
  rr_access_end_wait(t);
  change(t);
  rr_trampoline_destroy(t);
}

/* A reader that the kernel refuses the fence enters when the owner has given the bias up. */
static void test_given_up(void) {
  rr_trampoline *t = create_owned();
  rr_access_give_up_bias(t);
  CHECK(t->bias == RR_ACCESS_UNBIASED);
  change_until_biased(t);
  if (rr_fence_is_symmetric()) {
    rr_access_give_up_bias(t);
    CHECK(t->bias == RR_ACCESS_UNBIASED);
  } else {
    const long calls = faulty_calls(FAULTY_MEMBARRIER);
    rr_access_give_up_bias(t);
    CHECK(t->bias == RR_ACCESS_REVOKED);
    CHECK(rr_access_try_begin_read(t, false));
    CHECK(!rr_access_end_read(t));
    CHECK(faulty_calls(FAULTY_MEMBARRIER) == calls);
    change(t);
    change_until_biased(t);
    faulty_fail(FAULTY_MEMBARRIER, -1, EPERM);
    CHECK(!rr_access_try_begin_read(t, false));
    CHECK(t->bias == RR_ACCESS_REVOKING);
    rr_access_give_up_bias(t);
    CHECK(rr_access_try_begin_read(t, false));
    CHECK(!rr_access_end_read(t));
    faulty_reset();
    /* No state becomes biased any more. */
    for (unsigned i = 0; i < 2 * RR_ACCESS_BIASED_AFTER; i++) change(t);
    CHECK(t->bias == RR_ACCESS_UNBIASED);
  }
  rr_trampoline_destroy(t);
}

/* Without an owner no fence is needed; with one, and a kernel that refuses the fence, nobody enters
 * until the owner has found the reader. */
static void test_fence_of_a_revocation(void) {
  rr_trampoline *t = create_owned();
  change_until_biased(t);
  const long calls = faulty_calls(FAULTY_MEMBARRIER);
  rr_trampoline_release(t, 0);
  CHECK(rr_access_try_begin_read(t, false));
  CHECK(!rr_access_end_read(t));
  CHECK(faulty_calls(FAULTY_MEMBARRIER) == calls);

  CHECK(rr_trampoline_try_acquire(t, rr_thread_token()));
  change(t);
  change_until_biased(t);
  if (!rr_fence_is_symmetric()) {
    faulty_fail(FAULTY_MEMBARRIER, -1, EPERM);
    CHECK(!rr_access_try_begin_read(t, false));
    CHECK(!rr_access_try_begin_read(t, false));
    change(t);
    CHECK(t->bias == RR_ACCESS_UNBIASED);
    faulty_reset();
  }
  CHECK(rr_access_try_begin_read(t, false));
  CHECK(!rr_access_end_read(t));
  rr_trampoline_destroy(t);
}

/* With a small number of changes before a bias, the first changes by one coincide with a reader
 * that revokes it, which they hardly do otherwise: Scripts/sanitize-c builds this so, too. */
enum {
  STINTS = RR_ACCESS_BIASED_AFTER > 64 ? 100 : 50000,
  STINT = RR_ACCESS_BIASED_AFTER > 64 ? 2 * RR_ACCESS_BIASED_AFTER : 20
};

/* A state whose two halves are equal unless a reader is inside of a change. */
typedef struct shared {
  rr_trampoline *trampoline;
  long first, second;
  _Atomic long stint, torn;
} shared;

static void *read_now_and_then(void *argument) {
  shared *all = argument;
  for (long seen = 0; seen < STINTS;) {
    while (!rr_access_try_begin_read(all->trampoline, false)) rr_pause();
    if (all->first != all->second) all->torn++;
    if (rr_access_end_read(all->trampoline)) CHECK(!"nobody holds readers back");
    /* Long enough for the owner to bias the state again. */
    const long before = seen;
    while ((seen = all->stint) == before) rr_pause();
  }
  return NULL;
}

static void test_readers_that_come_now_and_then(int reader_count, bool releases) {
  shared all = {.trampoline = create_owned()};
  pthread_t readers[2];
  for (int i = 0; i < reader_count; i++) {
    CHECK(pthread_create(&readers[i], NULL, read_now_and_then, &all) == 0);
  }
  long biased = 0;
  for (int stint = 1; stint <= STINTS; stint++) {
    for (unsigned i = 0; i < STINT; i++) {
      while (!rr_access_try_begin_change(all.trampoline)) rr_pause();
      biased += all.trampoline->changing;
      all.first++;
      all.second++;
      (void)rr_access_end_change(all.trampoline);
      if (releases) {
        rr_trampoline_release(all.trampoline, 0);
        CHECK(rr_trampoline_try_acquire(all.trampoline, rr_thread_token()));
      }
    }
    all.stint = stint;
  }
  for (int i = 0; i < reader_count; i++) pthread_join(readers[i], NULL);
  CHECK(all.torn == 0);
  CHECK((biased > 0) != rr_fence_is_symmetric());
  rr_trampoline_destroy(all.trampoline);
}

static void destroy_place(void *t) { rr_trampoline_destroy_place(t); }

/* What is not 0 in the place of pins must not make the end of a state wait for the lock of all
 * readers: here the calling thread has it. */
static void test_destroyed_without_the_readers_lock(void) {
  rr_trampoline *t = create_owned();
  rr_trampoline *other = create_owned();
  change(t);
  CHECK(t->unread != 0);
  const bool is_fenced = !rr_fence_is_symmetric();
  if (is_fenced) faulty_before(FAULTY_MEMBARRIER, destroy_place, t);
  CHECK(!rr_readers_revoke(other));
  if (!is_fenced) destroy_place(t);
  rr_trampoline_destroy(other);
}

void test_access(void) {
  test_destroyed_without_the_readers_lock();
  test_revoked_inside_of_a_change();
  test_biased_only_after_changes_without_a_read();
  test_not_biased_while_a_reader_waits();
  test_waiting_reader_of_a_biased_state();
  /* In these, the kernel refuses a fence. */
  test_in_child(test_given_up);
  test_in_child(test_fence_of_a_revocation);
  test_readers_that_come_now_and_then(1, false);
  test_readers_that_come_now_and_then(2, false);
  test_readers_that_come_now_and_then(1, true);
  test_readers_that_come_now_and_then(2, true);
}
