#include "rr_eventcount.h"

#include <errno.h>
#include <time.h>

#include "rr_platform.h"

rr_status rr_eventcount_create(rr_eventcount **out, rr_eventcount_kind kind) {
  *out = NULL;
  rr_eventcount *ec = rr_platform_in_use->allocate(_Alignof(rr_eventcount), sizeof(rr_eventcount));
  if (ec == NULL) return RR_OUT_OF_MEMORY;
  atomic_init(&ec->word, 0);
  ec->descriptor = -1;
  if (kind == RR_EVENTCOUNT_DESCRIPTOR) {
    ec->descriptor = rr_platform_in_use->event_descriptor();
    if (ec->descriptor < 0) {
      rr_platform_in_use->release(ec);
      return RR_DESCRIPTOR_FAILED;
    }
  }
  rr_fence_setup();
  *out = ec;
  return RR_OK;
}

void rr_eventcount_destroy(rr_eventcount *ec) {
  if (ec == NULL) return;
  if (ec->descriptor >= 0) rr_platform_in_use->close(ec->descriptor);
  rr_platform_in_use->release(ec);
}

uint32_t rr_eventcount_prepare(rr_eventcount *ec) {
  /* Relaxed: the heavy fence after it orders it. */
  const uint32_t key = rr_fetch_or_relaxed(&ec->word, 1u) | 1u;
  /* If the kernel refused the fence, the sleeper must not sleep. The key of another epoch makes
   * wait return at once. */
  return rr_fence_heavy() ? key : key - 2u;
}

uint32_t rr_eventcount_prepare_again(rr_eventcount *ec, uint32_t key) {
  /* Relaxed: a notifier that changes the word meanwhile wakes all sleepers, on the word or on the
   * descriptor. A key that was refused the fence is of an epoch that is over, so it is never found.
   */
  if ((key & 1) != 0 && rr_load_relaxed(&ec->word) == key) return key;
  return rr_eventcount_prepare(ec);
}

bool rr_eventcount_wait(rr_eventcount *ec, uint32_t key, int64_t timeout_ns) {
  const struct timespec limit = {.tv_sec = timeout_ns / 1000000000,
                                 .tv_nsec = timeout_ns % 1000000000};
  const struct timespec *timeout = timeout_ns < 0 ? NULL : &limit;
  /* EAGAIN: notified before it slept. EINTR: the caller checks its condition again, as after any
   * return. */
  return rr_platform_in_use->futex_wait(&ec->word, key, timeout) != -ETIMEDOUT;
}

int rr_eventcount_descriptor(const rr_eventcount *ec) { return ec->descriptor; }

void rr_eventcount_acknowledge(rr_eventcount *ec) {
  uint64_t count;
  if (ec->descriptor < 0) return;
  /* One read empties an eventfd. It does not block, and an empty eventfd is not an error. */
  while (rr_platform_in_use->read(ec->descriptor, &count, sizeof count) == -EINTR) {
  }
}

static void signal_descriptor(rr_eventcount *ec) {
  const uint64_t one = 1;
  /* EAGAIN means that the counter is at its maximum, so the descriptor is already readable. */
  while (rr_platform_in_use->write(ec->descriptor, &one, sizeof one) == -EINTR) {
  }
}

void rr_eventcount_notify_slow(rr_eventcount *ec, uint32_t word) {
  /* One of several notifiers succeeds. The others find the word disarmed, or armed in a later epoch
   * by a sleeper that checks its condition after it armed. */
  while ((word & 1) != 0) {
    /* Relaxed: a woken sleeper checks its condition again, after a fence of its own. */
    if (!rr_cas_relaxed(&ec->word, &word, (word & ~1u) + 2u)) continue;
    rr_platform_in_use->futex_wake(&ec->word);
    if (ec->descriptor >= 0) signal_descriptor(ec);
    return;
  }
}
