#include "faulty_platform.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "rr_platform.h"

/* The faults that the calling thread has requested, and its calls so far. */
static _Thread_local struct {
  struct {
    int first;
    int times;
    int error;
    long calls;
    void (*hook)(void *argument);
    void *argument;
  } calls[FAULTY_CALL_COUNT];
  int allocations_to_fail;
  bool counts_allocations;
  int allocations_left;
  bool has_stopped_clock;
  int64_t time_ns;
} mine;

static _Thread_local long alive_of_thread = 0;
/* Relaxed everywhere: these counts must not add an order that the code under test lacks. */
static _Atomic long alive = 0;

/* MARK: requests */

void faulty_fail(faulty_call call, int times, int error) {
  faulty_fail_later(call, 0, times, error);
}

void faulty_fail_later(faulty_call call, int first, int times, int error) {
  mine.calls[call].first = first;
  mine.calls[call].times = times;
  mine.calls[call].error = error;
}

void faulty_before(faulty_call call, void (*hook)(void *argument), void *argument) {
  mine.calls[call].hook = hook;
  mine.calls[call].argument = argument;
}

long faulty_calls(faulty_call call) { return mine.calls[call].calls; }

void faulty_fail_allocations_after(int count) {
  mine.counts_allocations = count >= 0;
  mine.allocations_left = count;
}

void faulty_fail_allocations(int count) { mine.allocations_to_fail = count; }

long faulty_alive(void) { return atomic_load_explicit(&alive, memory_order_relaxed); }

long faulty_alive_of_thread(void) { return alive_of_thread; }

void faulty_stop_clock(int64_t time_ns) {
  mine.has_stopped_clock = time_ns >= 0;
  mine.time_ns = time_ns;
}

void faulty_reset(void) {
  for (int call = 0; call < FAULTY_CALL_COUNT; call++) {
    faulty_fail((faulty_call)call, 0, 0);
    mine.calls[call].calls = 0;
    faulty_before((faulty_call)call, NULL, NULL);
  }
  faulty_fail_allocations_after(-1);
  faulty_fail_allocations(0);
  faulty_stop_clock(-1);
}

/* MARK: the table */

/* Counts a call, runs its hook, and returns whether the call must fail. */
static bool take_fault(faulty_call call) {
  mine.calls[call].calls++;
  void (*const hook)(void *argument) = mine.calls[call].hook;
  if (hook != NULL) {
    mine.calls[call].hook = NULL;
    hook(mine.calls[call].argument);
  }
  if (mine.calls[call].first > 0) {
    mine.calls[call].first--;
    return false;
  }
  if (mine.calls[call].times == 0) return false;
  if (mine.calls[call].times > 0) mine.calls[call].times--;
  return true;
}

#define FAIL_OR(call, real) (take_fault(call) ? -mine.calls[call].error : (real))

static long futex_wait(_Atomic uint32_t *word, uint32_t key, const struct timespec *timeout) {
  return FAIL_OR(FAULTY_FUTEX_WAIT, rr_platform_system.futex_wait(word, key, timeout));
}

static long membarrier(int command) {
  return FAIL_OR(FAULTY_MEMBARRIER, rr_platform_system.membarrier(command));
}

static int64_t clock_ns(void) {
  return mine.has_stopped_clock ? mine.time_ns : rr_platform_system.clock_ns();
}

static void count(long blocks) {
  atomic_fetch_add_explicit(&alive, blocks, memory_order_relaxed);
  alive_of_thread += blocks;
}

static bool take_allocation(void) {
  if (mine.allocations_to_fail > 0) {
    mine.allocations_to_fail--;
    return false;
  }
  if (!mine.counts_allocations) return true;
  if (mine.allocations_left == 0) return false;
  mine.allocations_left--;
  return true;
}

static void *counted(void *block) {
  if (block != NULL) count(1);
  return block;
}

static void *allocate(size_t alignment, size_t size) {
  return take_allocation() ? counted(rr_platform_system.allocate(alignment, size)) : NULL;
}

static void *allocate_zeroed(size_t size) {
  return take_allocation() ? counted(rr_platform_system.allocate_zeroed(size)) : NULL;
}

static void release(void *block) {
  if (block != NULL) count(-1);
  rr_platform_system.release(block);
}

static int event_descriptor(void) {
  return FAIL_OR(FAULTY_EVENT_DESCRIPTOR, rr_platform_system.event_descriptor());
}

static int timer_descriptor(void) {
  return FAIL_OR(FAULTY_TIMER_DESCRIPTOR, rr_platform_system.timer_descriptor());
}

static int poller_descriptor(void) {
  return FAIL_OR(FAULTY_POLLER_DESCRIPTOR, rr_platform_system.poller_descriptor());
}

static long read_from(int descriptor, void *bytes, size_t size) {
  return FAIL_OR(FAULTY_READ, rr_platform_system.read(descriptor, bytes, size));
}

static long write_to(int descriptor, const void *bytes, size_t size) {
  return FAIL_OR(FAULTY_WRITE, rr_platform_system.write(descriptor, bytes, size));
}

static long poller_control(int poller, int operation, int descriptor, struct epoll_event *event) {
  return FAIL_OR(FAULTY_POLLER_CONTROL,
                 rr_platform_system.poller_control(poller, operation, descriptor, event));
}

static long poller_wait(int poller, struct epoll_event *events, int capacity, int timeout_ms) {
  return FAIL_OR(FAULTY_POLLER_WAIT,
                 rr_platform_system.poller_wait(poller, events, capacity, timeout_ms));
}

/* Runs before main, so before any use of the library. */
__attribute__((constructor)) static void install(void) {
  static rr_platform faulty;
  faulty = rr_platform_system;
  faulty.futex_wait = futex_wait;
  faulty.membarrier = membarrier;
  faulty.clock_ns = clock_ns;
  faulty.allocate = allocate;
  faulty.allocate_zeroed = allocate_zeroed;
  faulty.release = release;
  faulty.event_descriptor = event_descriptor;
  faulty.timer_descriptor = timer_descriptor;
  faulty.poller_descriptor = poller_descriptor;
  faulty.read = read_from;
  faulty.write = write_to;
  faulty.poller_control = poller_control;
  faulty.poller_wait = poller_wait;
  rr_platform_in_use = &faulty;
}
