/* The ring: wrap-around, full and empty, batches, abandoned claims. Its end is in ending.c. */
#include "cases.h"

static rr_ring *ring;
static received got;
static int refused;

static void set_up(uint64_t capacity, uint64_t start) {
  memset(&got, 0, sizeof got);
  refused = 0;
  ring = ring_make(capacity, start);
}

static void receive(int count) {
  while (got.count < count) {
    if (ring_drain(ring, &got, count - got.count, 1) == 0) model_pause();
  }
}

static void receive_2(void) { receive(2); }
static void receive_3(void) { receive(3); }
static void receive_4(void) { receive(4); }

static void send_1_of_1(void) { model_check(ring_send(ring, 10, 1) == RR_OK); }
static void send_1_of_2(void) { model_check(ring_send(ring, 20, 1) == RR_OK); }
static void send_1_of_3(void) { model_check(ring_send(ring, 30, 1) == RR_OK); }
static void send_2_of_1(void) {
  for (uint64_t i = 0; i < 2; i++) model_check(ring_send(ring, 10 + i, 1) == RR_OK);
}
static void send_4_of_1(void) {
  for (uint64_t i = 0; i < 4; i++) model_check(ring_send(ring, 10 + i, 1) == RR_OK);
}
static void send_2_of_2(void) {
  for (uint64_t i = 0; i < 2; i++) model_check(ring_send(ring, 20 + i, 1) == RR_OK);
}

static void finish(void) { ring_finish(ring, &got); }

/* MARK: wrap-around */

static void set_up_2(void) { set_up(2, 0); }
static void set_up_2_at_the_end(void) { set_up(2, RING_NEAR_THE_END); }

const model_case ring_wrap = {
    .name = "ring.wrap",
    .about = "one producer sends four items through two slots, across the last cursor",
    .setup = set_up_2_at_the_end,
    .threads = {send_4_of_1, receive_4},
    .finish = finish,
    .bounds = {3, 1, 0},
    .far = {4, 3, 0},
};

const model_case ring_two_producers = {
    .name = "ring.two-producers",
    .about = "two producers send two items each through two slots, across the last cursor",
    .setup = set_up_2_at_the_end,
    .threads = {send_2_of_1, send_2_of_2, receive_4},
    .finish = finish,
    .bounds = {2, 2, 0},
    .far = {3, 2, 0},
};

static void set_up_1(void) { set_up(1, 0); }

const model_case ring_one_slot = {
    .name = "ring.one-slot",
    .about = "two producers take turns at one slot: full, empty, and free room that is passed on",
    .setup = set_up_1,
    .threads = {send_2_of_1, send_1_of_2, receive_3},
    .finish = finish,
    .bounds = {2, 2, 0},
    .far = {3, 2, 0},
};

const model_case ring_three_producers = {
    .name = "ring.three-producers",
    .about = "three producers send one item each through two slots",
    .setup = set_up_2,
    .threads = {send_1_of_1, send_1_of_2, send_1_of_3, receive_3},
    .finish = finish,
    .bounds = {2, 1, 0},
    .far = {2, 2, 0},
};

/* MARK: full is truthful */

static void try_1(void) { refused += ring_try_send(ring, 10, 1) == RR_FULL; }
static void try_2(void) { refused += ring_try_send(ring, 20, 1) == RR_FULL; }

static void finish_without_refusal(void) {
  model_check(refused == 0);
  ring_drain(ring, &got, MOST_ITEMS, 1);
  model_check(got.count == 2);
  finish();
}

const model_case ring_room_for_both = {
    .name = "ring.room-for-both",
    .about = "two slots, two producers: no producer finds the ring full",
    .setup = set_up_2,
    .threads = {try_1, try_2},
    .finish = finish_without_refusal,
    .bounds = {6, 4, 0},
    .far = {8, 6, 0},
};

static void finish_with_one_refusal(void) {
  ring_drain(ring, &got, MOST_ITEMS, 1);
  model_check(refused == 1 && got.count == 1);
  finish();
}

const model_case ring_room_for_one = {
    .name = "ring.room-for-one",
    .about = "one slot, two producers, no consumer: exactly one producer is refused",
    .setup = set_up_1,
    .threads = {try_1, try_2},
    .finish = finish_with_one_refusal,
    .bounds = {6, 4, 0},
    .far = {8, 6, 0},
};

/* Signals the other thread by an edge that does not belong to the ring. */
static struct { _Atomic uint32_t is_set; } * signal;

static void set_up_emptied(void) {
  set_up_1();
  signal = model_allocate(sizeof *signal);
  model_check(ring_try_send(ring, 30, 1) == RR_OK);
}

static void empty_and_signal(void) {
  receive(1);
  rr_store_release(MODEL_OF_THE_CASE, &signal->is_set, 1);
}

static void send_after_signal(void) {
  while (rr_load_acquire(MODEL_OF_THE_CASE, &signal->is_set) == 0) model_pause();
  model_check(ring_try_send(ring, 10, 1) == RR_OK);
}

