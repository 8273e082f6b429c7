/* The command line. Scripts/model builds and calls it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model.h"

static const char usage[] =
    "usage: model [option…] [case…]      all cases if none is given\n"
    "  --list            lists the cases, with what each is about\n"
    "  --sites           lists every atomic operation in the sources: "
    "function|operation|object|edge|order\n"
    "  --long            wider bounds\n"
    "  --bounds P,S,F    preemptions, stale loads, faults\n"
    "  --random N        N executions with random choices, without bounds on preemptions and stale "
    "loads\n"
    "  --seed S          the seed of the random choices\n"
    "  --replay STRING   repeats one execution, step by step; needs the bounds of the failure\n"
    "  --weaken S=ORDER  S is function|operation|object; ORDER none, relaxed, acquire, release, "
    "acq_rel\n";

static struct options {
  bool is_long;
  const char *replay, *weakened;
  uint64_t executions, seed;
  const model_bounds *bounds;
} options;

/* MARK: sites */

extern model_site __start_model_sites[], __stop_model_sites[];
static const char *const orders[] = {"none", "relaxed", "acquire", "release", "acq_rel", "seq_cst"};

static void print_sites(void) {
  for (const model_site *s = __start_model_sites; s < __stop_model_sites; s++) {
    printf("%s|%s|%s|%s|%s\n", s->function, s->operation, s->object, s->edge == NULL ? "" : s->edge,
           orders[s->order]);
  }
}

static bool is_called(const model_site *site, const char *name, size_t length) {
  char whole[256];
  const int count =
      snprintf(whole, sizeof whole, "%s|%s|%s", site->function, site->operation, site->object);
  return (size_t)count == length && strncmp(whole, name, length) == 0;
}

static bool weaken(const char *text) {
  const char *order = strrchr(text, '=');
  if (order == NULL) return false;
  int found = -1;
  for (int i = MODEL_NONE; i <= MODEL_SEQ_CST; i++) {
    if (strcmp(order + 1, orders[i]) == 0) found = i;
  }
  bool any = false;
  for (model_site *s = __start_model_sites; found >= 0 && s < __stop_model_sites; s++) {
    if (!is_called(s, text, (size_t)(order - text))) continue;
    s->order = (model_order)found;
    any = true;
    if (strcmp(s->operation, "compiler fence") == 0) model_memory_allow_early_loads();
  }
  return any;
}

/* MARK: cases */

/* Processor time, so that other programs on the machine change it little. */
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* More than any execution reaches. */
#define NO_BOUND UINT8_MAX

static model_bounds bounds_of(const model_case *c) {
  if (options.bounds != NULL) return *options.bounds;
  /* Within the far bounds nothing is left to find, so random choices have no bounds. Only the bound
   * of the faults stays, because the case is made for that number of faults. */
  if (options.executions > 0) {
    return (model_bounds){NO_BOUND, c->far.stale > 0 ? NO_BOUND : 0, c->far.faults};
  }
  return options.is_long ? c->far : c->bounds;
}

static void explain(const model_case *c, const model_outcome *outcome) {
  if (!outcome->failed) {
    printf("  FAILED: every execution holds, although one must fail\n");
    return;
  }
  static char replay[4100];
  const model_bounds b = bounds_of(c);
  model_choices_print(replay, sizeof replay);
  printf("  FAILED: %s\n  again: Scripts/model", outcome->text);
  if (options.weakened != NULL) printf(" --weaken '%s'", options.weakened);
  printf(" --bounds %d,%d,%d --replay '%s' %s\n", b.preemptions, b.stale, b.faults, replay,
         c->name);
  model_outcome again;
  model_choices_parse(replay);
  model_is_tracing = true;
  model_execute(c, b, &again);
  model_is_tracing = false;
  printf("  %s\n", again.text);
}

/* Whether the outcome is the expected one. */
static bool is_expected(const model_case *c, const model_outcome *outcome) {
  if (c->must_fail == NULL) return !outcome->failed;
  const bool is_random = options.executions > 0;
  if (outcome->failed) {
    const bool is_beyond = is_random || options.bounds != NULL;
    return strstr(outcome->text, c->must_fail) != NULL && (is_beyond || !c->only_at_random);
  }
  /* Random choices may miss a failure that lies within the bounds. */
  return is_random != c->only_at_random;
}

