#include "CReactorCore.h"
#include "check.h"
#include "faulty_platform.h"

static void send(rr_lane_producer *producer, uint64_t value) {
  uint64_t *slot = rr_lane_try_claim(producer);
  CHECK(slot != NULL);
  if (slot == NULL) return;
  *slot = value;
  rr_lane_publish(producer);
}

static void receive(rr_lane *lane, uint64_t value) {
  CHECK(rr_lane_poll(lane) > 0);
  const uint64_t head = rr_lane_head(lane);
  CHECK(*(uint64_t *)rr_lane_payload(lane, head) == value);
  rr_lane_release(lane, head + 1);
}

static void test_order_and_full(uint64_t start) {
  rr_lanes *lanes = NULL;
  rr_lane_producer producer;
  CHECK(rr_lanes_create(&lanes, 2, 4, 8, 8, start) == RR_OK);
  CHECK(rr_lanes_register(lanes, &producer) == RR_OK);
  rr_lane *lane = rr_lanes_at(lanes, 0);
  CHECK(rr_lane_poll(lane) == 0);
  for (uint64_t lap = 0; lap < 5; lap++) {
    for (uint64_t i = 0; i < 4; i++) send(&producer, lap * 4 + i);
    CHECK(rr_lane_try_claim(&producer) == NULL);
    CHECK(rr_lane_poll(lane) == 4);
    receive(lane, lap * 4);
    /* The consumer does not see a claim that is not published. */
    CHECK(rr_lane_try_claim(&producer) != NULL);
    CHECK(rr_lane_poll(lane) == 3);
    for (uint64_t i = 1; i < 4; i++) receive(lane, lap * 4 + i);
    CHECK(rr_lane_poll(lane) == 0);
  }
  rr_lanes_destroy(lanes);
}

static void test_registration(void) {
  enum { LIMIT = 3 };
  rr_lanes *lanes = NULL;
  rr_lane_producer producers[LIMIT];
  rr_lane_producer none;
  CHECK(rr_lanes_create(&lanes, LIMIT, 4, 8, 8, 0) == RR_OK);
  CHECK(rr_lanes_count(lanes) == 0);
  for (uint32_t i = 0; i < LIMIT; i++) {
    CHECK(rr_lanes_register(lanes, &producers[i]) == RR_OK);
    CHECK(rr_lanes_count(lanes) == i + 1);
    send(&producers[i], i);
  }
  CHECK(rr_lanes_register(lanes, &none) == RR_LANES_EXHAUSTED);
  CHECK(none.lane == NULL);
  const long alive = faulty_alive();

  /* rr_lane_recycle changes neither an open lane nor a closed one with a payload inside. */
  rr_lane *lane = rr_lanes_at(lanes, 1);
  receive(lane, 1);
  rr_lane_recycle(lane);
  CHECK(rr_lanes_register(lanes, &none) == RR_LANES_EXHAUSTED);
  send(&producers[1], 7);
  rr_lane_close(&producers[1]);
  rr_lane_recycle(lane);
  CHECK(rr_lanes_register(lanes, &none) == RR_LANES_EXHAUSTED);
  receive(lane, 7);
  rr_lane_recycle(lane);

  /* The same lane can be taken any number of times, with the same memory. */
  for (uint64_t round = 0; round < 100; round++) {
    rr_lane_producer again;
    CHECK(rr_lanes_register(lanes, &again) == RR_OK);
    CHECK(again.lane == lane);
    send(&again, round);
    rr_lane_close(&again);
    receive(lane, round);
    rr_lane_recycle(lane);
  }
  CHECK(rr_lanes_count(lanes) == LIMIT);
  CHECK(faulty_alive() == alive);
  receive(rr_lanes_at(lanes, 0), 0);
  receive(rr_lanes_at(lanes, 2), 2);
  rr_lanes_destroy(lanes);
  CHECK(faulty_alive() == 0);
}

void test_lanes(void) {
  static const uint64_t starts[] = {0, UINT64_MAX - 5, (UINT64_C(1) << 63) - 5,
                                    (UINT64_C(1) << 56) - 5};
  for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) test_order_and_full(starts[i]);
  test_registration();
}
