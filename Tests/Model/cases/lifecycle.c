/* The life of a reactor in one word: see lifecycle.h. */
#include "lifecycle.h"

/* The phase is in the low two bits, then come the marks. */
enum { OPEN, CLOSING, SEALED, ENDED };
#define PHASE 3u
#define DISCARDS 4u
#define CLOSED_BY_LOOP_ONLY 8u

static uint32_t load(lifecycle *word) { return rr_load_seq_cst(MODEL_OF_THE_CASE, word); }

static bool is_phase(uint32_t value, uint32_t phase) { return (value & PHASE) == phase; }

static bool try_change(lifecycle *word, uint32_t from, uint32_t to) {
  return rr_cas_seq_cst(MODEL_OF_THE_CASE, word, &from, to);
}

static uint32_t closed_by(closer by, uint32_t from) {
  uint32_t next = from;
  if (is_phase(from, OPEN)) next |= CLOSING;
  if (by == CLOSER_IS_LOOP) return is_phase(from, OPEN) ? next | CLOSED_BY_LOOP_ONLY : next;
  if (by == CLOSER_DISCARDS) next |= DISCARDS;
  return next & ~CLOSED_BY_LOOP_ONLY;
}

/* The loops load the word again after a failed compare-and-swap: in C that is relaxed, in Swift it
 * is as strong as a successful one. */
after_closing lifecycle_open_to_closing(lifecycle *word, closer by) {
  uint32_t from, to;
  do {
    from = load(word);
    if (is_phase(from, ENDED)) return AFTER_CLOSING_NOTHING;
    to = closed_by(by, from);
  } while (from != to && !try_change(word, from, to));
  if (is_phase(to, CLOSING)) return AFTER_CLOSING_SEAL;
  return by == CLOSER_IS_LOOP ? AFTER_CLOSING_NOTHING : AFTER_CLOSING_NOTIFY;
}

bool lifecycle_closing_to_sealed(lifecycle *word) {
  for (;;) {
    const uint32_t from = load(word);
    if (!is_phase(from, CLOSING)) return false;
    if (try_change(word, from, (from & ~PHASE) | SEALED)) return true;
  }
}

bool lifecycle_sealed_to_ended(lifecycle *word) {
  for (;;) {
    const uint32_t from = load(word);
    if (!is_phase(from, SEALED) || (from & CLOSED_BY_LOOP_ONLY)) return false;
    if (try_change(word, from, (from & ~PHASE) | ENDED)) return true;
  }
}

bool lifecycle_is_closed(lifecycle *word) { return load(word) != 0; }

bool lifecycle_may_end(lifecycle *word) {
  const uint32_t value = load(word);
  return is_phase(value, SEALED) && !(value & CLOSED_BY_LOOP_ONLY);
}

bool lifecycle_has_ended(lifecycle *word) { return is_phase(load(word), ENDED); }

bool lifecycle_refuses_owner(lifecycle *word) {
  const uint32_t value = load(word);
  return !is_phase(value, OPEN) && !(value & CLOSED_BY_LOOP_ONLY);
}

bool lifecycle_discards(lifecycle *word) { return (load(word) & DISCARDS) != 0; }
