/* rr_thread.h: the functions of POSIX threads on Linux that Swift's Glibc module does not offer. */
#ifndef RR_THREAD_H
#define RR_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Names the calling thread. The kernel keeps the first 15 bytes. */
void rr_thread_set_name(const char *name);
/* The calling thread's name as the kernel knows it, at most 15 bytes. */
struct rr_thread_name {
  char bytes[16];
};
struct rr_thread_name rr_thread_get_name(void);
/* The calling thread's number, as the system's tools display it. */
int rr_thread_number(void);
/* As pthread_create. The new thread inherits the processors of the calling thread; but if
 * rr_thread_run_on has bound that to one, those of the first thread before anything was bound. Any
 * thread. */
int rr_thread_create(pthread_t *thread, void *(*body)(void *), void *argument);
/* Restricts `thread` to that processor. Returns false if this process may not use it. Any thread.
 */
bool rr_thread_run_on(pthread_t thread, int processor);
/* The number of processors that the calling thread, or one that it starts with rr_thread_create,
 * may use. */
int rr_thread_processor_count(void);
/* Whether the calling thread is the first thread of the process. */
bool rr_thread_is_first(void);
/* The address at which half of the calling thread's stack is used. Below it less than half is left.
 * If the system does not say where the stack is: a little below the caller. */
uintptr_t rr_thread_stack_middle(void);

/* What the calling thread is in the middle of. */
struct rr_thread_position {
  /* The result of rr_thread_stack_middle once it is known; before that the highest address, so that
   * one comparison finds both a low stack and an address that is not known yet. */
  uintptr_t known_middle;
  /* The address of what its innermost turn keeps, with the lowest bit for a round or a read, and
   * two more that TurnMark documents; 0 if it is inside of none of these. */
  uintptr_t turn_mark;
  /* What sources have yet to emit, in their turns; NULL if they emit at once. */
  void *emissions;
  /* The innermost scope; NULL if it is in none. */
  void *scope;
  /* The innermost read of a state with one place; NULL if it reads none. */
  void *read;
  /* The innermost turn, which debug builds record; NULL if it runs none. */
  void *turn;
};

/* Initial-exec: one load or store for each field, without a call. One object, so that a function
 * that needs several fields finds the address once. */
extern _Thread_local struct rr_thread_position rr_thread_position
    __attribute__((tls_model("initial-exec")));

/* False if it is known that the calling thread has used less than half of its stack. */
static inline bool rr_thread_stack_may_be_low(void) {
  const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
  return __builtin_expect(frame < rr_thread_position.known_middle, 0);
}

/* Whether the calling thread has used more than half of its stack. */
static inline bool rr_thread_stack_is_low(void) {
  const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
  if (!rr_thread_stack_may_be_low()) return false;
  if (rr_thread_position.known_middle != UINTPTR_MAX) return true;
  rr_thread_position.known_middle = rr_thread_stack_middle();
  return frame < rr_thread_position.known_middle;
}

/* Whether the calling thread is inside of nothing: neither of what is marked, nor of a scope, nor
 * of an open queue of emissions. */
static inline bool rr_thread_is_outside(void) {
  return (rr_thread_position.turn_mark | (uintptr_t)rr_thread_position.emissions |
          (uintptr_t)rr_thread_position.scope) == 0;
}

static inline uintptr_t rr_thread_get_turn_mark(void) { return rr_thread_position.turn_mark; }
static inline void rr_thread_set_turn_mark(uintptr_t mark) { rr_thread_position.turn_mark = mark; }

static inline void *rr_thread_get_read(void) { return rr_thread_position.read; }
static inline void rr_thread_set_read(void *read) { rr_thread_position.read = read; }

static inline void *rr_thread_get_emissions(void) { return rr_thread_position.emissions; }
static inline void rr_thread_set_emissions(void *queue) { rr_thread_position.emissions = queue; }

static inline void *rr_thread_get_scope(void) { return rr_thread_position.scope; }
static inline void rr_thread_set_scope(void *scope) { rr_thread_position.scope = scope; }

static inline void *rr_thread_get_turn(void) { return rr_thread_position.turn; }
static inline void rr_thread_set_turn(void *turn) { rr_thread_position.turn = turn; }

#ifdef __cplusplus
}
#endif

#endif
