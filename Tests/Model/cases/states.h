/* states.h: a state that an owner publishes and threads read. As OwnedState does
 * (Sources/ReactorCore/Ownership), with two or three slots instead of eight, so that they run out.
 *
 * There is one state at a time: a case sets it up, its threads use it, and the case finishes it.
 */
#ifndef MODEL_STATES_H
#define MODEL_STATES_H

#include "cases.h"

/* Two words, so that a torn state can be told from a whole one. */
typedef struct state {
  uint64_t a, b;
} state;

/* What passes from owner to owner. */
typedef struct owned {
  int published;
  state slots[3];
} owned;

extern struct states {
  rr_trampoline *trampoline;
  owned *own;
  int slot_count;
  /* Used by the checks only. */
  int last_published, deferred;
} states;

#define STATES_TOKEN UINT64_C(32)

/* Makes a state that is not initialized. */
void states_make(int slot_count);
/* Makes a state that is initialized, and whose owner stays the owner. */
void states_set_up(int slot_count);
void states_set_up_2(void);

/* Returns a slot that is neither published nor pinned, or -1. The owner. */
int states_free_slot(void);
/* Publishes a newer state if a slot is free, or if the pins of one can be revoked; otherwise counts
 * it as deferred. The owner. */
void states_change(uint64_t value);

/* Reads a whole state that is not older than `before`, and returns its value. */
uint64_t states_read_by(rr_pin pin, uint64_t before);
uint64_t states_read_after(uint64_t before);
/* Threads that read once or twice, and end. */
void states_read_1(void);
void states_read_2(void);

void states_check_no_pins(void);
/* At the end, for the owner, when no thread reads any more: checks that no pin is left and that the
 * next change can be published. */
void states_finish(void);

#endif
