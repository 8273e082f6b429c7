/* states.h: a state that an owner shows and threads read. As OwnedState does
 * (Sources/ReactorCore/Ownership), with two or three slots instead of eight, so that they run out.
 *
 * There is one at a time: a case sets it up, its threads use it, and it is finished. */
#ifndef MODEL_STATES_H
#define MODEL_STATES_H

#include "cases.h"

/* Of two words, so that half a state can be told from a whole one. */
typedef struct state {
  uint64_t a, b;
} state;

/* What is handed on with the ownership. */
typedef struct owned {
  int shown;
  state slots[3];
} owned;

extern struct states {
  rr_trampoline *trampoline;
  owned *own;
  int slot_count;
  /* For the checks. */
  int last_shown, deferred;
} states;

#define STATES_TOKEN UINT64_C(32)

/* Not yet started. */
void states_make(int slot_count);
/* Started, by an owner who stays the owner. */
void states_set_up(int slot_count);
void states_set_up_2(void);

/* For the owner. One that is not shown, nor pinned; or -1. */
int states_free_slot(void);
/* Shows a newer state, if there is a slot for it, or one whose pins can be taken back. */
void states_change(uint64_t value);

/* A whole state, not an older one than before. */
uint64_t states_read_by(rr_pin pin, uint64_t before);
uint64_t states_read_after(uint64_t before);
/* Threads that read once, or twice, and end. */
void states_read_1(void);
void states_read_2(void);

void states_check_no_pins(void);
/* At the end, for the owner. Nobody reads any more: no pin is left over, and the next change can be
 * shown. */
void states_finish(void);

#endif
