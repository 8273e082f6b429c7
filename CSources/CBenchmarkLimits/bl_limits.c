#include "bl_limits.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bl_time.h"

enum { LINE = 128 };

/* Two pinned threads */

typedef struct pair {
  _Alignas(LINE) _Atomic(uint64_t) word;
  _Alignas(LINE) _Atomic(unsigned) arrived;
  atomic_bool failed;
} pair;

typedef struct side {
  pair *shared;
  void (*body)(pair *, void *);
  void *context;
  int cpu;
} side;

size_t bl_allowed_cpus(int *cpus, size_t capacity) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 0;
  size_t count = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, &set)) continue;
    if (count < capacity) cpus[count] = cpu;
    count++;
  }
  return count;
}

bool bl_confine(const int *cpus, size_t count) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (size_t i = 0; i < count; i++) CPU_SET(cpus[i], &set);
  return pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0;
}

void bl_end_with_parent(void) { prctl(PR_SET_PDEATHSIG, SIGKILL); }

static void *run_side(void *argument) {
  side *self = argument;
  if (!bl_confine(&self->cpu, 1)) atomic_store(&self->shared->failed, true);
  atomic_fetch_add(&self->shared->arrived, 1);
  while (atomic_load(&self->shared->arrived) < 2) bl_pause();
  if (!atomic_load(&self->shared->failed)) self->body(self->shared, self->context);
  return NULL;
}

/* Runs both sides until they end. Returns false if a thread could not be started or pinned. */
static bool run_pair(pair *shared, side first, side second) {
  pthread_t threads[2];
  first.shared = second.shared = shared;
  atomic_init(&shared->word, 0);
  atomic_init(&shared->arrived, 0);
  atomic_init(&shared->failed, false);
  if (pthread_create(&threads[0], NULL, run_side, &first) != 0) return false;
  if (pthread_create(&threads[1], NULL, run_side, &second) != 0) {
    /* Counts as the second thread, so that the first one does not wait forever. */
    atomic_store(&shared->failed, true);
    atomic_fetch_add(&shared->arrived, 1);
    pthread_join(threads[0], NULL);
    return false;
  }
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  return !atomic_load(&shared->failed);
}

/* Round trip */

typedef struct trips {
  double *means;
  size_t batches, batch_size;
} trips;

/* The word counts up: the first side makes it odd, the second even. */
static void ping(pair *shared, void *context) {
  trips *plan = context;
  uint64_t turn = 0;
  for (size_t batch = 0; batch < plan->batches; batch++) {
    uint64_t start = bl_now_ns();
    for (size_t trip = 0; trip < plan->batch_size; trip++) {
      atomic_store_explicit(&shared->word, turn + 1, memory_order_release);
      turn += 2;
      while (atomic_load_explicit(&shared->word, memory_order_acquire) != turn) {
      }
    }
    plan->means[batch] = (double)(bl_now_ns() - start) / (double)plan->batch_size;
  }
}

static void pong(pair *shared, void *context) {
  const trips *plan = context;
  uint64_t end = 2 * plan->batches * plan->batch_size;
  for (uint64_t turn = 1; turn < end; turn += 2) {
    while (atomic_load_explicit(&shared->word, memory_order_acquire) != turn) {
    }
    atomic_store_explicit(&shared->word, turn + 1, memory_order_release);
  }
}

static int compare(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

double bl_round_trip_ns(int first_cpu, int second_cpu, size_t batches, size_t batch_size) {
  if (batches == 0 || batch_size == 0) return -1;
  trips plan = {calloc(batches, sizeof(double)), batches, batch_size};
  if (plan.means == NULL) return -1;
  pair shared;
  bool ran = run_pair(&shared, (side){NULL, ping, &plan, first_cpu},
                      (side){NULL, pong, &plan, second_cpu});
  qsort(plan.means, batches, sizeof(double), compare);
  double median = ran ? plan.means[batches / 2] : -1;
  free(plan.means);
  return median;
}

/* Fetch-and-add */

typedef struct additions {
  uint64_t count, start, end;
} additions;

static void add(pair *shared, void *context) {
  additions *plan = context;
  plan->start = bl_now_ns();
  for (uint64_t i = 0; i < plan->count; i++)
    atomic_fetch_add_explicit(&shared->word, 1, memory_order_relaxed);
  plan->end = bl_now_ns();
}

double bl_fetch_add_ns(uint64_t count) {
  pair shared;
  additions plan = {count, 0, 0};
  atomic_init(&shared.word, 0);
  add(&shared, &plan);
  return atomic_load(&shared.word) == count ? (double)(plan.end - plan.start) : -1;
}

double bl_fetch_add_contended_ns(int first_cpu, int second_cpu, uint64_t count) {
  pair shared;
  additions first = {count / 2, 0, 0}, second = {count - count / 2, 0, 0};
  if (!run_pair(&shared, (side){NULL, add, &first, first_cpu},
                (side){NULL, add, &second, second_cpu}) ||
      atomic_load(&shared.word) != count)
    return -1;
  uint64_t start = first.start < second.start ? first.start : second.start;
  uint64_t end = first.end > second.end ? first.end : second.end;
  return (double)(end - start);
}

/* Futex wake */

double bl_futex_wake_ns(uint64_t count) {
  _Atomic(uint32_t) word = 0;
  uint64_t start = bl_now_ns();
  for (uint64_t i = 0; i < count; i++) {
    if (syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) != 0) return -1;
  }
  return (double)(bl_now_ns() - start);
}
