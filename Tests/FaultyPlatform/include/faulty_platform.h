/* faulty_platform.h: a system that refuses, returns too early, or returns a wrong time.
 *
 * A program that links this file uses it instead of the real system, from before main on. It
 * behaves like the real system, except for a thread that has requested a fault. Requests belong to
 * one thread, so tests can run in parallel. To let one of the library's own threads fail, run a job
 * on it that makes the request.
 */
#ifndef FAULTY_PLATFORM_H
#define FAULTY_PLATFORM_H

#include <stdint.h>

/* The calls that can be made to fail, named as in rr_platform. */
typedef enum faulty_call {
  FAULTY_FUTEX_WAIT,
  FAULTY_MEMBARRIER,
  FAULTY_EVENT_DESCRIPTOR,
  FAULTY_TIMER_DESCRIPTOR,
  FAULTY_POLLER_DESCRIPTOR,
  FAULTY_READ,
  FAULTY_WRITE,
  FAULTY_POLLER_CONTROL,
  FAULTY_POLLER_WAIT,
  FAULTY_CALL_COUNT,
} faulty_call;

/* The next `times` calls (negative: all of them) by the calling thread return -error, and do not
 * reach the kernel. For futex_wait, error 0 is a wake-up for no reason. */
void faulty_fail(faulty_call call, int times, int error);
/* The same, after `first` calls that are executed. */
void faulty_fail_later(faulty_call call, int first, int times, int error);
/* Before its next such call, the calling thread runs `hook` once: for what must happen in between.
 */
void faulty_before(faulty_call call, void (*hook)(void *argument), void *argument);
/* How often the calling thread made that call, refused or not. */
long faulty_calls(faulty_call call);

/* Lets `count` allocations of the calling thread succeed and makes all later ones fail; negative:
 * none fails. */
void faulty_fail_allocations_after(int count);
/* Makes the next `count` allocations of the calling thread fail; later ones succeed. */
void faulty_fail_allocations(int count);
/* The number of blocks that any thread allocated and that were not released. */
long faulty_alive(void);
/* The same for the calling thread: what it allocated minus what it released. */
long faulty_alive_of_thread(void);

/* From now on the calling thread's clock stays at that time; negative: it runs again. */
void faulty_stop_clock(int64_t time_ns);

/* Removes all requests of the calling thread, and resets its counts of calls. */
void faulty_reset(void);

#endif
