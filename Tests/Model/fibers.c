/* Stacks for the threads of a case. The first switch to a fiber uses ucontext, all later ones use
 * setjmp, which makes no system call. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <ucontext.h>

#include "core.h"

#define STACK_SIZE (64 * 1024)

static _Alignas(64) unsigned char stacks[MODEL_ALL_THREADS][STACK_SIZE];
static jmp_buf places[MODEL_ALL_THREADS];
static ucontext_t beginnings[MODEL_ALL_THREADS];
static void (*bodies[MODEL_ALL_THREADS])(void);
static int current;

static void begin(void) {
  bodies[current]();
  __builtin_unreachable();
}

void model_fiber_prepare(int fiber, void (*body)(void)) {
  getcontext(&beginnings[fiber]);
  beginnings[fiber].uc_stack.ss_sp = stacks[fiber];
  beginnings[fiber].uc_stack.ss_size = STACK_SIZE;
  beginnings[fiber].uc_link = NULL;
  makecontext(&beginnings[fiber], begin, 0);
  bodies[fiber] = body;
}

void model_fiber_switch(int from, int to) {
  if (from == to) return;
  model_readers_switch(from, to);
  if (_setjmp(places[from]) != 0) return;
  current = to;
  if (to != 0 && bodies[to] != NULL && beginnings[to].uc_stack.ss_size != 0) {
    beginnings[to].uc_stack.ss_size = 0;
    setcontext(&beginnings[to]);
  }
  _longjmp(places[to], 1);
}
