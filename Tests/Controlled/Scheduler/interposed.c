/* The functions of the system and of Swift's libraries that are replaced: the linker finds these
 * definitions in the executable before those of the shared libraries. For threads that are not
 * controlled they call the real ones, but for sched_getaffinity. */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

/* MARK: the real functions */

void ctl_futex_wait(uint32_t *word, uint32_t key, int64_t timeout_ns) {
  const struct timespec limit = {.tv_sec = timeout_ns / 1000000000,
                                 .tv_nsec = timeout_ns % 1000000000};
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, key, timeout_ns < 0 ? NULL : &limit, NULL, 0);
}

void ctl_futex_wake(uint32_t *word) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* The next definition of a function, looked up once. Several threads may look it up. */
#define REAL(name)                                                                                 \
  ({                                                                                               \
    static __typeof__(&name) found;                                                                \
    __typeof__(&name) real = __atomic_load_n(&found, __ATOMIC_RELAXED);                            \
    if (real == NULL) {                                                                            \
      real = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                                           \
      __atomic_store_n(&found, real, __ATOMIC_RELAXED);                                            \
    }                                                                                              \
    real;                                                                                          \
  })

int ctl_real_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *),
                    void *argument) {
  return REAL(pthread_create)(thread, attributes, body, argument);
}

int ctl_real_join(pthread_t thread, void **result) { return REAL(pthread_join)(thread, result); }

extern char __executable_start, etext;

/* Whether the caller is the library or the test, and not a shared library. */
static bool is_ours(const void *caller) {
  return (const char *)caller >= &__executable_start && (const char *)caller < &etext;
}

#define CALLER __builtin_return_address(0)

/* MARK: threads */

int pthread_create(pthread_t *handle, const pthread_attr_t *attributes, void *(*body)(void *),
                   void *argument) {
  if (ctl_self == NULL || !is_ours(CALLER))
    return REAL(pthread_create)(handle, attributes, body, argument);
  const thread *const started = ctl_start_thread(body, argument);
  *handle = started->handle;
  return 0;
}

int pthread_join(pthread_t handle, void **result) {
  thread *const joined = ctl_self == NULL ? NULL : ctl_thread_of(handle);
  if (joined == NULL) return REAL(pthread_join)(handle, result);
  ctl_point("joins", joined, CTL_NOWHERE);
  while (joined->state != ENDED) ctl_block("joins", joined, INT64_MAX, CTL_NOWHERE);
  joined->is_joined = true;
  return REAL(pthread_join)(handle, result);
}

int sched_yield(void) {
  if (ctl_self == NULL || !is_ours(CALLER)) return REAL(sched_yield)();
  ctl_spin(CTL_NOWHERE);
  return 0;
}

int usleep(useconds_t microseconds) {
  if (ctl_self == NULL || !is_ours(CALLER)) return REAL(usleep)(microseconds);
  const int64_t end = ctl_clock_ns() + (int64_t)microseconds * 1000;
  while (ctl_clock_ns() < end) ctl_block("sleeps", &end, end, CTL_NOWHERE);
  return 0;
}

/* MARK: mutexes */

static void note_locked(thread *me, const pthread_mutex_t *mutex) {
  if (me->held_count == MOST_HELD) ctl_fail("a thread holds too many mutexes");
  me->held[me->held_count++] = mutex;
}

static void note_unlocked(thread *me, const pthread_mutex_t *mutex) {
  for (uint32_t i = me->held_count; i-- > 0;) {
    if (me->held[i] != mutex) continue;
    me->held[i] = me->held[--me->held_count];
    return;
  }
}

static bool is_held(const pthread_mutex_t *mutex) {
  for (uint32_t i = 0; i < ctl_current->thread_count; i++) {
    const thread *const each = ctl_current->threads[i];
    for (uint32_t k = 0; k < each->held_count; k++) {
      if (each->held[k] == mutex) return true;
    }
  }
  return false;
}

int pthread_mutex_lock(pthread_mutex_t *mutex) {
  thread *const me = ctl_self;
  if (me == NULL) return REAL(pthread_mutex_lock)(mutex);
  if (is_ours(CALLER)) ctl_point("locks", mutex, CTL_NOWHERE);
  ctl_drain(me);
  int failure;
  while ((failure = REAL(pthread_mutex_trylock)(mutex)) == EBUSY) {
    if (is_held(mutex)) {
      ctl_block("waits for a mutex", mutex, INT64_MAX, CTL_NOWHERE);
    } else {
      /* A thread that is not controlled has it, for a moment: a timer of Dispatch's, for example.
       */
      failure = REAL(pthread_mutex_lock)(mutex);
      break;
    }
  }
  if (failure == 0) note_locked(me, mutex);
  return failure;
}

