/* rr_readers.c on the checker's mutex, with a copy of the thread-local variables for each fiber. */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "core.h"

#define pthread_mutex_lock model_mutex_lock
#define pthread_mutex_unlock model_mutex_unlock
#define pthread_setspecific(key, value) ((void)(value), 0)
#define sched_yield model_yield
#include "rr_readers.c"

static struct {
  habit habit;
  rr_reader *reader;
} of_fiber[MODEL_ALL_THREADS];

void model_readers_reset(void) {
  memset(of_fiber, 0, sizeof of_fiber);
  memset(&mine, 0, sizeof mine);
  rr_reader_mine = NULL;
  first = NULL;
}

void model_readers_switch(int from, int to) {
  of_fiber[from].habit = mine;
  of_fiber[from].reader = rr_reader_mine;
  mine = of_fiber[to].habit;
  rr_reader_mine = of_fiber[to].reader;
}

void model_readers_end_thread(void) {
  if (rr_reader_mine != NULL) end_thread(rr_reader_mine);
}

void model_readers_end_of(int thread) {
  if (of_fiber[thread].reader != NULL) rr_reader_destroy(of_fiber[thread].reader);
}

bool model_readers_is_marked(int thread) {
  const rr_reader *reader = of_fiber[thread].reader;
  return reader != NULL && (rr_load_relaxed(&reader->kept) & RR_READER_REVOKED) != 0;
}
