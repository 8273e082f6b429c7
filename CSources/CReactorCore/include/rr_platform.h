/* rr_platform.h: what the core needs from the system, as one table of functions: futex, membarrier,
 * clock, memory and descriptors. Signals and threads are not in the table.
 *
 * The core calls the table that rr_platform_in_use points to. Outside of tests that is always
 * rr_platform_system. A test can point it to a table of its own, in which calls fail, return too
 * early or never reach the kernel; such a table starts as a copy of rr_platform_system.
 *
 * The pointer is plain data. It may be set only before the process uses any object of this library
 * (in a constructor, or at the beginning of main): nothing orders a later store with the loads of
 * other threads, and a block must be released by the table that allocated it. A table whose calls
 * fail only sometimes must decide that by its own state, for example a thread-local plan.
 *
 * Only slow paths use the table: it costs one load and an indirect call next to a system call or an
 * allocation. No inline function on a hot path uses it.
 *
 * Functions that can fail return 0 or more, or -errno. None of them sets errno for the core.
 */
#ifndef RR_PLATFORM_H
#define RR_PLATFORM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct epoll_event;
struct itimerspec;
struct timespec;

typedef struct rr_platform {
  /* Sleeps while the word is `key`, at most for `timeout` (NULL: forever). Returns 0 if woken,
   * perhaps for no reason; -EAGAIN if the word had another value; -EINTR; -ETIMEDOUT. */
  long (*futex_wait)(_Atomic uint32_t *word, uint32_t key, const struct timespec *timeout);
  /* Wakes all threads that sleep on the word. */
  void (*futex_wake)(_Atomic uint32_t *word);
  /* `command` is a MEMBARRIER_CMD_… of <linux/membarrier.h>. */
  long (*membarrier)(int command);
  int64_t (*clock_ns)(void);

  /* Allocates at least at that alignment; the size is not rounded up to it. The alignment is a
   * power of two and a multiple of a pointer's size. Returns NULL if there is no memory. */
  void *(*allocate)(size_t alignment, size_t size);
  /* Allocates zeroed memory, aligned as malloc aligns. Returns NULL if there is no memory. */
  void *(*allocate_zeroed)(size_t size);
  /* NULL is allowed. */
  void (*release)(void *block);

  /* The new descriptors are non-blocking and closed on exec. */
  int (*event_descriptor)(void);
  int (*timer_descriptor)(void);
  int (*poller_descriptor)(void);
  long (*read)(int descriptor, void *bytes, size_t size);
  long (*write)(int descriptor, const void *bytes, size_t size);
  void (*close)(int descriptor);

  /* Lets the timer expire at this time of clock_ns. */
  long (*timer_set)(int timer, const struct itimerspec *when);
  /* `operation` is an EPOLL_CTL_… of <sys/epoll.h>. */
  long (*poller_control)(int poller, int operation, int descriptor, struct epoll_event *event);
  long (*poller_wait)(int poller, struct epoll_event *events, int capacity, int timeout_ms);
} rr_platform;

/* Linux and its C library. */
extern const rr_platform rr_platform_system;
/* The table that the core calls. */
extern const rr_platform *rr_platform_in_use;

/* Returns the time of the monotonic clock, in nanoseconds since some moment before the process
 * began. Timers and timeouts of the kernel use the same clock. About 25 ns; no system call. */
int64_t rr_clock_ns(void);

#ifdef __cplusplus
}
#endif

#endif
