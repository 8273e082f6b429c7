/* The decisions: which thread continues at a point. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* MARK: random numbers */

static uint64_t random_state;

/* SplitMix64, by G. Steele, D. Lea and C. Flood. */
static uint64_t next_random(void) {
  uint64_t z = random_state += UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

static uint32_t below(uint32_t limit) { return (uint32_t)(next_random() % limit); }

/* MARK: random */

/* A thread is interrupted once in 2^rarity times. */
static unsigned rarity;
/* The clock jumps although a thread could run, once in so many interruptions. */
#define CLOCK_RARITY 16

static uint32_t choose_at_random(uint32_t count, bool can_continue, bool may_jump) {
  if (can_continue && below(1u << rarity) != 0) return 0;
  if (may_jump && below(CLOCK_RARITY) == 0) return count;
  return below(count);
}

/* MARK: priorities */

#define MOST_DEPTH 8
/* At these decisions the running thread becomes the lowest. */
static uint32_t changes[MOST_DEPTH];
static uint32_t change_count;
static int64_t lowest;
static int64_t clock_priority;

static void begin_priorities(const ctl_options *options) {
  const uint32_t length = options->expected_decisions > 0 ? options->expected_decisions : 1;
  change_count = 0;
  for (uint32_t i = 1; i < options->depth && change_count < MOST_DEPTH; i++)
    changes[change_count++] = 1 + below(length);
  lowest = 0;
  clock_priority = below(UINT32_MAX);
}

static uint32_t highest(thread **candidates, uint32_t count) {
  uint32_t found = 0;
  for (uint32_t i = 1; i < count; i++) {
    if (candidates[i]->priority > candidates[found]->priority) found = i;
  }
  return found;
}

static uint32_t choose_by_priority(execution *now, thread **candidates, uint32_t count,
                                   bool can_continue, bool may_jump) {
  for (uint32_t i = 0; i < change_count; i++) {
    if (changes[i] > now->outcome->decisions) continue;
    if (can_continue) candidates[0]->priority = --lowest;
    changes[i] = changes[--change_count];
    i--;
  }
  const uint32_t found = highest(candidates, count);
  if (may_jump && clock_priority > candidates[found]->priority) {
    clock_priority = --lowest;
    return count;
  }
  return found;
}

/* MARK: systematic */

/* An execution with more decisions is beyond what can be searched. */
#define MOST_DECISIONS 65536

typedef struct decision {
  uint8_t taken, count;
} decision;

static decision path[MOST_DECISIONS];
static uint32_t path_length, position, delays_left;

static uint32_t decide(uint32_t count) {
  if (count <= 1) return 0;
  if (position == MOST_DECISIONS) ctl_fail("too many decisions for a systematic search");
  if (position == path_length) {
    path[path_length++] = (decision){.taken = 0, .count = (uint8_t)count};
  } else {
    if (path[position].count == 0) path[position].count = (uint8_t)count;
    if (path[position].count != count || path[position].taken >= count)
      ctl_fail("the execution did not repeat the decisions of the one before: it depends on "
               "something that the scheduler does not control");
  }
  return path[position++].taken;
}

/* The candidates are in the order in which they continue without a delay. A jump of the clock
 * passes over all of them. */
static uint32_t choose_systematically(uint32_t count, bool may_jump) {
  const uint32_t all = count + (may_jump ? 1 : 0);
  const uint32_t taken = decide(delays_left + 1 < all ? delays_left + 1 : all);
  delays_left -= taken;
  return taken;
}

void ctl_search_begin(void) { path_length = position = 0; }

bool ctl_search_advance(void) {
  path_length = position;
  while (path_length > 0 && path[path_length - 1].taken + 1 >= path[path_length - 1].count)
    path_length--;
  if (path_length == 0) return false;
  path[path_length - 1].taken++;
  return true;
}

static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";

/* Most decisions are 0: a run of them is written as its length in parentheses. */
void ctl_search_print(char *text, size_t size) {
  uint32_t count = position;
  while (count > 0 && path[count - 1].taken == 0) count--;
  size_t used = 0;
  text[0] = 0;
  for (uint32_t i = 0; i < count && used + 16 < size;) {
    uint32_t run = 0;
    while (i + run < count && path[i + run].taken == 0) run++;
    if (run > 0) {
      used += (size_t)snprintf(text + used, size - used, "(%u)", run);
      i += run;
    } else {
      text[used++] = digits[path[i++].taken % 36];
      text[used] = 0;
    }
  }
}

bool ctl_search_parse(const char *text) {
  ctl_search_begin();
  while (*text != 0) {
    uint32_t run = 1;
    const char *digit = strchr(digits, *text);
    if (*text == '(') {
      char *end = NULL;
      run = (uint32_t)strtoul(text + 1, &end, 10);
      if (*end != ')') return false;
      text = end;
      digit = digits;
    }
    if (digit == NULL || run > MOST_DECISIONS - path_length) return false;
    /* How many alternatives there were becomes known when the decision is repeated. */
    for (uint32_t i = 0; i < run; i++)
      path[path_length++] = (decision){.taken = (uint8_t)(digit - digits), .count = 0};
    text++;
  }
  return true;
}

/* MARK: all of them */

/* In this execution, one in so many stores is late, by so many points at most. */
static uint32_t lateness, most_delay;

void ctl_strategy_begin(execution *now) {
  const ctl_options *const options = &now->options;
  random_state = options->seed;
  rarity = 1 + below(6);
  lateness = 1u << below(4);
  most_delay = 16u << below(5);
  position = 0;
  delays_left = options->delays;
  begin_priorities(options);
}

void ctl_strategy_add(execution *now, thread *added) {
  (void)now;
  added->priority = below(UINT32_MAX);
}

void ctl_strategy_note_spin(execution *now) { now->running->priority = --lowest; }

uint32_t ctl_strategy_choose(execution *now, thread **candidates, uint32_t count, bool can_continue,
                             bool may_jump) {
  switch (now->options.strategy) {
  case CTL_RANDOM:
    return choose_at_random(count, can_continue, may_jump);
  case CTL_PRIORITIES:
    return choose_by_priority(now, candidates, count, can_continue, may_jump);
  case CTL_SYSTEMATIC:
    return choose_systematically(count, may_jump);
  }
  return 0;
}

uint32_t ctl_strategy_delay(void) { return below(lateness) != 0 ? 0 : 1 + below(most_delay); }
