/* controlled.h: a deterministic scheduler, under which the tests run the library as it is.
 *
 * What it is. An execution runs a body on threads of the system, of which exactly one runs at a
 * time: the one that has the baton. Before each operation that another thread could notice, the
 * running thread comes to a point. There a strategy decides which thread gets the baton. The
 * decisions depend on nothing but the strategy and its seed, so an execution that failed can be
 * repeated. The tests run a body many times with different decisions.
 *
 * How the library gets here. Its sources are compiled unchanged, in a build of their own
 * (RR_CONTROLLED in Package.swift), in which what they use of the system is replaced:
 *
 *   Synchronization.Atomic          the module ControlledSynchronization, by -module-alias
 *   the C core's rr_atomic.h        controlled_atomic.h, by -DRR_CONTROLLED
 *   the C core's rr_platform.h      another table: futex, membarrier, descriptors
 *                                   (Tests/Controlled/Platform)
 *   mutexes, threads, the clock,    functions of the same names in interposed.c, which the linker
 *   Dispatch, Swift's weak loads    finds before those of the shared libraries
 *
 * What a point is. Each atomic operation, fence and membarrier; locking a mutex, trying to, or
 * finding it locked; sleeping, waking, joining and starting threads; pausing and yielding; polling
 * descriptors and making them readable; loading a weak reference; for an object that has weak
 * references, releasing the last strong one and checking whether a reference is the only one (where
 * the library's code does that, not inside of Swift's own library). A point comes before its
 * operation. So another thread runs between two operations, but never inside of one, and plain
 * accesses belong to the operation before them. That is enough to find every order of the
 * operations, as long as plain accesses do not race, which the stress tests check under
 * ThreadSanitizer.
 *
 * Waiting. A thread that blocks (on a mutex, a futex word, another thread) names the object that it
 * waits for, and gets the baton back only after a wake-up of that object, or at its deadline. If
 * every thread blocks without a deadline, the execution fails: a deadlock, or a lost wake-up. A
 * thread that spins (pause, yield) runs again only after another thread has written something, or
 * when no other thread can run: so a loop that waits for another thread does not go on for ever,
 * and no strategy must be fair. An execution with too many points fails, too: no progress.
 *
 * Time. The clock is virtual. It moves a little at each point, and when every thread waits it jumps
 * to the next deadline. A strategy may also let it jump by a second while other threads could run,
 * so that a short wait times out although it is about to be woken.
 *
 * Late stores. With ctl_options.late_stores a store that is not sequentially consistent may reach
 * memory later than the operations after it, as on real processors (a store buffer for each thread,
 * first in first out: total store order). Its own thread sees it at once. A read-modify-write, a
 * full fence, a lock or a system call of the same thread empties the buffer; a membarrier, and a
 * thread that has the last reference to an object, empty all. Loads are never early or stale
 * otherwise; the model checker (Tests/Model) has the whole C11 model for the C core.
 *
 * Strategies.
 *
 *   random      At a point, with a probability that is drawn for each execution from 1/2 to 1/64,
 *               any thread continues; otherwise the same one.
 *   priorities  PCT (S. Burckhardt, P. Kothari, M. Musuvathi, S. Nagarakatte, 2010): each thread
 *               has a random priority, and the highest runs. At depth - 1 random decisions the
 *               running thread becomes the lowest. With n threads and k decisions, a defect that
 *               needs d ordered events is found with probability 1 / (n * k^(d-1)) at least.
 *   systematic  Depth first through all decisions, with a bound on delays (M. Emmi, S. Qadeer,
 *               Z. Rakamaric, 2011): a thread continues as long as it can, and then the next one in
 *               the order of their numbers; each thread that a decision passes over is a delay. So
 *               k decisions have about k^d schedules with d delays, however many threads there are.
 *
 * What is not controlled, and must not be used by a body: serial queues of Dispatch other than the
 * main one, sources other than timers that fire once, calls that wait for descriptors other than
 * those of a poller. Code that initializes a static variable is not interrupted. Threads that were
 * not started by the body run as usual.
 *
 * The scheduler's own data belongs to the thread that has the baton. The hand-over, by a futex word
 * for each thread, is the only synchronization. */
#ifndef CONTROLLED_H
#define CONTROLLED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* MARK: executions */

typedef enum ctl_strategy {
  CTL_RANDOM,
  CTL_PRIORITIES,
  CTL_SYSTEMATIC,
} ctl_strategy;

