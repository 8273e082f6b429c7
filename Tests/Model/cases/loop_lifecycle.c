/* The life of a loop in one word: see loop_lifecycle.h. */
#include "loop_lifecycle.h"

enum { OPEN, CLOSING, SEALED, ENDED };

/* A failed compare-and-swap acquires in Swift; here it is relaxed. */
static bool loop_lifecycle_move(loop_lifecycle *word, uint32_t from, uint32_t to) {
  return rr_cas_acq_rel(MODEL_OF_THE_CASE, word, &from, to);
}

bool loop_lifecycle_open_to_closing(loop_lifecycle *word) {
  return loop_lifecycle_move(word, OPEN, CLOSING);
}

bool loop_lifecycle_closing_to_sealed(loop_lifecycle *word) {
  return loop_lifecycle_move(word, CLOSING, SEALED);
}

bool loop_lifecycle_sealed_to_ended(loop_lifecycle *word) {
  return loop_lifecycle_move(word, SEALED, ENDED);
}

bool loop_lifecycle_is_closed(loop_lifecycle *word) {
  return rr_load_acquire(MODEL_OF_THE_CASE, word) != OPEN;
}

bool loop_lifecycle_is_sealed(loop_lifecycle *word) {
  return rr_load_acquire(MODEL_OF_THE_CASE, word) >= SEALED;
}

bool loop_lifecycle_has_ended(loop_lifecycle *word) {
  return rr_load_acquire(MODEL_OF_THE_CASE, word) == ENDED;
}

/* MARK: what waits for the end */

void termination_when_over(termination *t, void (*action)(void)) {
  model_mutex_lock(t);
  const bool is_late = t->is_over;
  if (!is_late) {
    model_check(t->count < MODEL_THREADS);
    t->actions[t->count++] = action;
  }
  model_mutex_unlock(t);
  if (is_late) action();
}

void termination_finish(termination *t) {
  model_mutex_lock(t);
  const int count = t->is_over ? 0 : t->count;
  t->is_over = true;
  model_mutex_unlock(t);
  /* Nothing is added once it is over, so the list is read without the lock. */
  for (int i = 0; i < count; i++) t->actions[i]();
}
