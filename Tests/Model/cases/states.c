/* States that are published and read: see states.h. */
#include "states.h"

struct states states;

static void states_publish(uint64_t value, int slot) {
  states.own->slots[slot] = (state){value, value};
  states.own->published = slot;
  rr_trampoline_publish(states.trampoline, STATES_TOKEN, (uint64_t)slot);
  states.last_published = (int)value;
}

int states_free_slot(void) {
  for (int i = 0; i < states.slot_count; i++) {
    if (i != states.own->published && rr_pins_is_free(states.trampoline, i)) return i;
  }
  return -1;
}

void states_change(uint64_t value) {
  int slot = states_free_slot();
  if (slot < 0 && rr_readers_revoke(states.trampoline)) slot = states_free_slot();
  if (slot < 0) {
    states.deferred++;
  } else {
    states_publish(value, slot);
  }
}

void states_make(int slot_count) {
  states = (struct states){.slot_count = slot_count};
  states.own = model_allocate(sizeof *states.own);
  model_check(rr_trampoline_create(&states.trampoline, 0) == RR_OK);
}

void states_set_up(int slot_count) {
  states_make(slot_count);
  model_check(rr_trampoline_try_initialize(states.trampoline, STATES_TOKEN));
  states_publish(1, 0);
}

void states_set_up_2(void) { states_set_up(2); }

uint64_t states_read_by(rr_pin pin, uint64_t before) {
  const state found = states.own->slots[pin.slot];
  model_check(found.a == found.b && found.a >= before);
  rr_readers_unpin(states.trampoline, pin);
  return found.a;
}

uint64_t states_read_after(uint64_t before) {
  const rr_pin pin = rr_readers_pin(states.trampoline);
  model_check(pin.slot >= 0);
  return states_read_by(pin, before);
}

void states_read_1(void) {
  states_read_after(1);
  model_readers_end_thread();
}

void states_read_2(void) {
  states_read_after(states_read_after(1));
  model_readers_end_thread();
}

void states_check_no_pins(void) {
  for (int i = 0; i < RR_TRAMPOLINE_SLOTS; i++) model_check(rr_pins_is_free(states.trampoline, i));
}

void states_finish(void) {
  states_check_no_pins();
  const int before = states.deferred;
  states_change(9);
  model_check(states.deferred == before && states.last_published == 9);
  model_release(states.own);
  rr_trampoline_destroy(states.trampoline);
}
