/* model.h: a model checker for the C core.
 *
 * A case is a few short threads that call the real code: the sources of the core, compiled with
 * RR_MODEL, which turns each atomic operation into a call of this checker (rr_model_atomic.h). The
 * threads are fibers on one thread of the system. Before each atomic operation the checker chooses
 * which thread runs next. At each load it chooses which of the values that the memory order allows
 * is read. It runs the case again and again until it has made every choice within the case's
 * bounds.
 *
 *  fibers.c     stacks, and switching between them
 *  choices.c    the choices made so far, and the next ones: depth first, at random, or from a
 *               replay string
 *  schedule.c   which thread runs; waiting, deadlocks, lost wake-ups, frozen threads
 *  memory.c     which values a load may read: the C11 orders, by views
 *  arena.c      memory, leaks, and races of plain accesses
 *  platform.c   the system: futex, membarrier, the clock, mutexes
 *  execution.c  one execution of a case
 *  main.c       the command
 *
 * README.md in this folder says what a result covers and what it does not.
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The threads of a case. Number 0 runs the setup and the finish, while no other thread runs. */
#define MODEL_THREADS 4
#define MODEL_ALL_THREADS (MODEL_THREADS + 1)

/* How much an execution may differ from one in which no thread is interrupted and every load reads
 * the newest value. Within the bounds the checker tries everything. */
typedef struct model_bounds {
  uint8_t preemptions; /* a thread that could continue is interrupted */
  uint8_t stale;       /* a load reads a value older than the newest */
  uint8_t faults;      /* the system fails, or returns early: model_choose_fault() */
} model_bounds;

typedef struct model_case {
  const char *name;
  const char *about;
  void (*setup)(void);
  void (*threads[MODEL_THREADS])(void);
  /* Runs after all threads have ended: checks what must hold, and frees what the setup made. */
  void (*finish)(void);
  model_bounds bounds;
  /* The bounds of the long mode. */
  model_bounds far;
  /* For tests of the checker itself: some execution must fail, with this in its text. */
  const char *must_fail;
  /* The failing execution lies beyond both bounds: random choices must find it, all other modes
   * must not. */
  bool only_at_random;
  /* The kernel has no membarrier. */
  bool is_symmetric;
  /* The kernel refuses each membarrier, though it has registered the process. */
  bool is_refused;
  /* The threads run rr_fence_setup() for the first time. In all other cases the setup has run
   * before, and the loads of its flags are not steps. */
  bool chooses_fence;
} model_case;

extern const model_case *const model_cases[];

/* MARK: for cases */

/* Ends the execution as a failure unless `holds` is true. */
#define model_check(holds)                                                                         \
  do {                                                                                             \
    if (!(holds)) model_fail("%s:%d: %s", __FILE__, __LINE__, #holds);                             \
  } while (0)

__attribute__((noreturn, format(printf, 1, 2))) void model_fail(const char *format, ...);
/* Allocates zeroed memory. It must be freed by model_release(), or it is reported as a leak. */
void *model_allocate(size_t size);
void model_release(void *memory);
/* The number of the running thread: 1 and up; 0 in setup and finish. */
int model_self(void);
/* Called when the thread has nothing to do until another thread does something. */
void model_pause(void);
/* From true until false the thread may stop permanently at any of its steps, which is a fault. */
void model_set_fragile(bool fragile);
bool model_was_frozen(int thread);
/* The clock of the case. Only waiting advances it. */
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
  model_order order; /* --weaken changes it */
} model_site;

/* Makes a choice: 0 … count - 1. */
unsigned model_choose(unsigned count);
/* The same, if the bound `left` is not used up. A choice other than 0 uses up one of it. */
unsigned model_choose_within(uint8_t *left, unsigned count);
/* Chooses whether the system fails or returns early here. */
bool model_choose_fault(void);

extern model_bounds model_left;
extern int model_running;
extern bool model_is_tracing;
__attribute__((format(printf, 1, 2))) void model_trace(const char *format, ...);

/* Called before each operation that other threads may notice. Another thread may run first. */
void model_step(void);
/* Whether operations outside of the arena are steps in this case, too. */
extern bool model_steps_everywhere;
/* Blocks the running thread until model_wake() of that address. Fails as a deadlock if no thread is
 * left to call it. */
void model_block(const void *address, const char *why);
void model_wake(const void *address);
/* A value was written: threads that paused may check their conditions again. */
void model_note_progress(void);

/* What a thread knows: for each location, the oldest message that it may still read; for each
 * thread, up to which point that thread's operations happened before. */
#define MODEL_LOCATIONS 48
typedef struct model_view {
  uint8_t seen[MODEL_LOCATIONS];
  uint16_t clock[MODEL_ALL_THREADS];
} model_view;
void model_view_join(model_view *into, const model_view *from);
model_view *model_view_of(int thread);

void model_memory_reset(void);
/* For a compiler fence that was left out: loads may run before the store before them. */
void model_memory_allow_early_loads(void);
/* Gives everything that `from` knows to `to`: at the beginning and at the end of threads. */
void model_memory_synchronize(int from, int to);
/* Runs a full fence on every thread. */
void model_memory_barrier_everywhere(void);
/* The newest value of a futex word, which is what the kernel reads. */
uint32_t model_memory_newest(const void *address);
/* Forgets the locations inside of a block. */
void model_memory_forget(const void *memory, size_t size);

void model_arena_reset(void);
bool model_arena_holds(const void *address);
/* Fails if the last plain write did not happen before this atomic access. */
void model_arena_check_atomic(const void *address, size_t size);
void model_arena_note_plain(const void *address, size_t size, bool writes);
void model_arena_check_leaks(void);

void model_platform_reset(const model_case *which);

/* Lets `fiber` run `body` when model_fiber_switch() first switches to it. */
void model_fiber_prepare(int fiber, void (*body)(void));
void model_fiber_switch(int from, int to);

void model_schedule_reset(int threads);
/* Runs all threads until they end. */
void model_schedule_run(void);
/* Called when the running thread has returned from its function. */
__attribute__((noreturn)) void model_schedule_end_thread(void);

typedef struct model_outcome {
  bool failed;
  char text[512];
} model_outcome;
/* Runs the case once, with the next choices. */
void model_execute(const model_case *which, model_bounds bounds, model_outcome *outcome);
void model_choices_restart(void);
bool model_choices_advance(void);
void model_choices_at_random(uint64_t seed);
/* Converts the choices to text and back. Parsing returns false if the text is not a replay string.
 */
void model_choices_print(char *text, size_t size);
bool model_choices_parse(const char *text);

#endif
