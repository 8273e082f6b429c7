/* The choices of an execution, in order. The next execution repeats all choices but the last one
 * that has an alternative left, and takes that alternative: depth first. */
#include <stdio.h>
#include <string.h>

#include "model.h"

/* An execution with more choices is considered endless. */
#define MOST_CHOICES 4096

typedef struct choice {
  uint8_t taken, count;
} choice;

static choice trail[MOST_CHOICES];
static size_t length, position;
static bool is_random;
static uint64_t random_state;
/* In this execution, interruptions and stale values happen once in 2^rarity times. */
static unsigned rarity;

void model_choices_restart(void) {
  position = 0;
  length = 0;
  is_random = false;
}

/* SplitMix64, by G. Steele, D. Lea and C. Flood. */
static uint64_t next_random(void) {
  uint64_t z = random_state += UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

void model_choices_at_random(uint64_t seed) {
  model_choices_restart();
  is_random = true;
  random_state = seed;
  rarity = 1 + (unsigned)(next_random() % 4);
}

static uint8_t any_of(unsigned count) { return (uint8_t)(next_random() % count); }

/* Some executions are full of interruptions and stale values, and some have almost none. So no
 * bound is needed, and a bound that exists is not used up at once. */
static uint8_t any_unusual(unsigned count) {
  const uint64_t mask = (UINT64_C(1) << rarity) - 1;
  return (next_random() & mask) != 0 ? 0 : (uint8_t)(1 + any_of(count - 1));
}

static unsigned choose(unsigned count, uint8_t (*any)(unsigned count)) {
  if (count <= 1) return 0;
  if (position == MOST_CHOICES)
    model_fail("more than %d choices: the execution does not end", MOST_CHOICES);
  if (position == length) {
    trail[length++] = (choice){.taken = is_random ? any(count) : 0, .count = (uint8_t)count};
  } else {
    trail[position].count = (uint8_t)count;
    if (trail[position].taken >= count) model_fail("this is not a replay string of this case");
  }
  return trail[position++].taken;
}

unsigned model_choose(unsigned count) { return choose(count, any_of); }

unsigned model_choose_within(uint8_t *left, unsigned count) {
  const unsigned taken = *left > 0 ? choose(count, any_unusual) : 0;
  if (taken != 0) (*left)--;
  return taken;
}

bool model_choose_fault(void) { return model_choose_within(&model_left.faults, 2) != 0; }

bool model_choices_advance(void) {
  length = position;
  position = 0;
  while (length > 0 && trail[length - 1].taken + 1 >= trail[length - 1].count) length--;
  if (length == 0) return false;
  trail[length - 1].taken++;
  return true;
}

static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";

void model_choices_print(char *text, size_t size) {
  size_t count = position;
  while (count > 0 && trail[count - 1].taken == 0) count--;
  size_t i = 0;
  for (; i < count && i + 1 < size; i++) text[i] = digits[trail[i].taken % 36];
  text[i] = 0;
}

bool model_choices_parse(const char *text) {
  model_choices_restart();
  for (; *text != 0; text++) {
    const char *digit = strchr(digits, *text);
    if (digit == NULL || length == MOST_CHOICES) return false;
    trail[length++] = (choice){.taken = (uint8_t)(digit - digits), .count = UINT8_MAX};
  }
  return true;
}
