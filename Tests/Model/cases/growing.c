/* The ring of a mailbox that grows while other threads send, receive and close. */
#include "chain.h"

static int most_inside;
static bool has_closed;
static int accepted;
static received got;

static void set_up(uint64_t capacity) {
  chain_make(1, capacity);
  most_inside = (int)capacity;
  has_closed = false;
  accepted = 0;
  memset(&got, 0, sizeof got);
}

static void set_up_2(void) { set_up(2); }
static void set_up_4(void) { set_up(4); }

static bool always(void) { return true; }

static void process(uint64_t item, uint64_t cursor) {
  (void)cursor;
  received_add(&got, item);
}

/* MARK: closing */

static void send_2(void) {
  for (uint64_t i = 0; i < 2; i++) {
    const bool is_late = has_closed;
    const rr_status status = chain_offer(10 + i);
    model_check(status == RR_CLOSED || (status == RR_OK && !is_late));
    accepted += status == RR_OK;
  }
}

static void close_then_send(void) {
  chain_close(CLOSER_DRAINS);
  has_closed = true;
  model_check(chain_offer(20) == RR_CLOSED);
}

static void finish_closed(void) {
  model_check(chain_offer(30) == RR_CLOSED);
  model_check((int)chain_tail() == accepted);
  chain_free();
}

const model_case ring_closed_while_growing = {
    .name = "ring.closed-while-growing",
    .about = "closed while a send puts a larger segment behind: later sends are refused",
    .setup = set_up_2,
    .threads = {send_2, close_then_send},
    .finish = finish_closed,
    .bounds = {3, 1, 0},
    .far = {4, 2, 0},
};

static void close_chain(void) {
  chain_close(CLOSER_DRAINS);
  has_closed = true;
}

static void send_2_if_possible(void) {
  for (uint64_t i = 0; i < 2; i++) {
    const bool is_late = has_closed;
    const rr_status status = chain_offer(10 + i);
    model_check(status != RR_OK || !is_late);
    accepted += status == RR_OK;
  }
}

const model_case ring_closed_without_memory = {
    .name = "ring.closed-without-memory",
    .about = "closed while two threads send, without memory for a segment: later sends are refused",
    .setup = set_up_2,
    .threads = {send_2_if_possible, close_chain, send_2_if_possible},
    .finish = finish_closed,
    .bounds = {2, 0, 1},
    .far = {3, 0, 1},
};

/* As Runtime.endIfDone: how a closed reactor ends. */
static void receive_until_sealed(void) {
  for (;;) {
    if (chain_drain(always, chain_any, process) > 0) continue;
    if (lifecycle_may_end(chain_lifecycle()) && chain_is_empty()) return;
    model_pause();
  }
}

static void finish_ended(void) {
  model_check(got.count == accepted);
  received_check_order(&got);
  finish_closed();
}

const model_case ring_ended_while_growing = {
    .name = "ring.ended-while-growing",
    .about = "the same with a consumer that ends when it is sealed and empty: nothing is lost",
    .setup = set_up_2,
    .threads = {send_2, close_then_send, receive_until_sealed},
    .finish = finish_ended,
    .bounds = {2, 0, 0},
    .far = {2, 1, 0},
};

/* MARK: receiving */

static void receive_4(void) {
  while (got.count < 4) {
    if (chain_drain(always, chain_any, process) == 0) model_pause();
  }
}

/* All segments together hold no more items than the largest may. */
static void send(uint64_t item) {
  while (chain_offer(item) == RR_FULL) model_pause();
  accepted++;
  model_check(accepted - got.count <= most_inside);
}

static void send_3_of_1(void) {
  for (uint64_t i = 0; i < 3; i++) send(10 + i);
}
static void send_1_of_2(void) { send(20); }

static void finish(void) {
  received_check_order(&got);
  model_check(chain_is_empty() && (int)chain_tail() == got.count);
  chain_free();
}

const model_case ring_received_while_growing = {
    .name = "ring.received-while-growing",
    .about = "received while two sends put larger segments behind: nothing is lost, order is kept",
    .setup = set_up_4,
    .threads = {send_3_of_1, send_1_of_2, receive_4},
    .finish = finish,
    .bounds = {2, 0, 0},
    .far = {2, 1, 0},
};

const model_case ring_full_while_growing = {
    .name = "ring.full-while-growing",
    .about = "the same with room for two items in all: there are never more inside",
    .setup = set_up_2,
    .threads = {send_3_of_1, send_1_of_2, receive_4},
    .finish = finish,
    .bounds = {2, 0, 0},
    .far = {2, 1, 0},
};