static void finish_emptied(void) {
  ring_drain(ring, &got, MOST_ITEMS, 1);
  model_check(got.count == 2);
  model_release(signal);
  finish();
}

const model_case ring_room_that_is_known = {
    .name = "ring.room-that-is-known",
    .about = "a producer that knows that the slot was emptied does not find the ring full",
    .setup = set_up_emptied,
    .threads = {empty_and_signal, send_after_signal},
    .finish = finish_emptied,
    .bounds = {4, 4, 0},
    .far = {6, 6, 0},
};

/* Four slots. One producer has at most three items inside, the other one has one. */
static struct { _Atomic uint32_t count; } * taken;

static void set_up_taken(void) {
  set_up(4, 0);
  taken = model_allocate(sizeof *taken);
}

/* The producer knows by an edge of the case that its own items have been taken. */
static void send_threes(void) {
  for (uint32_t i = 0; i < 9; i += 3) {
    while (rr_load_acquire(MODEL_OF_THE_CASE, &taken->count) < i) model_pause();
    model_check(ring_try_send(ring, 10 + i, 3) == RR_OK);
  }
}

static void try_2_now(void) { model_check(ring_try_send(ring, 20, 1) == RR_OK); }

static void receive_10(void) {
  while (got.count < 10) {
    if (ring_drain(ring, &got, 10, 4) == 0) model_pause();
    rr_store_release(MODEL_OF_THE_CASE, &taken->count, received_of(&got, 1));
  }
}

static void finish_taken(void) {
  model_release(taken);
  finish();
}

const model_case ring_never_full = {
    .name = "ring.never-full",
    .about =
        "ten items through four slots, with room for each claim: no producer finds the ring full",
    .setup = set_up_taken,
    .threads = {send_threes, try_2_now, receive_10},
    .finish = finish_taken,
    .bounds = {1, 2, 0},
    .far = {2, 2, 0},
};

/* MARK: batches and abandoned claims */

static void set_up_4(void) { set_up(4, RING_NEAR_THE_END); }
static void send_batch(void) { model_check(ring_send(ring, 10, 3) == RR_OK); }

const model_case ring_batches = {
    .name = "ring.batches",
    .about = "a claim of three, which takes two runs, and single claims, through four slots",
    .setup = set_up_4,
    .threads = {send_batch, send_1_of_2, receive_4},
    .finish = finish,
    .bounds = {2, 2, 0},
    .far = {4, 3, 0},
};

/* As a batch: all items of one claim are received in a row. */
static void finish_batches(void) {
  for (int i = 0; i + 1 < got.count; i++) {
    if (got.items[i] / 10 == got.items[i + 1] / 10) continue;
    model_check(got.items[i] % 10 == 1 || got.items[i] / 10 != 1);
  }
  finish();
}

static void send_pair_of_1(void) { model_check(ring_send(ring, 10, 2) == RR_OK); }
static void send_pair_of_2(void) { model_check(ring_send(ring, 20, 2) == RR_OK); }

const model_case ring_pairs = {
    .name = "ring.pairs",
    .about = "two claims of two through two slots: the items of a claim stay together",
    .setup = set_up_2,
    .threads = {send_pair_of_1, send_pair_of_2, receive_4},
    .finish = finish_batches,
    .bounds = {2, 2, 0},
    .far = {3, 3, 0},
};

static void abandon_then_send(void) {
  uint64_t cursor;
  while (rr_ring_try_claim(ring, 2, &cursor) == RR_FULL) model_pause();
  *(uint64_t *)rr_ring_payload(ring, cursor) = 99;
  rr_ring_abandon(ring, cursor, 2);
  send_1_of_1();
}

const model_case ring_abandoned = {
    .name = "ring.abandoned",
    .about = "an abandoned claim of two is skipped, and its slots are used again",
    .setup = set_up_2,
    .threads = {abandon_then_send, send_1_of_2, receive_2},
    .finish = finish,
    .bounds = {2, 1, 0},
    .far = {3, 2, 0},
};

/* MARK: figures */

/* One item is inside, and another one is sent before the first is received: the ring is never
 * empty. */
static void set_up_count(void) {
  set_up(2, 0);
  model_check(ring_try_send(ring, 10, 1) == RR_OK);
}

static void send_second(void) { model_check(ring_try_send(ring, 11, 1) == RR_OK); }

static void receive_first_after_second(void) {
  while (rr_ring_peek(ring, 1) == 0) model_pause();
  ring_drain(ring, &got, 1, 1);
}

static void count(void) {
  const uint64_t found = rr_ring_was_count(ring);
  model_check(found == 1 || found == 2);
}

static void finish_count(void) {
  ring_drain(ring, &got, 2, 1);
  finish();
}

const model_case ring_count = {
    .name = "ring.count",
    .about = "the count that a third thread reads is never 0 if the ring is never empty",
    .setup = set_up_count,
    .threads = {send_second, receive_first_after_second, count},
    .finish = finish_count,
    .bounds = {3, 3, 0},
    .far = {4, 4, 0},
};
