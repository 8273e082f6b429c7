/* Lanes: wrap-around, full and empty, registering and closing, parking. */
#include "cases.h"

#define NEAR_THE_END (UINT64_MAX - 1)

static rr_lanes *lanes;
static received got;
static int sent;

static void set_up(uint32_t limit, uint64_t capacity) {
  memset(&got, 0, sizeof got);
  sent = 0;
  model_check(rr_lanes_create(&lanes, limit, capacity, sizeof(uint64_t), 8, NEAR_THE_END) == RR_OK);
}

/* As Lanes.drain (Sources/ReactorCore/Lanes/Lanes.swift). */
static int drain_lane(rr_lane *lane) {
  const uint64_t ready = rr_lane_poll(lane);
  if (ready == 0) {
    rr_lane_recycle(lane);
    return 0;
  }
  const uint64_t first = rr_lane_head(lane);
  for (uint64_t i = 0; i < ready; i++) {
    received_add(&got, *(const uint64_t *)rr_lane_payload(lane, first + i));
  }
  rr_lane_release(lane, first + ready);
  return (int)ready;
}

static int drain(void) {
  int count = 0;
  for (uint32_t i = 0; i < rr_lanes_count(lanes); i++) {
    count += drain_lane(rr_lanes_at(lanes, i));
  }
  return count;
}

static void receive(int count) {
  while (got.count < count) {
    if (drain() == 0) model_pause();
  }
}

static void send(rr_lane_producer *producer, uint64_t item) {
  uint64_t *room;
  while ((room = rr_lane_try_claim(producer)) == NULL) model_pause();
  *room = item;
  rr_lane_publish(producer);
  sent++;
}

static void send_all(uint64_t first, int count) {
  rr_lane_producer producer;
  rr_status status;
  while ((status = rr_lanes_register(lanes, &producer)) != RR_OK) {
    if (status == RR_OUT_OF_MEMORY) continue;
    model_check(status == RR_LANES_EXHAUSTED);
    model_pause();
  }
  for (int i = 0; i < count; i++) send(&producer, first + (uint64_t)i);
  rr_lane_close(&producer);
}

static void send_4_of_1(void) { send_all(10, 4); }
static void send_1_of_1(void) { send_all(10, 1); }
static void send_1_of_2(void) { send_all(20, 1); }
static void send_1_of_3(void) { send_all(30, 1); }
static void receive_2(void) { receive(2); }
static void receive_3(void) { receive(3); }
static void receive_4(void) { receive(4); }

/* All lanes are closed: every lane can be taken again, and its cursors are consistent. */
static void finish(void) {
  received_check_order(&got);
  model_check(got.count == sent);
  drain();
  rr_lane_producer again[2];
  for (uint32_t i = 0; i < lanes->limit; i++) {
    model_check(rr_lanes_register(lanes, &again[i]) == RR_OK);
    send(&again[i], 50 + i);
  }
  model_check(drain() == (int)lanes->limit);
  rr_lanes_destroy(lanes);
}

static void set_up_1_2(void) { set_up(1, 2); }
static void set_up_1_1(void) { set_up(1, 1); }
static void set_up_2_1(void) { set_up(2, 1); }

const model_case lanes_wrap = {
    .name = "lanes.wrap",
    .about = "four items through a lane of two slots, across the last cursor",
    .setup = set_up_1_2,
    .threads = {send_4_of_1, receive_4},
    .finish = finish,
    .bounds = {3, 3, 0},
    .far = {5, 4, 0},
};

const model_case lanes_one_slot = {
    .name = "lanes.one-slot",
    .about = "four items through a lane of one slot: full and empty",
    .setup = set_up_1_1,
    .threads = {send_4_of_1, receive_4},
    .finish = finish,
    .bounds = {3, 2, 0},
    .far = {4, 3, 0},
};

const model_case lanes_handed_on = {
    .name = "lanes.handed-on",
    .about =
        "one lane, two producers: the second waits until the first one's lane is closed and empty",
    .setup = set_up_1_1,
    .threads = {send_1_of_1, send_1_of_2, receive_2},
    .finish = finish,
    .bounds = {2, 2, 0},
    .far = {3, 3, 0},
};

const model_case lanes_registering = {
    .name = "lanes.registering",
    .about = "three producers register and close, on two lanes",
    .setup = set_up_2_1,
    .threads = {send_1_of_1, send_1_of_2, send_1_of_3, receive_3},
    .finish = finish,
    .bounds = {1, 1, 0},
    .far = {2, 1, 0},
};

const model_case lanes_first_taken = {
    .name = "lanes.first-taken",
    .about = "two producers register at the same time while the consumer polls unused lanes",
    .setup = set_up_2_1,
    .threads = {send_1_of_1, send_1_of_2, receive_2},
    .finish = finish,
    .bounds = {2, 2, 0},
    .far = {3, 3, 0},
};

const model_case lanes_without_memory = {
    .name = "lanes.without-memory",
    .about = "a producer that gets no memory for its lane leaves the lane to the other one",
    .setup = set_up_1_1,
    .threads = {send_1_of_1, send_1_of_2, receive_2},
    .finish = finish,
    .bounds = {1, 1, 1},
    .far = {2, 2, 2},
};

/* MARK: a consumer that parks */

static rr_eventcount *waiting;

static void set_up_parking(void) {
  set_up_2_1();
  model_check(rr_eventcount_create(&waiting, RR_EVENTCOUNT_FUTEX) == RR_OK);
}

static void send_and_notify(uint64_t item) {
  send_all(item, 1);
  rr_eventcount_notify(waiting);
}

static void notify_of_1(void) { send_and_notify(10); }
static void notify_of_2(void) { send_and_notify(20); }

static void receive_parked(void) {
  while (got.count < 2) {
    if (drain() > 0) continue;
    const uint32_t key = rr_eventcount_prepare(waiting);
    if (drain() == 0) rr_eventcount_wait(waiting, key, -1);
  }
}

static void finish_parking(void) {
  rr_eventcount_destroy(waiting);
  finish();
}

const model_case lanes_parked = {
    .name = "lanes.parked",
    .about = "two producers register and send while the consumer, which has no lane yet, parks",
    .setup = set_up_parking,
    .threads = {notify_of_1, notify_of_2, receive_parked},
    .finish = finish_parking,
    .bounds = {2, 1, 0},
    .far = {3, 2, 0},
};
