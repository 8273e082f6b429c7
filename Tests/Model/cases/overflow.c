/* What is kept beside a full ring, and its place among what is in the ring. As Overflow.spill and
 * MailboxOn.drain do (Sources/ReactorRuntime/Mailbox/Overflow.swift, Mailbox.swift), on a ring of
 * two slots. */
#include "cases.h"
#include "rr_fence.h"

#define MOST_KEPT 6

typedef struct entry {
  uint64_t item, stamp;
} entry;

typedef struct overflow {
  _Atomic uint32_t is_raised;
  /* Under the lock. */
  bool was_raised;
  int count;
  entry works[MOST_KEPT];
} overflow;

/* The owner's. */
typedef struct owned {
  int first, end;
  entry queue[MOST_KEPT];
} owned;

static rr_ring *ring;
static overflow *over;
static owned *own;
static received got;
static int spilled, had_room;

static void set_up(void) {
  memset(&got, 0, sizeof got);
  spilled = had_room = 0;
  ring = ring_make(2, 0);
  over = model_allocate(sizeof *over);
  own = model_allocate(sizeof *own);
}

static bool has_spilled(void) {
  rr_fence_light();
  return rr_load_seq_cst(MODEL_OF_THE_CASE, &over->is_raised) != 0;
}

static bool raise(void) {
  if (over->was_raised) return true;
  rr_exchange_seq_cst(MODEL_OF_THE_CASE, &over->is_raised, 1u);
  over->was_raised = rr_fence_heavy();
  return over->was_raised;
}

/* False if the ring has room. */
static bool spill(uint64_t item) {
  bool is_taken = false;
  model_mutex_lock(over);
  model_check(raise());
  const uint64_t tail = rr_ring_tail(ring);
  if (rr_ring_distance(rr_ring_head(ring), tail) >= 2) {
    over->works[over->count++] = (entry){item, tail};
    is_taken = true;
    spilled++;
  } else {
    had_room++;
  }
  model_mutex_unlock(over);
  return is_taken;
}

static void send(uint64_t item) {
  while (ring_try_send(ring, item, 1) == RR_FULL) {
    if (spill(item)) return;
  }
}

static void take(void) {
  model_mutex_lock(over);
  for (int i = 0; i < over->count; i++) own->queue[own->end++] = over->works[i];
  over->count = 0;
  over->was_raised = false;
  rr_store_relaxed(&over->is_raised, 0);
  model_mutex_unlock(over);
}

static int process_own(uint64_t before) {
  int count = 0;
  while (own->first < own->end && rr_ring_distance(own->queue[own->first].stamp, before) >= 0) {
    received_add(&got, own->queue[own->first++].item);
    count++;
  }
  return count;
}

static int drain(void) {
  int count = 0;
  if (has_spilled()) take();
  uint64_t cursor = rr_ring_head(ring);
  const uint64_t end = cursor + 2;
  while (cursor != end && rr_ring_peek(ring, cursor) != 0) {
    count += process_own(cursor);
    received_add(&got, *(const uint64_t *)rr_ring_payload(ring, cursor));
    rr_ring_release(ring, ++cursor);
    count++;
  }
  return count + process_own(cursor);
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
    if (drain() == 0) model_pause();
  }
}
static void receive_4(void) { receive(4); }
static void receive_5(void) { receive(5); }

static void finish(void) {
  received_check_order(&got);
  rr_ring_destroy(ring);
  model_release(over);
  model_release(own);
}

const model_case overflow_one_producer = {
    .name = "overflow.one-producer",
    .about =
        "four items of one producer through two slots, with what does not fit beside: in order",
    .setup = set_up,
    .threads = {send_4_of_1, receive_4},
    .finish = finish,
    .bounds = {3, 2, 0},
    .far = {4, 3, 0},
};

const model_case overflow_two_producers = {
    .name = "overflow.two-producers",
    .about = "two producers spill beside a ring of two slots: each one's items in order",
    .setup = set_up,
    .threads = {send_3_of_1, send_2_of_2, receive_5},
    .finish = finish,
    .bounds = {2, 2, 0},
    .far = {3, 2, 0},
};
