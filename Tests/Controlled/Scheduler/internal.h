/* internal.h: what the parts of the scheduler know of each other.
 *
 *  schedule.c     which thread has the baton: points, blocking, time
 *  threads.c      executions, and their threads
 *  strategies.c   the decisions
 *  cells.c        atomic operations, late stores
 *  report.c       traces and failures
 *  interposed.c   the functions of the system and of Swift that are replaced
 *  dispatch.c     those of Dispatch */
#ifndef CONTROLLED_INTERNAL_H
#define CONTROLLED_INTERNAL_H

#include <pthread.h>

#include "controlled.h"

/* For points of replaced functions, whose place is known by the point before. */
#define CTL_NOWHERE ((ctl_place){.text = NULL, .line = 0})

/* More than any body needs. */
#define MOST_THREADS 64
#define MOST_LATE 8
#define MOST_HELD 32

typedef enum state { READY, BLOCKED, ENDED } state;

typedef struct late_store {
  volatile void *cell;
  size_t size;
  uint64_t value;
  /* Reaches memory when the execution comes to this point, if not before. */
  uint32_t due;
} late_store;

typedef struct thread {
  uint32_t number;
  pthread_t handle;
  bool is_joined;
  /* The name of the system's thread, noted at its first point. */
  char name[16];
  void *(*body)(void *);
  void *argument;
  /* 1: the thread has the baton. The only field that two threads access at the same time. */
  uint32_t go;

  state state;
  const volatile void *object; /* BLOCKED: what it waits for */
  int64_t deadline;
  bool has_timed_out;
  /* It spins: it waits until another thread has written. `seen` is how many writes of others there
   * were at that time. */
  bool spins;
  uint64_t seen, own_writes;
  uint64_t last_ran;
  /* PRIORITIES: the larger number runs. */
  int64_t priority;
  uint32_t sections;

  /* The last point, and the last one with a place, which may be an earlier one. */
  const char *what;
  uint32_t point;
  ctl_place place;
  bool is_at_place;

  /* The mutexes that it has locked. */
  const pthread_mutex_t *held[MOST_HELD];
  uint32_t held_count;

  late_store late[MOST_LATE];
  uint32_t late_count;
} thread;

typedef struct execution {
  ctl_options options;
  ctl_outcome *outcome;
  thread *threads[MOST_THREADS];
  uint32_t thread_count;
  thread *running;
  int64_t now;
  uint32_t points;
  uint64_t writes;
  /* The body has returned; until when the others may use the clock. */
  bool is_closing;
  int64_t horizon;
  /* 1: the execution is over. The starting thread sleeps on it. */
  uint32_t is_over;
} execution;

extern execution *ctl_current;
extern _Thread_local thread *ctl_self;

/* schedule.c */
void ctl_await_baton(thread *me);
void ctl_give_baton(execution *now, thread *to);
/* Decides which thread gets the baton. Returns NULL if all threads have ended. Does not return if
 * the execution fails. */
thread *ctl_choose(execution *now);
/* Counts a point and moves the clock. */
void ctl_note(execution *now, thread *me, const char *what, const volatile void *object,
              ctl_place place);
/* Takes note of something that threads that spin may wait for. */
void ctl_note_write(void);
/* Its threads stay where they are if it has failed. */
void ctl_end_execution(execution *now);

/* threads.c: starts a controlled thread; a controlled thread calls it. */
thread *ctl_start_thread(void *(*body)(void *), void *argument);
thread *ctl_thread_of(pthread_t handle);

/* strategies.c */
void ctl_strategy_begin(execution *now);
/* Priorities for a new thread. */
void ctl_strategy_add(execution *now, thread *added);
/* Chooses one of the candidates, or returns `count`: then the clock jumps to the next deadline,
 * which it may only if `may_jump`. The candidates begin with the running thread if that can
 * continue (`can_continue`), and are then in the order of their numbers, from the running one's. */
uint32_t ctl_strategy_choose(execution *now, thread **candidates, uint32_t count, bool can_continue,
                             bool may_jump);
/* The running thread spins. */
void ctl_strategy_note_spin(execution *now);
/* At how many points from now a store reaches memory: 0 at once. */
uint32_t ctl_strategy_delay(void);

/* cells.c */
void ctl_drain(thread *of);
void ctl_drain_all(void);
void ctl_drain_due(execution *now);

/* report.c */
void ctl_report_begin(const execution *now);
void ctl_trace(const thread *thread, const volatile void *object);
void ctl_report(execution *now, const char *reason);

/* interposed.c: the real functions. */
int ctl_real_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *),
                    void *argument);
int ctl_real_join(pthread_t thread, void **result);
void ctl_futex_wait(uint32_t *word, uint32_t key, int64_t timeout_ns);
void ctl_futex_wake(uint32_t *word);

#endif
