#include "rr_pins.h"

#include <stdlib.h>

rr_status rr_pins_create(rr_pins **out) {
  rr_pins *pins = aligned_alloc(_Alignof(rr_pins), sizeof(rr_pins));
  *out = pins;
  if (pins == NULL) return RR_OUT_OF_MEMORY;
  for (int slot = 0; slot < RR_TRAMPOLINE_SLOTS; slot++) atomic_init(&pins->slots[slot].count, 0);
  return RR_OK;
}

void rr_pins_destroy(rr_pins *pins) { free(pins); }
