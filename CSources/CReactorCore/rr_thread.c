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

uintptr_t rr_thread_stack_middle(void) {
  pthread_attr_t attributes;
  void *lowest = NULL;
  size_t size = 0;
  /* On failure: an address that nobody is below of, but not 0, which would ask again each time. */
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 1;
  if (pthread_attr_getstack(&attributes, &lowest, &size) != 0) size = 0;
  pthread_attr_destroy(&attributes);
  return size == 0 ? 1 : (uintptr_t)lowest + size / 2;
}

void **rr_thread_scope(void) {
  static _Thread_local void *innermost;
  return &innermost;
}
