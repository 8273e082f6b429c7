/* rr_thread.h: what Swift's Glibc module does not offer of POSIX threads on Linux. */
#ifndef RR_THREAD_H
#define RR_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Names the calling thread; the kernel keeps the first 15 bytes. */
void rr_thread_set_name(const char *name);
/* Lets `thread` run on that processor only. False if this process may not use it. Any thread. */
bool rr_thread_run_on(pthread_t thread, int processor);
/* Where half of the calling thread's stack is used: below that address less than half is left. */
uintptr_t rr_thread_stack_middle(void);

/* Whether the calling thread has used more than half of its stack. */
static inline bool rr_thread_stack_is_low(void) {
  static _Thread_local uintptr_t middle;
  if (middle == 0) middle = rr_thread_stack_middle();
  return (uintptr_t)__builtin_frame_address(0) < middle;
}

/* A word of the calling thread's own, NULL at first: what it is inside of, innermost first. */
void **rr_thread_scope(void);

#endif
