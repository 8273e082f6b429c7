/* rr_platform.h: what the core asks of the system, as one table of functions: futex, membarrier,
 * clock, memory and descriptors. Signals and threads are not among it.
 *
 * The core calls the table that rr_platform_in_use points to. Outside of tests that is always
 * rr_platform_system. A test points it to a table of its own, in which calls fail, come back too
 * early or never reach the kernel; it starts from a copy of rr_platform_system.
 *
 * The pointer is plain data. It may be set only before the process uses any object of this library
 * (in a constructor, or first thing in main): nothing orders a later store with the loads of other
 * threads, and a block must be released by the table that allocated it. A table that is to fail
 * only now and then asks its own state, for instance a thread-local plan, whether it should.
 *
 * Only slow paths go through the table: one load and an indirect call beside a system call or an
 * allocation. No inline function of the core does.
 *
 * Functions that can fail return 0 or more, or -errno; none of them sets errno for the core.
 */
#ifndef RR_PLATFORM_H
#define RR_PLATFORM_H

#include <stddef.h>
#include <stdint.h>

struct epoll_event;
struct itimerspec;
struct timespec;

typedef struct rr_platform {
  /* Sleeps while the word is `key`, at most so long (NULL: for ever). 0 if woken, perhaps for no
   * reason; -EAGAIN if the word was another, -EINTR, -ETIMEDOUT. */
  long (*futex_wait)(_Atomic uint32_t *word, uint32_t key, const struct timespec *timeout);
  /* Wakes everybody who sleeps on the word. */
  void (*futex_wake)(_Atomic uint32_t *word);
  /* A MEMBARRIER_CMD_… of <linux/membarrier.h>. */
  long (*membarrier)(int command);
  int64_t (*clock_ns)(void);

  /* At least that aligned, but not rounded up to it; the alignment is a power of two and a multiple
   * of a pointer's size. NULL if there is no memory. */
  void *(*allocate)(size_t alignment, size_t size);
  /* Of zeros, aligned as malloc aligns. NULL if there is no memory. */
  void *(*allocate_zeroed)(size_t size);
  /* NULL is allowed. */
  void (*release)(void *block);

  /* Descriptors: non-blocking, closed on exec. */
  int (*event_descriptor)(void);
  int (*timer_descriptor)(void);
  int (*poller_descriptor)(void);
  long (*read)(int descriptor, void *bytes, size_t size);
  long (*write)(int descriptor, const void *bytes, size_t size);
  void (*close)(int descriptor);

  /* At that time of the clock. */
  long (*timer_set)(int timer, const struct itimerspec *when);
  /* An EPOLL_CTL_… of <sys/epoll.h>. */
  long (*poller_control)(int poller, int operation, int descriptor, struct epoll_event *event);
  long (*poller_wait)(int poller, struct epoll_event *events, int capacity, int timeout_ms);
} rr_platform;

/* Linux and its C library. */
extern const rr_platform rr_platform_system;
/* Whom the core asks. */
extern const rr_platform *rr_platform_in_use;

/* Returns the time of the monotonic clock, in nanoseconds since some moment before the process
 * began. Timers and timeouts of the kernel use the same clock. About 25 ns; no system call. */
int64_t rr_clock_ns(void);

#endif
