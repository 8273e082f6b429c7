/* lifecycle.h: the life of a reactor in one word. As Lifecycle does
 * (Sources/ReactorRuntime/Mailbox/Lifecycle.swift), with the same transitions in the same order:
 *
 *   open -- open_to_closing --> closing -- closing_to_sealed --> sealed -- sealed_to_ended -->
 * ended
 */
#ifndef MODEL_LIFECYCLE_H
#define MODEL_LIFECYCLE_H

#include "cases.h"

typedef _Atomic uint32_t lifecycle;

/* As Lifecycle.Closer. */
typedef enum closer { CLOSER_DRAINS, CLOSER_DISCARDS, CLOSER_IS_LOOP } closer;

/* As Lifecycle.AfterClosing: what the thread that closes must do next. */
typedef enum after_closing {
  AFTER_CLOSING_NOTHING,
  AFTER_CLOSING_NOTIFY,
  AFTER_CLOSING_SEAL
} after_closing;

after_closing lifecycle_open_to_closing(lifecycle *word, closer by);
/* These return whether it was this call that changed the word. */
bool lifecycle_closing_to_sealed(lifecycle *word);
bool lifecycle_sealed_to_ended(lifecycle *word);

bool lifecycle_is_closed(lifecycle *word);
/* As Lifecycle.mayEnd: to be checked before the mailbox. */
bool lifecycle_may_end(lifecycle *word);
bool lifecycle_has_ended(lifecycle *word);
/* As Lifecycle.refusesOwner, outside of the reactor's own turns. */
bool lifecycle_refuses_owner(lifecycle *word);
bool lifecycle_discards(lifecycle *word);

#endif
