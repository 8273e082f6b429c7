/* For processor sets and gettid. */
#define _GNU_SOURCE

#include "rr_thread.h"

#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

_Thread_local uintptr_t rr_thread_known_middle = UINTPTR_MAX;
_Thread_local uintptr_t rr_thread_turn_mark;
_Thread_local void *rr_thread_innermost_read;
_Thread_local void *rr_thread_emissions;
_Thread_local void *rr_thread_innermost_scope;
_Thread_local void *rr_thread_innermost_turn;

void rr_thread_set_name(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

struct rr_thread_name rr_thread_get_name(void) {
  struct rr_thread_name name = {{0}};
  prctl(PR_GET_NAME, name.bytes, 0, 0, 0);
  return name;
}

int rr_thread_number(void) { return (int)gettid(); }

bool rr_thread_run_on(pthread_t thread, int processor) {
  if (processor < 0 || processor >= CPU_SETSIZE) return false;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  CPU_SET(processor, &allowed);
  return pthread_setaffinity_np(thread, sizeof allowed, &allowed) == 0;
}

int rr_thread_processor_count(void) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
  /* There are more processors than fit into the set. */
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (int)online : 1;
}

bool rr_thread_is_first(void) { return gettid() == getpid(); }

uintptr_t rr_thread_stack_middle(void) {
  pthread_attr_t attributes;
  void *lowest = NULL;
  size_t size = 0;
  /* On failure: an address below every stack. */
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 1;
  if (pthread_attr_getstack(&attributes, &lowest, &size) != 0) size = 0;
  pthread_attr_destroy(&attributes);
  return size == 0 ? 1 : (uintptr_t)lowest + size / 2;
}
