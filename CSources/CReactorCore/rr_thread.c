/* For processor sets. */
#define _GNU_SOURCE

#include "rr_thread.h"

#include <sched.h>
#include <sys/prctl.h>

void rr_thread_set_name(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

bool rr_thread_run_on(pthread_t thread, int processor) {
  if (processor < 0 || processor >= CPU_SETSIZE) return false;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  CPU_SET(processor, &allowed);
  return pthread_setaffinity_np(thread, sizeof allowed, &allowed) == 0;
}
