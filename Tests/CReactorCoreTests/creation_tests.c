/* For setrlimit. */
#define _GNU_SOURCE

#include <stdlib.h>
#include <sys/resource.h>

#include "CReactorCore.h"
#include "check.h"
#include "faulty_platform.h"

/* Arguments that the ring and the lanes refuse in the same way, with the same code. */
static const struct refusal {
  rr_status status;
  uint64_t capacity;
  size_t size;
  size_t alignment;
} refusals[] = {
    {RR_CAPACITY_ZERO, 0, 8, 8},
    {RR_CAPACITY_NOT_POWER_OF_TWO, 3, 8, 8},
    {RR_CAPACITY_NOT_POWER_OF_TWO, 1023, 8, 8},
    {RR_CAPACITY_NOT_POWER_OF_TWO, UINT64_MAX, 8, 8},
    {RR_CAPACITY_TOO_LARGE, RR_RING_MAX_CAPACITY * 2, 8, 8},
    {RR_CAPACITY_TOO_LARGE, UINT64_C(1) << 63, 8, 8},
    {RR_STRIDE_ZERO, 8, 0, 8},
    {RR_STRIDE_TOO_LARGE, 8, RR_MAX_PAYLOAD + 1, 8},
    {RR_STRIDE_TOO_LARGE, 8, SIZE_MAX, 8},
    {RR_ALIGNMENT_INVALID, 8, 8, 0},
    {RR_ALIGNMENT_INVALID, 8, 8, 3},
    {RR_ALIGNMENT_INVALID, 8, 8, 256},
    {RR_ALIGNMENT_INVALID, 8, 8, SIZE_MAX},
};

static void test_refusals(void) {
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    const struct refusal *wrong = &refusals[i];
    rr_ring *ring = (rr_ring *)(void *)&ring;
    CHECK(rr_ring_create(&ring, wrong->capacity, wrong->size, wrong->alignment, 0) ==
          wrong->status);
    CHECK(ring == NULL);
    rr_lanes *lanes = (rr_lanes *)(void *)&lanes;
    CHECK(rr_lanes_create(&lanes, 1, wrong->capacity, wrong->size, wrong->alignment, 0) ==
          wrong->status);
    CHECK(lanes == NULL);
  }
  rr_lanes *lanes = NULL;
  CHECK(rr_lanes_create(&lanes, 0, 8, 8, 8, 0) == RR_LANE_COUNT_INVALID);
  CHECK(rr_lanes_create(&lanes, RR_LANES_MAX + 1, 8, 8, 8, 0) == RR_LANE_COUNT_INVALID);
  CHECK(rr_lanes_create(&lanes, UINT32_MAX, 8, 8, 8, 0) == RR_LANE_COUNT_INVALID);
  CHECK(lanes == NULL);
  CHECK(faulty_alive() == 0);
}

/* The limits themselves are allowed. */
static void test_limits(void) {
  rr_ring *ring = NULL;
  CHECK(rr_ring_create(&ring, 1, RR_MAX_PAYLOAD, RR_MAX_ALIGNMENT, UINT64_MAX) == RR_OK);
  CHECK(rr_ring_capacity(ring) == 1);
  rr_ring_destroy(ring);
  CHECK(rr_ring_create(&ring, 1, 1, 1, 0) == RR_OK);
  rr_ring_destroy(ring);
  rr_lanes *lanes = NULL;
  CHECK(rr_lanes_create(&lanes, RR_LANES_MAX, 1, 1, 1, 0) == RR_OK);
  rr_lanes_destroy(lanes);
  rr_trampoline *trampoline = NULL;
  CHECK(rr_trampoline_create(&trampoline, RR_MAX_PAYLOAD) == RR_OK);
  rr_trampoline_destroy(trampoline);
  CHECK(rr_trampoline_create(&trampoline, RR_MAX_PAYLOAD + 1) == RR_STRIDE_TOO_LARGE);
  CHECK(trampoline == NULL);
  rr_ring_destroy(NULL);
  rr_lanes_destroy(NULL);
  rr_trampoline_destroy(NULL);
  rr_eventcount_destroy(NULL);
  CHECK(faulty_alive() == 0);
}

