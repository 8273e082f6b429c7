/* rr_thread.h: what Swift's Glibc module does not offer of POSIX threads on Linux. */
#ifndef RR_THREAD_H
#define RR_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Names the calling thread; the kernel keeps the first 15 bytes. */
void rr_thread_set_name(const char *name);
/* Lets `thread` run on that processor only. False if this process may not use it. Any thread. */
bool rr_thread_run_on(pthread_t thread, int processor);

#endif
