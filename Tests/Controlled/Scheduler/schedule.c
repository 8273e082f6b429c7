/* Which thread has the baton: points, blocking, and time. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "internal.h"

#define POINT_NS 20
#define SPIN_NS 1000
/* How far the clock may jump while a thread could run. */
#define EARLY_NS 1000000000

/* Of the hash FNV-1a. */
#define PRIME UINT64_C(0x100000001B3)

execution *ctl_current;
_Thread_local thread *ctl_self;

/* MARK: the baton */

void ctl_await_baton(thread *me) {
  while (__atomic_load_n(&me->go, __ATOMIC_ACQUIRE) == 0) ctl_futex_wait(&me->go, 0, -1);
  __atomic_store_n(&me->go, 0, __ATOMIC_RELAXED);
}

void ctl_give_baton(execution *now, thread *to) {
  to->spins = false;
  to->last_ran = now->points;
  if (to == now->running) return;
  now->running = to;
  now->outcome->switches++;
  __atomic_store_n(&to->go, 1, __ATOMIC_RELEASE);
  /* The other thread may have freed this already: then some other word is woken for no reason. */
  ctl_futex_wake(&to->go);
}

void ctl_end_execution(execution *now) {
  now->outcome->points = now->points;
  now->outcome->threads = now->thread_count;
  __atomic_store_n(&now->is_over, 1, __ATOMIC_RELEASE);
  ctl_futex_wake(&now->is_over);
}

void ctl_fail(const char *reason) {
  if (ctl_self == NULL) {
    fprintf(stderr, "controlled: %s, on a thread that is not controlled\n", reason);
    abort();
  }
  ctl_report(ctl_current, reason);
  ctl_end_execution(ctl_current);
  /* No thread gets the baton any more. */
  for (;;) pause();
}

/* MARK: who runs next */

static bool can_run(const execution *now, const thread *candidate) {
  if (candidate->state != READY) return false;
  return !candidate->spins || now->writes - candidate->own_writes != candidate->seen;
}

static thread *least_recent_spinner(const execution *now) {
  thread *found = NULL;
  for (uint32_t i = 0; i < now->thread_count; i++) {
    thread *const other = now->threads[i];
    if (other->state == READY && (found == NULL || other->last_ran < found->last_ran))
      found = other;
  }
  return found;
}

static thread *first_deadline(const execution *now) {
  thread *found = NULL;
  for (uint32_t i = 0; i < now->thread_count; i++) {
    thread *const other = now->threads[i];
    if (other->state == BLOCKED && other->deadline != INT64_MAX &&
        (found == NULL || other->deadline < found->deadline))
      found = other;
  }
  return found;
}

static void time_out(thread *sleeper) {
  sleeper->state = READY;
  sleeper->has_timed_out = true;
}

/* Moves the clock, and wakes the threads whose deadlines have come. */
static void set_clock(execution *now, int64_t time) {
  if (time > now->now) now->now = time;
  for (uint32_t i = 0; i < now->thread_count; i++) {
    thread *const other = now->threads[i];
    if (other->state == BLOCKED && other->deadline <= now->now) time_out(other);
  }
}

static bool have_all_ended(const execution *now) {
  for (uint32_t i = 0; i < now->thread_count; i++) {
    if (now->threads[i]->state != ENDED) return false;
  }
  return true;
}