/* Fails each allocation of a creation in turn, until the creation succeeds. */
#define CHECK_EACH_ALLOCATION(type, creation, destroy, allocations)                                \
  do {                                                                                             \
    int failures = 0;                                                                              \
    for (int before = 0;; before++) {                                                              \
      type *object = (type *)(void *)&object;                                                      \
      faulty_fail_allocations_after(before);                                                       \
      const rr_status status = creation;                                                           \
      faulty_fail_allocations_after(-1);                                                           \
      if (status == RR_OK) {                                                                       \
        CHECK(object != NULL);                                                                     \
        destroy(object);                                                                           \
        break;                                                                                     \
      }                                                                                            \
      CHECK(status == RR_OUT_OF_MEMORY);                                                           \
      CHECK(object == NULL);                                                                       \
      CHECK(faulty_alive() == 0);                                                                  \
      failures++;                                                                                  \
      if (failures > 10) break;                                                                    \
    }                                                                                              \
    CHECK(failures == (allocations));                                                              \
    CHECK(faulty_alive() == 0);                                                                    \
  } while (0)

static void test_allocation_failures(void) {
  /* A ring of few slots is one block. */
  CHECK_EACH_ALLOCATION(rr_ring, rr_ring_create(&object, 8, 8, 8, 0), rr_ring_destroy, 1);
  CHECK_EACH_ALLOCATION(rr_ring, rr_ring_create(&object, 8, 32, 32, 0), rr_ring_destroy, 2);
  CHECK_EACH_ALLOCATION(rr_ring, rr_ring_create(&object, 16, 8, 8, 0), rr_ring_destroy, 2);
  CHECK_EACH_ALLOCATION(rr_lanes, rr_lanes_create(&object, 4, 8, 8, 8, 0), rr_lanes_destroy, 2);
  CHECK_EACH_ALLOCATION(rr_trampoline, rr_trampoline_create(&object, 48), rr_trampoline_destroy, 1);
  CHECK_EACH_ALLOCATION(rr_eventcount, rr_eventcount_create(&object, RR_EVENTCOUNT_FUTEX),
                        rr_eventcount_destroy, 1);
  CHECK_EACH_ALLOCATION(rr_eventcount, rr_eventcount_create(&object, RR_EVENTCOUNT_DESCRIPTOR),
                        rr_eventcount_destroy, 1);
}

/* A lane's memory is allocated at its first registration; one that failed can be tried again. */
static void test_registration_failure(void) {
  rr_lanes *lanes = NULL;
  CHECK(rr_lanes_create(&lanes, 1, 8, 8, 8, 0) == RR_OK);
  rr_lane_producer producer;
  faulty_fail_allocations_after(0);
  CHECK(rr_lanes_register(lanes, &producer) == RR_OUT_OF_MEMORY);
  CHECK(producer.lane == NULL);
  CHECK(rr_lanes_count(lanes) == 0);
  faulty_fail_allocations_after(-1);
  CHECK(rr_lanes_register(lanes, &producer) == RR_OK);
  CHECK(rr_lanes_count(lanes) == 1);
  CHECK(rr_lane_try_claim(&producer) != NULL);
  rr_lanes_destroy(lanes);
  CHECK(faulty_alive() == 0);
}

/* The process has no descriptor left: creating one fails, and nothing is leaked. */
static void test_descriptor_failure(void) {
  struct rlimit before;
  CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
  struct rlimit none = before;
  none.rlim_cur = 0;
  CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
  rr_eventcount *ec = (rr_eventcount *)(void *)&ec;
  CHECK(rr_eventcount_create(&ec, RR_EVENTCOUNT_DESCRIPTOR) == RR_DESCRIPTOR_FAILED);
  CHECK(ec == NULL);
  CHECK(faulty_alive() == 0);
  CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(rr_eventcount_create(&ec, RR_EVENTCOUNT_DESCRIPTOR) == RR_OK);
  rr_eventcount_destroy(ec);
}

void test_creation(void) {
  test_refusals();
  test_limits();
  test_allocation_failures();
  test_registration_failure();
  test_descriptor_failure();
}