typedef struct ctl_options {
  ctl_strategy strategy;
  /* RANDOM, PRIORITIES, and late stores. */
  uint64_t seed;
  /* PRIORITIES: the depth, and how many decisions an execution is expected to have. */
  uint32_t depth;
  uint32_t expected_decisions;
  /* SYSTEMATIC: the most delays. */
  uint32_t delays;
  /* An execution with more points fails. */
  uint32_t most_points;
  bool late_stores;
  /* Prints each point to the standard error. */
  bool traces;
  /* Printed if the process dies; for SYSTEMATIC the decisions follow. */
  const char *label;
} ctl_options;

typedef struct ctl_outcome {
  bool failed;
  uint32_t points;
  /* Points at which more than one thread could continue. */
  uint32_t decisions;
  uint32_t switches;
  uint32_t threads;
  /* Of all points, in order: two executions with the same number were the same. */
  uint64_t hash;
  /* Why it failed, and what each thread was doing; valid until the next execution. */
  const char *text;
} ctl_outcome;

/* Runs `body` on a controlled thread, and returns when all threads that it started have ended, or
 * when the execution has failed. The threads of a failed execution stay where they are for ever,
 * and with them the locks that they have. One execution at a time in a process. */
void ctl_run(const ctl_options *options, void (*body)(void *), void *context, ctl_outcome *outcome);

/* Lets each execution begin with a call of `reset`: what a part that replaces something of the
 * system keeps between its calls may be that of an execution that has failed. Before the first one;
 * 4 at most. */
void ctl_at_begin(void (*reset)(void));

/* Fails the execution with this reason; does not return. A controlled thread. */
__attribute__((noreturn)) void ctl_fail(const char *reason);
/* Whether the calling thread is one of the execution's. */
bool ctl_is_controlled(void);

/* SYSTEMATIC: begins a new search, or continues it after an execution. Advancing returns false when
 * every decision within the bound was made. */
void ctl_search_begin(void);
bool ctl_search_advance(void);
/* Makes the next execution repeat the decisions of this text, which ctl_search_print() wrote after
 * an execution. Returns false if the text is not such a list. */
bool ctl_search_parse(const char *text);
void ctl_search_print(char *text, size_t size);

/* MARK: points */

/* Where a point is in the sources. The text is a literal. */
typedef struct ctl_place {
  const char *text;
  uint32_t line;
} ctl_place;

/* As the C11 orders, less consume. */
typedef enum ctl_order {
  CTL_RELAXED,
  CTL_ACQUIRE,
  CTL_RELEASE,
  CTL_ACQ_REL,
  CTL_SEQ_CST
} ctl_order;
typedef enum ctl_change { CTL_EXCHANGE, CTL_ADD, CTL_SUBTRACT, CTL_OR, CTL_AND } ctl_change;

/* Atomic operations on 1, 2, 4 or 8 bytes. */
uint64_t ctl_load(const volatile void *cell, size_t size, ctl_order order, ctl_place place);
void ctl_store(volatile void *cell, size_t size, uint64_t value, ctl_order order, ctl_place place);
/* Returns the value before the change. */
uint64_t ctl_modify(volatile void *cell, size_t size, ctl_change change, uint64_t operand,
                    ctl_place place);
bool ctl_compare_exchange(volatile void *cell, size_t size, uint64_t *expected, uint64_t desired,
                          ctl_place place);
void ctl_fence(ctl_place place);
/* On every thread. */
void ctl_fence_everywhere(ctl_place place);
/* Lets the late stores of the calling thread reach memory. */
void ctl_drain_own(void);
/* This memory is about to be freed: late stores must not reach it afterwards. */
void ctl_forget(const volatile void *memory, size_t size);

/* The running thread waits for another one, actively. */
void ctl_spin(ctl_place place);
/* A point of any other kind. `what` is a literal. */
void ctl_point(const char *what, const volatile void *object, ctl_place place);
/* Blocks the running thread until a wake-up of `object` or the deadline, a time of ctl_clock_ns();
 * INT64_MAX is none. Is not a point: the caller checks its condition after one, and no thread runs
 * between the check and this. Returns false if the deadline came first. */
bool ctl_block(const char *what, const volatile void *object, int64_t deadline, ctl_place place);
/* Lets all threads that wait for `object` continue. */
void ctl_wake(const volatile void *object);
/* The virtual time, in nanoseconds. A controlled thread. */
int64_t ctl_clock_ns(void);
/* Until the section is left, the calling thread is not interrupted. Sections nest. */
void ctl_enter_section(void);
void ctl_leave_section(void);

#endif
