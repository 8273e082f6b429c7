/* Runs a case once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model.h"

model_bounds model_left;
bool model_is_tracing;
bool model_steps_everywhere;
static const model_case *current;
static jmp_buf failure;
static model_outcome *result;

void model_trace(const char *format, ...) {
  printf("    T%d  ", model_running);
  va_list arguments;
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  printf("\n");
}

void model_fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(result->text, sizeof result->text, format, arguments);
  va_end(arguments);
  result->failed = true;
  longjmp(failure, 1);
}

/* The function that each fiber runs. */
static void run_thread(void) {
  current->threads[model_running - 1]();
  model_schedule_end_thread();
}

static int count_threads(const model_case *which) {
  int count = 0;
  while (count < MODEL_THREADS && which->threads[count] != NULL) count++;
  return count;
}

static void run(const model_case *which) {
  const int count = count_threads(which);
  model_schedule_reset(count);
  model_memory_reset();
  model_arena_reset();
  model_platform_reset(which);
  which->setup();
  for (int i = 1; i <= count; i++) {
    model_memory_synchronize(0, i);
    model_fiber_prepare(i, run_thread);
  }
  model_schedule_run();
  for (int i = 1; i <= count; i++) model_memory_synchronize(i, 0);
  if (which->finish != NULL) which->finish();
  model_arena_check_leaks();
}

void model_execute(const model_case *which, model_bounds bounds, model_outcome *outcome) {
  outcome->failed = false;
  outcome->text[0] = 0;
  result = outcome;
  current = which;
  model_left = bounds;
  model_steps_everywhere = which->chooses_fence;
  if (setjmp(failure) == 0) run(which);
}
