/* model.h: a model checker for the C core.
 *
 * A case is a few short threads that call the real code: the sources of the core, compiled with
 * RR_MODEL, which turns each atomic operation into a call of this checker (rr_model_atomic.h). The
 * threads are fibers on one thread of the system. Before each atomic operation the checker chooses
 * who goes on; at each load, which of the values that its memory order allows is read. It runs the
 * case again and again until it has made every choice within the case's bounds.
 *
 *   fibers.c     stacks, and going from one to the other
 *   choices.c    the choices made so far; the next ones: depth first, or at random, or from a
 *                replay string
 *   schedule.c   who runs; waiting, deadlocks, lost wake-ups, frozen threads
 *   memory.c     what a load may read: the C11 orders, by views
 *   arena.c      memory, what is leaked, and races of plain accesses
 *   platform.c   the system: futex, membarrier, the clock, mutexes
 *   execution.c  one execution of a case
 *   main.c       the command
 *
 * What a result covers, and what not: README.md beside this file.
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Threads of a case; number 0 is who sets up and finishes, alone. */
#define MODEL_THREADS 4
#define MODEL_EVERYBODY (MODEL_THREADS + 1)

/* How much an execution may differ from one in which nobody is interrupted and every load reads the
 * newest value. Within the bounds everything is tried. */
typedef struct model_bounds {
  uint8_t preemptions; /* a thread that could go on is interrupted */
  uint8_t stale;       /* a load reads an older value than the newest */
  uint8_t faults;      /* the system answers otherwise than asked: model_may_fail() */
} model_bounds;

typedef struct model_case {
  const char *name;
  const char *about;
  void (*setup)(void);
  void (*threads[MODEL_THREADS])(void);
  /* Once all threads have ended: what must hold. Frees what the setup made. */
  void (*finish)(void);
  model_bounds bounds;
  /* For the long mode. */
  model_bounds far;
  /* A test of the checker: some execution must fail, with this in its text. */
  const char *must_fail;
  /* That one lies beyond both bounds: random choices must find it, all others must not. */
  bool only_at_random;
  /* The kernel has no membarrier. */
  bool is_symmetric;
  /* The threads run rr_fence_setup() for the first time. In the other cases it was run before, and
   * the loads of its flags are no steps. */
  bool chooses_fence;
} model_case;

extern const model_case *const model_cases[];

/* MARK: for cases */

/* Ends the execution as a failure, unless it holds. */
#define model_check(holds)                                                                         \
  do {                                                                                             \
    if (!(holds)) model_fail("%s:%d: %s", __FILE__, __LINE__, #holds);                             \
  } while (0)

__attribute__((noreturn, format(printf, 1, 2))) void model_fail(const char *format, ...);
/* Zeros; freed by model_release(), or reported as leaked. */
void *model_allocate(size_t size);
void model_release(void *memory);
/* Which thread runs: 1 and up; 0 in setup and finish. */
int model_self(void);
/* There is nothing to do until another thread does something. */
void model_pause(void);
/* From here on (until false) the thread may stop for good at any of its steps: a fault. */
void model_fragile(bool fragile);
bool model_was_frozen(int thread);
/* The time that model_clock_ns() tells goes on only by waiting. */
int64_t model_clock_ns(void);

/* MARK: between the parts of the checker */

typedef enum model_order {
  MODEL_NONE,
  MODEL_RELAXED,
  MODEL_ACQUIRE,
  MODEL_RELEASE,
  MODEL_ACQ_REL,
  MODEL_SEQ_CST,
} model_order;

/* One atomic operation in the sources. */
typedef struct model_site {
  const char *edge; /* NULL if relaxed */
  const char *function;
  const char *operation;
  const char *object;
  model_order order; /* weakened by --weaken */
} model_site;

/* Choices: 0 … count - 1. */
unsigned model_choose(unsigned count);
/* The same, if something is left of a bound; one choice other than 0 takes one away. */
unsigned model_choose_within(uint8_t *left, unsigned count);
/* Whether the system answers otherwise here. */
bool model_may_fail(void);

extern model_bounds model_left;
extern int model_running;
extern bool model_is_tracing;
__attribute__((format(printf, 1, 2))) void model_trace(const char *format, ...);

/* Called before each operation that other threads may notice: somebody else may go on first. */
void model_step(void);
/* Whether the case has been told that operations outside of the arena are steps. */
extern bool model_steps_everywhere;
/* The running thread waits until model_wake() of that address, or at once fails as a deadlock. */
void model_block(const void *address, const char *why);
void model_wake(const void *address);
/* Something was written: who paused may look again. */
void model_note_progress(void);

/* What a thread knows: of each location, the oldest message that it may still read; of each thread,
 * up to where what it did happened before. */
#define MODEL_LOCATIONS 48
typedef struct model_view {
  uint8_t seen[MODEL_LOCATIONS];
  uint16_t clock[MODEL_EVERYBODY];
} model_view;
void model_view_join(model_view *into, const model_view *from);
model_view *model_view_of(int thread);

void model_memory_reset(void);
/* A compiler fence is left out: loads may be executed before the store before it. */
void model_memory_let_loads_pass(void);
/* `from` gives everything it knows to `to`: the beginning and the end of threads. */
void model_memory_pass(int from, int to);
/* A full fence on every thread. */
void model_memory_barrier_everywhere(void);
/* The newest value of a futex word, as the kernel reads it. */
uint32_t model_memory_newest(const void *address);
/* Forgets the locations inside of a block. */
void model_memory_forget(const void *memory, size_t size);

void model_arena_reset(void);
bool model_arena_holds(const void *address);
/* Complains if the last plain write did not happen before. */
void model_arena_check_atomic(const void *address, size_t size);
void model_arena_note_plain(const void *address, size_t size, bool writes);
void model_arena_check_leaks(void);

void model_platform_reset(const model_case *which);

/* Begins `body` on the stack of `fiber` when model_fiber_switch() first goes there. */
void model_fiber_prepare(int fiber, void (*body)(void));
void model_fiber_switch(int from, int to);

void model_schedule_reset(int threads);
/* Runs all threads to their ends. */
void model_schedule_run(void);
/* The running thread has done all it had to. */
__attribute__((noreturn)) void model_schedule_end_thread(void);

typedef struct model_outcome {
  bool failed;
  char text[512];
} model_outcome;
/* Runs the case once, with the choices to come. */
void model_execute(const model_case *which, model_bounds bounds, model_outcome *outcome);
void model_choices_restart(void);
bool model_choices_advance(void);
void model_choices_at_random(uint64_t seed);
/* As text, and back; false if it is not one. */
void model_choices_print(char *text, size_t size);
bool model_choices_parse(const char *text);

#endif
