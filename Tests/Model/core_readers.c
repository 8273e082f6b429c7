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

static habit of_fiber[MODEL_ALL_THREADS];

void model_readers_reset(void) {
  memset(of_fiber, 0, sizeof of_fiber);
  memset(&mine, 0, sizeof mine);
  first = NULL;
}

void model_readers_switch(int from, int to) {
  of_fiber[from] = mine;
  mine = of_fiber[to];
}

void model_readers_end_thread(void) {
  if (mine.reader != NULL) end_thread(mine.reader);
}

void model_readers_end_of(int thread) {
  if (of_fiber[thread].reader != NULL) rr_reader_destroy(of_fiber[thread].reader);
}

bool model_readers_is_marked(int thread) {
  const rr_reader *reader = of_fiber[thread].reader;
  return reader != NULL && (rr_load_relaxed(&reader->kept) & RR_READER_REVOKED) != 0;
}
