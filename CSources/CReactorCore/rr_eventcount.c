/* For syscall. */
#define _GNU_SOURCE

#include "rr_eventcount.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

rr_status rr_eventcount_create(rr_eventcount **out, rr_eventcount_kind kind) {
  *out = NULL;
  rr_eventcount *ec = aligned_alloc(_Alignof(rr_eventcount), sizeof(rr_eventcount));
  if (ec == NULL) return RR_OUT_OF_MEMORY;
  atomic_init(&ec->word, 0);
  ec->descriptor = -1;
  if (kind == RR_EVENTCOUNT_DESCRIPTOR) {
    ec->descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (ec->descriptor < 0) {
      free(ec);
      return RR_DESCRIPTOR_FAILED;
    }
  }
  rr_fence_setup();
  *out = ec;
  return RR_OK;
}

void rr_eventcount_destroy(rr_eventcount *ec) {
  if (ec == NULL) return;
  if (ec->descriptor >= 0) close(ec->descriptor);
  free(ec);
}

uint32_t rr_eventcount_prepare(rr_eventcount *ec) {
  const uint32_t key = rr_fetch_or_seq_cst(RR_EDGE_WAKE, &ec->word, 1u) | 1u;
  /* Refused the fence, the sleeper must not sleep: the key of another epoch makes wait return. */
  return rr_fence_heavy() ? key : key - 2u;
}

bool rr_eventcount_wait(rr_eventcount *ec, uint32_t key, int64_t timeout_ns) {
  const struct timespec limit = {.tv_sec = timeout_ns / 1000000000,
                                 .tv_nsec = timeout_ns % 1000000000};
  const struct timespec *timeout = timeout_ns < 0 ? NULL : &limit;
  const long result = syscall(SYS_futex, &ec->word, FUTEX_WAIT_PRIVATE, key, timeout, NULL, 0);
  /* EAGAIN: notified before it slept. EINTR: the caller looks again, as after any return. */
  return result == 0 || errno != ETIMEDOUT;
}

int rr_eventcount_descriptor(const rr_eventcount *ec) { return ec->descriptor; }

void rr_eventcount_acknowledge(rr_eventcount *ec) {
  uint64_t count;
  if (ec->descriptor < 0) return;
  /* One read empties an eventfd; it does not block, and empty is no error. */
  while (read(ec->descriptor, &count, sizeof count) < 0 && errno == EINTR) {
  }
}

static void signal_descriptor(rr_eventcount *ec) {
  const uint64_t one = 1;
  /* EAGAIN means that the counter is at its maximum, so the descriptor is readable already. */
  while (write(ec->descriptor, &one, sizeof one) < 0 && errno == EINTR) {
  }
}

void rr_eventcount_wake(rr_eventcount *ec, uint32_t word) {
  /* One of several notifiers wins; the losers find the word disarmed, or armed under a later
   * epoch by a sleeper that looks at its condition after it armed. */
  while ((word & 1) != 0) {
    if (!rr_cas_seq_cst(RR_EDGE_WAKE, &ec->word, &word, (word & ~1u) + 2u)) continue;
    syscall(SYS_futex, &ec->word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
    if (ec->descriptor >= 0) signal_descriptor(ec);
    return;
  }
}
