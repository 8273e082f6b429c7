/* loop_lifecycle.h: the life of a loop in one word, and what waits for its end. As LoopLifecycle
 * and Termination do (Placement/LoopLifecycle.swift and Mailbox/Termination.swift in
 * Sources/ReactorRuntime), with the same transitions in the same order:
 *
 *   open -- open_to_closing --> closing -- closing_to_sealed --> sealed
 *        -- sealed_to_ended --> ended
 */
#ifndef MODEL_LOOP_LIFECYCLE_H
#define MODEL_LOOP_LIFECYCLE_H

#include "cases.h"

typedef _Atomic uint32_t loop_lifecycle;

/* These return whether it was this call that changed the word. */
bool loop_lifecycle_open_to_closing(loop_lifecycle *word);
bool loop_lifecycle_closing_to_sealed(loop_lifecycle *word);
bool loop_lifecycle_sealed_to_ended(loop_lifecycle *word);

bool loop_lifecycle_is_closed(loop_lifecycle *word);
bool loop_lifecycle_is_sealed(loop_lifecycle *word);
bool loop_lifecycle_has_ended(loop_lifecycle *word);

/* As Termination: what runs once the loop has ended. */
typedef struct termination {
  /* Under the lock, which is this object. */
  int count;
  bool is_over;
  void (*actions[MODEL_THREADS])(void);
} termination;

/* Runs `action` after the end: on the thread that calls termination_finish(), or at once if it is
 * too late for that. */
void termination_when_over(termination *t, void (*action)(void));
void termination_finish(termination *t);

#endif
