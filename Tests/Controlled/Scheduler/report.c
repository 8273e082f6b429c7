/* What is printed: each point of a trace, why an execution failed, and which one was running when
 * the process died. */
/* For dprintf. */
#define _GNU_SOURCE

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

/* MARK: failures */

static char text[16384];

__attribute__((format(printf, 1, 2))) static void append(const char *format, ...) {
  const size_t used = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + used, sizeof text - used, format, arguments);
  va_end(arguments);
}

static const char *state_text(const execution *now, const thread *of) {
  if (of == now->running) return "runs";
  switch (of->state) {
  case READY:
    return of->spins ? "spins" : "could run";
  case BLOCKED:
    return of->deadline == INT64_MAX ? "waits" : "waits for a time";
  case ENDED:
    return "has ended";
  }
  return "";
}

void ctl_report(execution *now, const char *reason) {
  now->outcome->failed = true;
  now->outcome->text = text;
  text[0] = 0;
  append("%s\n", reason);
  append("after %u points and %u switches; each thread and its last point:\n", now->points,
         now->outcome->switches);
  for (uint32_t i = 0; i < now->thread_count; i++) {
    const thread *const each = now->threads[i];
    append("  %2u %-15s %-16s %s", each->number, each->name, state_text(now, each), each->what);
    if (each->place.text != NULL)
      append(", %s %s:%u", each->is_at_place ? "at" : "after", each->place.text, each->place.line);
    append(" (point %u)\n", each->point);
  }
}

/* MARK: traces */

#define MOST_OBJECTS 4096

/* The objects of the execution, numbered in the order of their first points. */
static const volatile void *objects[MOST_OBJECTS];
static unsigned object_count;

static unsigned number_of(const volatile void *object) {
  for (unsigned i = 0; i < object_count; i++) {
    if (objects[i] == object) return i + 1;
  }
  if (object_count == MOST_OBJECTS) return 0;
  objects[object_count++] = object;
  return object_count;
}

void ctl_trace(const thread *thread, const volatile void *object) {
  fprintf(stderr, "%6u %2u %-15s %s", thread->point, thread->number, thread->name, thread->what);
  if (object != NULL) fprintf(stderr, " #%u", number_of(object));
  if (thread->is_at_place) fprintf(stderr, ", %s:%u", thread->place.text, thread->place.line);
  fputc('\n', stderr);
}

/* MARK: the death of the process */

static const char *label = "";

static void name_schedule(int signal_number) {
  char path[4096];
  const execution *const now = ctl_current;
  if (now != NULL) {
    dprintf(STDERR_FILENO, "controlled: the process dies in the schedule %s", label);
    if (now->options.strategy == CTL_SYSTEMATIC) {
      ctl_search_print(path, sizeof path);
      dprintf(STDERR_FILENO, "%s", path);
    }
    dprintf(STDERR_FILENO, ", at point %u, on thread %u\n", now->points, now->running->number);
  }
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

void ctl_report_begin(const execution *now) {
  static bool is_installed;
  label = now->options.label;
  object_count = 0;
  if (is_installed) return;
  is_installed = true;
  const int deadly[] = {SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT};
  for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) signal(deadly[i], name_schedule);
}