int pthread_mutex_trylock(pthread_mutex_t *mutex) {
  thread *const me = ctl_self;
  if (me == NULL) return REAL(pthread_mutex_trylock)(mutex);
  if (is_ours(CALLER)) ctl_point("tries to lock", mutex, CTL_NOWHERE);
  ctl_drain(me);
  const int failure = REAL(pthread_mutex_trylock)(mutex);
  if (failure == 0) note_locked(me, mutex);
  return failure;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex) {
  thread *const me = ctl_self;
  if (me == NULL) return REAL(pthread_mutex_unlock)(mutex);
  ctl_drain(me);
  note_unlocked(me, mutex);
  const int failure = REAL(pthread_mutex_unlock)(mutex);
  ctl_wake(mutex);
  return failure;
}

/* MARK: condition variables */

static int64_t time_of(const struct timespec *time) {
  return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

/* No thread runs between the unlocking and the wait. */
static bool wait_for_condition(pthread_cond_t *condition, pthread_mutex_t *mutex,
                               int64_t deadline) {
  ctl_point("waits for a condition", condition, CTL_NOWHERE);
  pthread_mutex_unlock(mutex);
  const bool is_woken = ctl_block("waits for a condition", condition, deadline, CTL_NOWHERE);
  pthread_mutex_lock(mutex);
  return is_woken;
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
  if (ctl_self == NULL) return REAL(pthread_cond_wait)(condition, mutex);
  wait_for_condition(condition, mutex, INT64_MAX);
  return 0;
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                           const struct timespec *deadline) {
  if (ctl_self == NULL) return REAL(pthread_cond_timedwait)(condition, mutex, deadline);
  return wait_for_condition(condition, mutex, time_of(deadline)) ? 0 : ETIMEDOUT;
}

int pthread_cond_broadcast(pthread_cond_t *condition) {
  if (ctl_self == NULL) return REAL(pthread_cond_broadcast)(condition);
  ctl_wake(condition);
  return 0;
}

/* A waiter may be woken for no reason, so this may wake all. */
int pthread_cond_signal(pthread_cond_t *condition) {
  if (ctl_self == NULL) return REAL(pthread_cond_signal)(condition);
  ctl_wake(condition);
  return 0;
}

/* MARK: the clock */

int clock_gettime(clockid_t clock, struct timespec *time) {
  if (ctl_self == NULL) return (int)syscall(SYS_clock_gettime, clock, time);
  const int64_t now = ctl_clock_ns();
  time->tv_sec = now / 1000000000;
  time->tv_nsec = now % 1000000000;
  return 0;
}

/* MARK: processors */

/* There is one, since one thread runs at a time. If there were more, which deadlines are in one
 * wheel would depend on the addresses of threads, and so the steps of an execution. */
int sched_getaffinity(pid_t process, size_t size, cpu_set_t *allowed) {
  (void)process;
  CPU_ZERO_S(size, allowed);
  CPU_SET_S(0, size, allowed);
  return 0;
}

/* MARK: Swift */

/* What initializes a static variable is not interrupted: another thread that needs the variable
 * would block outside of the scheduler. */
void swift_once(void *predicate, void (*initialize)(void *), void *context);
void swift_once(void *predicate, void (*initialize)(void *), void *context) {
  ctl_enter_section();
  REAL(swift_once)(predicate, initialize, context);
  ctl_leave_section();
}

/* Whether a weak reference still has its object depends on what other threads released. */
void *swift_weakLoadStrong(void *reference);
void *swift_weakLoadStrong(void *reference) {
  ctl_point("loads weakly", reference, CTL_NOWHERE);
  void *const object = REAL(swift_weakLoadStrong)(reference);
  if (object == NULL) ctl_drain_all();
  return object;
}

/* How many weak references there are, and one. */
size_t swift_weakRetainCount(void *object);

/* Another thread may make a strong reference of a weak one just before. (An object without weak
 * references is no place for that; unoptimized code has many that live for a moment.) */
static void come_to_point(const char *what, const void *object) {
  void *const counted = (void *)(uintptr_t)object;
  if (ctl_self == NULL || object == NULL || swift_weakRetainCount(counted) <= 1) return;
  ctl_point(what, object, CTL_NOWHERE);
}

/* A thread that finds that no other thread has a reference any more sees what those threads wrote
 * while they had one. So late stores end here. (Not at every release, where a processor's buffer
 * may or may not be emptied: unoptimized code releases something after nearly every access.) */
void swift_release(void *object);
size_t swift_retainCount(void *object);
void swift_release(void *object) {
  if (ctl_self != NULL && object != NULL && swift_retainCount(object) == 1) {
    come_to_point("releases the last reference", object);
    if (swift_retainCount(object) == 1) ctl_drain_all();
  }
  REAL(swift_release)(object);
}

bool swift_isUniquelyReferenced_native(const void *object);
bool swift_isUniquelyReferenced_native(const void *object) {
  come_to_point("checks whether a reference is the only one", object);
  const bool is_unique = REAL(swift_isUniquelyReferenced_native)(object);
  if (is_unique) ctl_drain_all();
  return is_unique;
}

bool swift_isUniquelyReferenced_nonNull_native(const void *object);
bool swift_isUniquelyReferenced_nonNull_native(const void *object) {
  come_to_point("checks whether a reference is the only one", object);
  const bool is_unique = REAL(swift_isUniquelyReferenced_nonNull_native)(object);
  if (is_unique) ctl_drain_all();
  return is_unique;
}
