/* For the signal mask. */
#define _GNU_SOURCE

#include <pthread.h>
#include <signal.h>

#include "CReactorCore.h"
#include "check.h"
#include "faulty_platform.h"

/* Allocations of objects that are already in use. Those of creations are in creation_tests.c. */

static void send(rr_lane_producer *producer, uint64_t value) {
  uint64_t *slot = rr_lane_try_claim(producer);
  CHECK(slot != NULL);
  if (slot == NULL) return;
  *slot = value;
  rr_lane_publish(producer);
}

/* Receives what is in the lane, and recycles the lane if it is closed. Returns how many payloads
 * were received. */
static uint64_t empty(rr_lane *lane) {
  const uint64_t ready = rr_lane_poll(lane);
  rr_lane_release(lane, rr_lane_head(lane) + ready);
  rr_lane_recycle(lane);
  return ready;
}

/* A lane without memory is free again, whatever the states of the other lanes. */
static void test_registration(void) {
  enum { LIMIT = 3 };
  const long before = faulty_alive_of_thread();
  rr_lanes *lanes = NULL;
  CHECK(rr_lanes_create(&lanes, LIMIT, 4, 8, 8, 0) == RR_OK);
  rr_lane_producer producers[LIMIT];
  for (uint32_t taken = 0; taken < LIMIT; taken++) {
    const long alive = faulty_alive_of_thread();
    faulty_fail_allocations_after(0);
    for (int attempt = 0; attempt < 3; attempt++) {
      CHECK(rr_lanes_register(lanes, &producers[taken]) == RR_OUT_OF_MEMORY);
      CHECK(producers[taken].lane == NULL);
      CHECK(lanes->lanes[taken].state == RR_LANE_FREE);
      CHECK(rr_lanes_count(lanes) == taken);
      CHECK(faulty_alive_of_thread() == alive);
    }
    faulty_fail_allocations_after(-1);
    CHECK(rr_lanes_register(lanes, &producers[taken]) == RR_OK);
    CHECK(producers[taken].lane == rr_lanes_at(lanes, taken));
    CHECK(rr_lanes_count(lanes) == taken + 1);
    for (uint32_t i = 0; i <= taken; i++) send(&producers[i], i);
  }
  /* From here on no memory is needed, since a lane keeps its own. */
  faulty_fail_allocations_after(0);
  rr_lane_producer another;
  CHECK(rr_lanes_register(lanes, &another) == RR_LANES_EXHAUSTED);
  rr_lane_close(&producers[1]);
  CHECK(empty(rr_lanes_at(lanes, 1)) == LIMIT - 1);
  CHECK(rr_lanes_register(lanes, &another) == RR_OK);
  CHECK(another.lane == rr_lanes_at(lanes, 1));
  send(&another, 7);
  CHECK(empty(rr_lanes_at(lanes, 1)) == 1);
  faulty_fail_allocations_after(-1);
  rr_lanes_destroy(lanes);
  CHECK(faulty_alive_of_thread() == before);
}

/* A thread without memory for a record of its own can still read, and keeps no pin. */
static void *read_without_memory(void *trampoline) {
  rr_trampoline *t = trampoline;
  faulty_fail_allocations_after(0);
  for (int i = 0; i < 100; i++) {
    const rr_pin pin = rr_readers_pin(t);
    CHECK(pin.slot == 0 && pin.reader == NULL && !rr_pins_is_free(t, 0));
    rr_readers_unpin(t, pin);
    CHECK(rr_pins_is_free(t, 0));
  }
  CHECK(rr_reader_of_thread() == NULL);
  CHECK(rr_reader_create() == NULL);
  CHECK(faulty_alive_of_thread() == 0);
  /* As soon as there is memory, it keeps its pin, if there is a fence that can take it back. */
  faulty_fail_allocations_after(-1);
  for (int i = 0; i < 100; i++) rr_readers_unpin(t, rr_readers_pin(t));
  CHECK(rr_reader_of_thread() != NULL);
  CHECK(rr_pins_is_free(t, 0) == (bool)rr_fence_kind.is_symmetric);
  return NULL;
}

static void test_readers_records(void) {
  rr_trampoline *t = NULL;
  CHECK(rr_trampoline_create(&t, 0) == RR_OK);
  CHECK(rr_trampoline_try_initialize(t, rr_thread_token()));
  rr_trampoline_release(t, 0);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, read_without_memory, t) == 0);
  pthread_join(thread, NULL);
  CHECK(rr_pins_is_free(t, 0));
  rr_trampoline_destroy(t);
}

/* After a failure no signal is blocked, and no handler is installed. */
static void test_signals(void) {
  const int numbers[] = {SIGUSR2};
  const long alive = faulty_alive_of_thread();
  struct sigaction before, after;
  sigset_t blocked;
  CHECK(sigaction(SIGUSR2, NULL, &before) == 0);
  faulty_fail_allocations_after(0);
  CHECK(rr_signals_catch(numbers, 1) == NULL);
  faulty_fail_allocations_after(-1);
  CHECK(sigaction(SIGUSR2, NULL, &after) == 0);
  CHECK(after.sa_handler == before.sa_handler);
  CHECK(pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0);
  CHECK(sigismember(&blocked, SIGUSR2) == 0);
  CHECK(faulty_alive_of_thread() == alive);
  rr_signals *signals = rr_signals_catch(numbers, 1);
  CHECK(signals != NULL);
  rr_signals_restore(signals);
  CHECK(faulty_alive_of_thread() == alive);
}

void test_allocation_faults(void) {
  test_registration();
  test_readers_records();
  test_signals();
}
