/* The items that are held beside a full mailbox, and their order among the items in its ring. As
 * Overflow and Mailbox.drain do (Sources/ReactorRuntime/Mailbox/Overflow.swift, Mailbox.swift),
 * with a ring of two slots. */
#include "chain.h"
#include "rr_fence.h"

#define MOST_HELD 6

typedef struct entry {
  uint64_t item, stamp;
} entry;

typedef struct overflow {
  _Atomic uint32_t is_raised;
  /* Under the lock. */
  bool was_raised;
  int count;
  entry held[MOST_HELD];
} overflow;

/* Only the owner accesses it. */
typedef struct owned {
  int first, end;
  entry queue[MOST_HELD];
} owned;

static overflow *over;
static owned *own;
static received got;

static void set_up_from(uint64_t first) {
  memset(&got, 0, sizeof got);
  chain_make(first, 2);
  over = model_allocate(sizeof *over);
  own = model_allocate(sizeof *own);
}

static void set_up(void) { set_up_from(2); }

static bool has_spilled(void) {
  rr_fence_light();
  return rr_load_seq_cst(MODEL_OF_THE_CASE, &over->is_raised) != 0;
}

static bool try_raise(void) {
  if (over->was_raised) return true;
  rr_exchange_seq_cst(MODEL_OF_THE_CASE, &over->is_raised, 1u);
  over->was_raised = rr_fence_heavy();
  return over->was_raised;
}

/* Returns false if the ring has room. */
static bool try_spill(uint64_t item) {
  bool is_taken = false;
  model_mutex_lock(over);
  model_check(try_raise());
  uint64_t head, tail;
  if (chain_was_full(&head, &tail)) {
    model_check(over->count < MOST_HELD);
    over->held[over->count++] = (entry){item, tail};
    is_taken = true;
  }
  model_mutex_unlock(over);
  return is_taken;
}

static void send(uint64_t item) {
  while (chain_offer(item) == RR_FULL) {
    if (try_spill(item)) return;
  }
}

static void take(void) {
  model_mutex_lock(over);
  model_check(own->end + over->count <= MOST_HELD);
  for (int i = 0; i < over->count; i++) own->queue[own->end++] = over->held[i];
  over->count = 0;
  over->was_raised = false;
  rr_store_relaxed(&over->is_raised, 0);
  model_mutex_unlock(over);
}

static void process_own(uint64_t before) {
  while (own->first < own->end && rr_ring_distance(own->queue[own->first].stamp, before) >= 0) {
    received_add(&got, own->queue[own->first++].item);
  }
}

/* Returns false if a claim is not yet published; the items held beside must wait behind it. */
static bool try_take_over(void) {
  if (!has_spilled()) return true;
  if (!chain_is_ready() && !chain_is_empty()) return false;
  take();
  return true;
}

static void process(uint64_t item, uint64_t cursor) {
  process_own(cursor);
  received_add(&got, item);
}

static void drain(void) {
  chain_drain(try_take_over, process);
  process_own(chain_head());
}

static void send_4_of_1(void) {
  for (uint64_t i = 0; i < 4; i++) send(10 + i);
}
static void send_3_of_1(void) {
  for (uint64_t i = 0; i < 3; i++) send(10 + i);
}
static void send_2_of_2(void) {
  for (uint64_t i = 0; i < 2; i++) send(20 + i);
}
static void receive(int count) {
  while (got.count < count) {
    const int before = got.count;
    drain();
    if (got.count == before) model_pause();
  }
}
static void receive_4(void) { receive(4); }
static void receive_5(void) { receive(5); }

static void finish(void) {
  received_check_order(&got);
  chain_free();
  model_release(over);
  model_release(own);
}

const model_case overflow_one_producer = {
    .name = "overflow.one-producer",
    .about = "four items of one producer, two slots, the rest held beside the ring: order is kept",
    .setup = set_up,
    .threads = {send_4_of_1, receive_4},
    .finish = finish,
    .bounds = {3, 1, 0},
    .far = {4, 2, 0},
};

const model_case overflow_two_producers = {
    .name = "overflow.two-producers",
    .about = "two producers overflow a ring of two slots: each producer's order is kept",
    .setup = set_up,
    .threads = {send_3_of_1, send_2_of_2, receive_5},
    .finish = finish,
    .bounds = {2, 1, 0},
    .far = {2, 2, 0},
};

/* MARK: beside a mailbox that grows */

static void process_and_send(uint64_t item, uint64_t cursor) {
  model_check(chain_offer(item + 1) == RR_OK);
  process(item, cursor);
}

/* It grows in the middle of a drain, so the head of the new stage is stale at once. */
static void set_up_grown(void) {
  set_up_from(1);
  model_check(chain_offer(10) == RR_OK);
  model_check(chain_drain(try_take_over, process_and_send) == 1);
}

static void send_2_more(void) {
  send(12);
  send(13);
}

const model_case overflow_grown = {
    .name = "overflow.grown",
    .about = "two items overflow a mailbox that has grown in the middle of a drain: order is kept",
    .setup = set_up_grown,
    .threads = {send_2_more, receive_4},
    .finish = finish,
    .bounds = {3, 1, 0},
    .far = {4, 1, 0},
};

const model_case overflow_symmetric = {
    .name = "overflow.symmetric",
    .about = "the same without membarrier",
    .setup = set_up_grown,
    .threads = {send_2_more, receive_4},
    .finish = finish,
    .is_symmetric = true,
    .bounds = {3, 1, 0},
    .far = {4, 1, 0},
};
