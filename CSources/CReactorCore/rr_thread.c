/* For processor sets and gettid. */
#define _GNU_SOURCE

#include "rr_thread.h"

#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "rr_atomic.h"

/* So much of a stack is there if its size cannot be found out. */
#define SURE_STACK ((uintptr_t)64 << 10)

_Thread_local struct rr_thread_position rr_thread_position = {.known_middle = UINTPTR_MAX};

void rr_thread_set_name(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

struct rr_thread_name rr_thread_get_name(void) {
  struct rr_thread_name name = {{0}};
  prctl(PR_GET_NAME, name.bytes, 0, 0, 0);
  return name;
}

int rr_thread_number(void) { return (int)gettid(); }

/* Guards what follows. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* The processors of the first thread before a thread was bound, and those that one was bound to. */
static cpu_set_t all_processors, bound_processors;
static bool are_known;
/* Whether a thread may have been bound. Relaxed: a thread that runs bound finds it set, because the
 * kernel has moved it after that, and the lock orders the rest. */
static _Atomic int may_be_bound;

/* Finds out whether rr_thread_run_on has bound the calling thread, which is then bound to a single
 * processor, one of those. If so, returns true and all processors. */
static bool is_bound(cpu_set_t *all) {
  cpu_set_t own;
  if (!rr_load_relaxed(&may_be_bound)) return false;
  /* It fails if there are more processors than fit into the set. */
  if (sched_getaffinity(0, sizeof own, &own) != 0 || CPU_COUNT(&own) != 1) return false;
  pthread_mutex_lock(&lock);
  CPU_AND(&own, &own, &bound_processors);
  const bool is_bound = are_known && CPU_COUNT(&own) == 1;
  if (is_bound) *all = all_processors;
  pthread_mutex_unlock(&lock);
  return is_bound;
}

int rr_thread_create(pthread_t *thread, void *(*body)(void *), void *argument) {
  cpu_set_t all;
  pthread_attr_t attributes;
  if (is_bound(&all) && pthread_attr_init(&attributes) == 0) {
    int failure = pthread_attr_setaffinity_np(&attributes, sizeof all, &all);
    if (failure == 0) failure = pthread_create(thread, &attributes, body, argument);
    pthread_attr_destroy(&attributes);
    /* It also fails if the process may use none of them any more. */
    if (failure == 0) return 0;
  }
  return pthread_create(thread, NULL, body, argument);
}

bool rr_thread_run_on(pthread_t thread, int processor) {
  if (processor < 0 || processor >= CPU_SETSIZE) return false;
  pthread_mutex_lock(&lock);
  if (!are_known)
    are_known = sched_getaffinity(getpid(), sizeof all_processors, &all_processors) == 0;
  CPU_SET(processor, &bound_processors);
  pthread_mutex_unlock(&lock);
  rr_store_relaxed(&may_be_bound, 1);
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  CPU_SET(processor, &allowed);
  return pthread_setaffinity_np(thread, sizeof allowed, &allowed) == 0;
}

int rr_thread_processor_count(void) {
  cpu_set_t allowed;
  if (is_bound(&allowed) || sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    return CPU_COUNT(&allowed);
  /* There are more processors than fit into the set. */
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (int)online : 1;
}

bool rr_thread_is_first(void) { return gettid() == getpid(); }

uintptr_t rr_thread_stack_middle(void) {
  pthread_attr_t attributes;
  void *lowest = NULL;
  size_t size = 0;
  /* For the first thread, libc opens a file of /proc. That fails without a free descriptor, and
   * where /proc is not mounted. */
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    if (pthread_attr_getstack(&attributes, &lowest, &size) != 0) size = 0;
    pthread_attr_destroy(&attributes);
  }
  if (size == 0) return (uintptr_t)__builtin_frame_address(0) - SURE_STACK;
  return (uintptr_t)lowest + size / 2;
}