thread *ctl_choose(execution *now) {
  for (;;) {
    thread *candidates[MOST_THREADS];
    uint32_t count = 0;
    const bool can_continue = can_run(now, now->running);
    if (can_continue) candidates[count++] = now->running;
    for (uint32_t i = 1; i < now->thread_count; i++) {
      thread *const other = now->threads[(now->running->number + i) % now->thread_count];
      if (can_run(now, other)) candidates[count++] = other;
    }
    thread *const sleeper = first_deadline(now);
    if (count == 0) {
      thread *const spinner = least_recent_spinner(now);
      if (spinner != NULL) return spinner;
      if (sleeper == NULL) {
        if (have_all_ended(now)) return NULL;
        ctl_fail(now->is_closing ? "a thread sleeps although the body has ended"
                                 : "every thread waits: a deadlock, or a lost wake-up");
      }
      if (now->is_closing && sleeper->deadline > now->horizon)
        ctl_fail("a thread still waits for the clock long after the body has ended");
      set_clock(now, sleeper->deadline);
      continue;
    }
    const bool may_jump = sleeper != NULL && sleeper->deadline - now->now <= EARLY_NS;
    /* Nothing to decide: so points that only some executions have, since they initialize something,
     * do not change the decisions after them. */
    if (count == 1 && !may_jump) return candidates[0];
    now->outcome->decisions++;
    const uint32_t chosen = ctl_strategy_choose(now, candidates, count, can_continue, may_jump);
    if (chosen < count) return candidates[chosen];
    set_clock(now, sleeper->deadline);
  }
}

/* Gives the baton away if the strategy says so, and returns when the thread has it again. */
static void pass_on(execution *now, thread *me) {
  thread *const next = ctl_choose(now);
  ctl_give_baton(now, next);
  if (next != me) ctl_await_baton(me);
}

/* MARK: points */

static void add_to_hash(execution *now, uint64_t value) {
  now->outcome->hash = (now->outcome->hash ^ value) * PRIME;
}

void ctl_note(execution *now, thread *me, const char *what, const volatile void *object,
              ctl_place place) {
  now->points++;
  if (me->name[0] == 0) prctl(PR_GET_NAME, me->name, 0, 0, 0);
  me->what = what;
  me->point = now->points;
  me->is_at_place = place.text != NULL;
  if (me->is_at_place) me->place = place;
  /* Not the object, whose address may differ. */
  add_to_hash(now, (uint64_t)me->number << 32 | place.line);
  for (const char *letter = what; *letter != 0; letter++) add_to_hash(now, (uint8_t)*letter);
  if (now->options.traces) ctl_trace(me, object);
  if (now->points > now->options.most_points) ctl_fail("too many points: no progress");
  ctl_drain_due(now);
  set_clock(now, now->now + POINT_NS);
}

void ctl_point(const char *what, const volatile void *object, ctl_place place) {
  thread *const me = ctl_self;
  if (me == NULL || me->sections > 0) return;
  execution *const now = ctl_current;
  ctl_note(now, me, what, object, place);
  pass_on(now, me);
}

void ctl_spin(ctl_place place) {
  thread *const me = ctl_self;
  if (me == NULL || me->sections > 0) return;
  execution *const now = ctl_current;
  ctl_note(now, me, "spins", NULL, place);
  set_clock(now, now->now + SPIN_NS);
  me->spins = true;
  me->seen = now->writes - me->own_writes;
  ctl_strategy_note_spin(now);
  pass_on(now, me);
}

bool ctl_block(const char *what, const volatile void *object, int64_t deadline, ctl_place place) {
  thread *const me = ctl_self;
  execution *const now = ctl_current;
  ctl_drain(me);
  ctl_note(now, me, what, object, place);
  if (deadline <= now->now) return false;
  me->state = BLOCKED;
  me->object = object;
  me->deadline = deadline;
  me->has_timed_out = false;
  pass_on(now, me);
  return !me->has_timed_out;
}

void ctl_wake(const volatile void *object) {
  execution *const now = ctl_current;
  if (ctl_self == NULL || now == NULL) return;
  for (uint32_t i = 0; i < now->thread_count; i++) {
    thread *const other = now->threads[i];
    if (other->state == BLOCKED && other->object == object) other->state = READY;
  }
  ctl_note_write();
}

void ctl_note_write(void) {
  ctl_current->writes++;
  ctl_self->own_writes++;
}

bool ctl_is_controlled(void) { return ctl_self != NULL; }
int64_t ctl_clock_ns(void) { return ctl_current->now; }
void ctl_enter_section(void) {
  if (ctl_self != NULL) ctl_self->sections++;
}
void ctl_leave_section(void) {
  if (ctl_self != NULL) ctl_self->sections--;
}
