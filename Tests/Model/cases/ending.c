/* The end of a ring: closing it, and a producer that stops permanently. */
#include "cases.h"

static rr_ring *ring;
static received got;

static void set_up(uint64_t capacity) {
  memset(&got, 0, sizeof got);
  ring = ring_make(capacity, RING_NEAR_THE_END);
}

static void finish(void) { ring_finish(ring, &got); }

/* MARK: closing */

static bool is_closed;
static int accepted[4];

static void close_ring(void) {
  rr_ring_close(ring);
  is_closed = true;
}

/* The send must be refused if the close returned before the send began. */
static void send_or_find_closed(uint64_t item) {
  const bool was_closed = is_closed;
  const rr_status status = ring_send(ring, item, 1);
  model_check(status == RR_CLOSED || (status == RR_OK && !was_closed));
  accepted[item / 10] += status == RR_OK;
}

static void send_1_or_not(void) { send_or_find_closed(10); }
static void send_2_or_not(void) { send_or_find_closed(20); }

static void set_up_closing(void) {
  set_up(2);
  memset(accepted, 0, sizeof accepted);
  is_closed = false;
}

/* Receives until the ring is closed and empty, as an owner does that ends. */
static void receive_until_closed(void) {
  for (;;) {
    if (ring_drain(ring, &got, 4, 1) > 0) continue;
    if (rr_ring_is_closed(ring) && rr_ring_distance(rr_ring_head(ring), rr_ring_tail(ring)) == 0)
      return;
    model_pause();
  }
}

static void finish_closed(void) {
  model_check(received_of(&got, 1) == accepted[1] && received_of(&got, 2) == accepted[2]);
  model_check(ring_try_send(ring, 30, 1) == RR_CLOSED);
  finish();
}

const model_case ring_closing = {
    .name = "ring.closing",
    .about = "closed while two threads send: accepted items are received, later sends are refused",
    .setup = set_up_closing,
    .threads = {send_1_or_not, send_2_or_not, close_ring, receive_until_closed},
    .finish = finish_closed,
    .bounds = {2, 1, 0},
    .far = {3, 2, 0},
};

/* Why the ring was closed: a thread that finds it closed must see the reason. */
static uint64_t *reason;

static void set_up_reason(void) {
  set_up(1);
  reason = model_allocate(sizeof *reason);
}

static void close_for_a_reason(void) {
  *reason = 7;
  rr_ring_close(ring);
}

static void try_to_send(void) { ring_try_send(ring, 10, 1); }

static void find_closed(void) {
  if (rr_ring_is_closed(ring)) model_check(*reason == 7);
}

static void finish_reason(void) {
  ring_drain(ring, &got, 1, 1);
  model_release(reason);
  finish();
}

const model_case ring_closed_because = {
    .name = "ring.closed-because",
    .about =
        "a thread that finds the ring closed sees the reason, with or without a claim in between",
    .setup = set_up_reason,
    .threads = {close_for_a_reason, try_to_send, find_closed},
    .finish = finish_reason,
    .bounds = {4, 2, 0},
    .far = {6, 4, 0},
};

/* MARK: a producer that stops permanently */

static void set_up_frozen(void) { set_up(4); }

static void send_fragile(void) {
  model_set_fragile(true);
  ring_try_send(ring, 10, 1);
  model_set_fragile(false);
}

static void send_2_beside(void) {
  for (uint64_t i = 0; i < 2; i++) model_check(ring_try_send(ring, 20 + i, 1) == RR_OK);
}

static void receive_some(void) {
  for (int i = 0; i < 2; i++) ring_drain(ring, &got, 4, 1);
}

/* Behind the claim of the stopped producer nothing is received, but nothing is lost either: every
 * item is still in the ring. */
static void finish_frozen(void) {
  ring_drain(ring, &got, 4, 1);
  const uint64_t claimed = (uint64_t)rr_ring_distance(RING_NEAR_THE_END, rr_ring_tail(ring));
  const bool waits = (uint64_t)rr_ring_distance(rr_ring_head(ring), rr_ring_tail(ring)) > 0;
  model_check(!waits || model_was_frozen(1));
  model_check(rr_ring_was_count(ring) + (uint64_t)got.count == claimed);
  if (!waits) {
    model_check(received_of(&got, 2) == 2);
  } else {
    model_check(rr_ring_peek(ring, rr_ring_head(ring)) == 0);
    /* As if the producer continued. */
    rr_ring_abandon(ring, rr_ring_head(ring), 1);
    ring_drain(ring, &got, 4, 1);
    model_check(received_of(&got, 2) == 2);
  }
  finish();
}

const model_case ring_frozen = {
    .name = "ring.frozen",
    .about = "a producer stops permanently anywhere in its send; the other threads continue",
    .setup = set_up_frozen,
    .threads = {send_fragile, send_2_beside, receive_some},
    .finish = finish_frozen,
    .bounds = {2, 1, 1},
    .far = {3, 2, 1},
};
