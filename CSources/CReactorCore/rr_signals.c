/* For syscall. */
#define _GNU_SOURCE

#include "rr_signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "rr_atomic.h"
#include "rr_platform.h"

struct rr_signals {
  int descriptor;
  int count;
  sigset_t mask_before;
  struct {
    int number;
    struct sigaction before;
  } caught[];
};

/* The id of the thread that has caught the signals. Relaxed: a handler that reads it was installed
 * afterwards, by a system call. */
static _Atomic pid_t catcher;
/* Its process. */
static _Atomic pid_t process;

/* Runs in a thread that does not block the signal, and forwards it to the catcher. A catcher that
 * is gone has restored the handlers: then the signal has the effect that it had before. But in a
 * process that another thread has made by fork there was never a catcher, and nobody restores the
 * handlers: there the signal has its default effect. Otherwise it would be sent forever. */
static void pass_on(int number) {
  const int error = errno;
  if (getpid() != rr_load_relaxed(&process)) {
    signal(number, SIG_DFL);
    kill(getpid(), number);
  } else if (syscall(SYS_tgkill, getpid(), rr_load_relaxed(&catcher), number) != 0) {
    kill(getpid(), number);
  }
  errno = error;
}

static void restore_handlers(const rr_signals *signals) {
  /* In reverse order: if a number was given twice, its first entry has the original handler. */
  for (int index = signals->count - 1; index >= 0; index--)
    sigaction(signals->caught[index].number, &signals->caught[index].before, NULL);
}

/* Sends to the process what waits for the calling thread alone, if this blocked it before, too:
 * when the mask is restored, it would go on waiting, and be lost with the thread. */
static void send_blocked(const rr_signals *signals) {
  const struct timespec at_once = {0};
  for (int index = 0; index < signals->count; index++) {
    const int number = signals->caught[index].number;
    if (sigismember(&signals->mask_before, number) != 1) continue;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    /* Real-time signals queue. All are taken before the first is sent, which would be taken again.
     */
    int waiting = 0;
    while (sigtimedwait(&set, NULL, &at_once) == number) waiting++;
    while (waiting-- > 0) kill(getpid(), number);
  }
}

rr_signals *rr_signals_catch(const int *numbers, int count) {
  rr_signals *signals =
      rr_platform_in_use->allocate(_Alignof(max_align_t),
                                   sizeof *signals + (size_t)count * sizeof signals->caught[0]);
  if (signals == NULL) {
    errno = ENOMEM;
    return NULL;
  }
  sigset_t set;
  sigemptyset(&set);
  for (int index = 0; index < count; index++) sigaddset(&set, numbers[index]);
  signals->count = 0;
  signals->descriptor = -1;
  /* Blocked before the handler is installed. Otherwise the handler would forward the signal to this
   * thread forever. */
  pthread_sigmask(SIG_BLOCK, &set, &signals->mask_before);
  rr_store_relaxed(&catcher, (pid_t)syscall(SYS_gettid));
  rr_store_relaxed(&process, getpid());
  if (count > 0) signals->descriptor = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  struct sigaction passing = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
  sigfillset(&passing.sa_mask);
  for (int index = 0; index < count; index++) {
    signals->caught[index].number = numbers[index];
    if (signals->descriptor < 0 ||
        sigaction(numbers[index], &passing, &signals->caught[index].before) != 0) {
      const int error = errno;
      rr_signals_restore(signals);
      errno = error;
      return NULL;
    }
    signals->count++;
  }
  return signals;
}

int rr_signals_descriptor(const rr_signals *signals) { return signals->descriptor; }

int rr_signals_take(rr_signals *signals) {
  struct signalfd_siginfo info;
  while (signals->descriptor >= 0) {
    const long size = rr_platform_in_use->read(signals->descriptor, &info, sizeof info);
    if (size == (long)sizeof info) return (int)info.ssi_signo;
    if (size != -EINTR) break;
  }
  return 0;
}

void rr_signals_restore(rr_signals *signals) {
  if (signals == NULL) return;
  restore_handlers(signals);
  send_blocked(signals);
  if (signals->descriptor >= 0) rr_platform_in_use->close(signals->descriptor);
  pthread_sigmask(SIG_SETMASK, &signals->mask_before, NULL);
  rr_platform_in_use->release(signals);
}
