/* faulty_platform.h: a system that refuses, comes back too early, or tells a wrong time.
 *
 * A program that links this file asks it instead of the real system, from before main on. It is
 * the real system, except for a thread that ordered a fault: orders are a thread's own, so tests
 * run beside one another. The library's own threads take orders from a job that runs on them.
 */
#ifndef FAULTY_PLATFORM_H
#define FAULTY_PLATFORM_H

#include <stdint.h>

/* What can be made to fail, by the names of rr_platform. */
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
 * reach the kernel. With error 0 a futex_wait is a wake-up for no reason. */
void faulty_fail(faulty_call call, int times, int error);
/* The same, after `first` calls that are made. */
void faulty_fail_later(faulty_call call, int first, int times, int error);
/* Before its next such call, the calling thread calls `hook` once: for what must come in between.
 */
void faulty_before(faulty_call call, void (*hook)(void *argument), void *argument);
/* How often the calling thread made that call, refused or not. */
long faulty_calls(faulty_call call);

/* Lets `count` allocations of the calling thread succeed and fails all after them; negative: none
 * fails. */
void faulty_fail_allocations_after(int count);
/* Blocks that all threads allocated and nobody released. */
long faulty_alive(void);
/* The same, of the calling thread: what it allocated less what it released. */
long faulty_alive_of_thread(void);

/* From now on the calling thread's clock stands still at that time; negative: it goes again. */
void faulty_stop_clock(int64_t time_ns);

/* All orders of the calling thread are forgotten, and its counts of calls. */
void faulty_reset(void);

#endif