static const char *in_words(const model_case *c, const model_outcome *outcome) {
  if (!is_expected(c, outcome)) return "FAILED";
  if (outcome->failed) return "is found";
  return options.executions > 0 ? "held, at random" : "holds";
}

/* Runs executions until one fails or none is left. Returns their number. */
static uint64_t execute_all(const model_case *c, model_outcome *outcome) {
  uint64_t executions = 0;
  model_choices_restart();
  for (;;) {
    if (options.executions > 0) model_choices_at_random(options.seed + executions);
    model_execute(c, bounds_of(c), outcome);
    executions++;
    if (outcome->failed) return executions;
    if (options.executions > 0 ? executions == options.executions : !model_choices_advance()) {
      return executions;
    }
  }
}

static bool explore(const model_case *c) {
  const double start = now();
  model_outcome outcome;
  const uint64_t executions = execute_all(c, &outcome);
  const model_bounds b = bounds_of(c);
  printf("%-36s %12llu executions %8.2f s  bounds %d,%d,%d  %s\n", c->name,
         (unsigned long long)executions, now() - start, b.preemptions, b.stale, b.faults,
         in_words(c, &outcome));
  if (!is_expected(c, &outcome)) explain(c, &outcome);
  fflush(stdout);
  return is_expected(c, &outcome);
}

static bool replay(const model_case *c) {
  model_outcome outcome;
  model_choices_parse(options.replay);
  model_is_tracing = true;
  model_execute(c, bounds_of(c), &outcome);
  printf("%s: %s\n", c->name, outcome.failed ? outcome.text : "holds");
  return is_expected(c, &outcome);
}

static const model_case *case_named(const char *name) {
  for (const model_case *const *c = model_cases; *c != NULL; c++) {
    if (strcmp((*c)->name, name) == 0) return *c;
  }
  return NULL;
}

static void list_cases(void) {
  for (const model_case *const *c = model_cases; *c != NULL; c++) {
    printf("%-36s %s\n", (*c)->name, (*c)->about);
  }
}

/* MARK: options */

static bool parse_bounds(const char *text) {
  static model_bounds given;
  unsigned p, s, f;
  if (sscanf(text, "%u,%u,%u", &p, &s, &f) != 3 || p > NO_BOUND || s > NO_BOUND || f > NO_BOUND)
    return false;
  given = (model_bounds){(uint8_t)p, (uint8_t)s, (uint8_t)f};
  options.bounds = &given;
  return true;
}

/* Parses an option that has a value. */
static bool parse_value(const char *name, const char *value) {
  if (value == NULL) return false;
  if (strcmp(name, "--replay") == 0) {
    options.replay = value;
    return model_choices_parse(value);
  }
  if (strcmp(name, "--random") == 0) return (options.executions = strtoull(value, NULL, 10)) > 0;
  if (strcmp(name, "--seed") == 0) {
    options.seed = strtoull(value, NULL, 10);
    return true;
  }
  if (strcmp(name, "--bounds") == 0) return parse_bounds(value);
  if (strcmp(name, "--weaken") == 0) return weaken(options.weakened = value);
  return false;
}

static int fail_usage(const char *what) {
  fprintf(stderr, "model: '%s' is not understood.\n%s", what, usage);
  return 2;
}

int main(int count, char **words) {
  const model_case *chosen[256];
  int chosen_count = 0;
  for (int i = 1; i < count; i++) {
    const char *word = words[i];
    const model_case *named = case_named(word);
    if (strcmp(word, "--list") == 0) return list_cases(), 0;
    if (strcmp(word, "--sites") == 0) return print_sites(), 0;
    if (strcmp(word, "--long") == 0) {
      options.is_long = true;
    } else if (named != NULL && chosen_count < 256) {
      chosen[chosen_count++] = named;
    } else if (parse_value(word, words[i + 1])) {
      i++;
    } else {
      return fail_usage(word);
    }
  }
  if (chosen_count == 0) {
    for (const model_case *const *c = model_cases; *c != NULL; c++) chosen[chosen_count++] = *c;
  }
  int failed = 0;
  for (int i = 0; i < chosen_count; i++) {
    failed += options.replay != NULL ? !replay(chosen[i]) : !explore(chosen[i]);
  }
  printf("%d passed, %d failed\n", chosen_count - failed, failed);
  return failed > 0;
}
