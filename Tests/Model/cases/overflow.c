/* What is kept beside a full mailbox, and its order among the items in its ring and among those
 * that the owner sends to itself. As Spilled and Mailbox.drain do
 * (Sources/ReactorRuntime/Mailbox/Spilled.swift, Mailbox.swift), with a ring of two slots. */
#include "chain.h"
#include "rr_fence.h"

#define MOST_HELD 8

typedef struct entry {
  uint64_t item, stamp;
  bool is_own;
} entry;

/* Begins empty again when it is emptied, so that few places suffice. */
typedef struct queue {
  int first, end;
  entry entries[MOST_HELD];
} queue;

typedef struct overflow {
  _Atomic uint32_t is_raised;
  /* How many that were spilled are not processed yet. */
  _Atomic uint64_t spilled;
  /* Under the lock. */
  bool was_raised;
  queue held;
} overflow;

static overflow *over;
/* Only the owner accesses it. */
static queue *own;
static received got;
static uint64_t limit, sends_again;
/* For each item, the times at which its send began and ended. */
static int clock_now, began[100], ended[100];
/* For checks: how many items are spilled, counted apart. */
static uint64_t spilled_now;

static void set_up_from(uint64_t first) {
  memset(&got, 0, sizeof got);
  memset(began, 0, sizeof began);
  memset(ended, 0, sizeof ended);
  clock_now = 0;
  limit = MOST_HELD;
  sends_again = 0;
  spilled_now = 0;
  chain_make(first, 2);
  over = model_allocate(sizeof *over);
  own = model_allocate(sizeof *own);
}

static void set_up(void) { set_up_from(2); }

/* MARK: queues */

static bool is_queue_empty(const queue *q) { return q->first == q->end; }

static void append(queue *q, entry e) {
  model_check(q->end < MOST_HELD);
  q->entries[q->end++] = e;
}

static entry remove_first(queue *q) {
  const entry e = q->entries[q->first++];
  if (is_queue_empty(q)) q->first = q->end = 0;
  return e;
}

static bool is_due(const queue *q, uint64_t cursor) {
  return !is_queue_empty(q) && rr_ring_distance(q->entries[q->first].stamp, cursor) >= 0;
}

/* MARK: any thread */

/* As OwnerCheck.wasRequested. */
static bool is_check_requested(void) {
  rr_fence_light();
  return rr_load_seq_cst(MODEL_OF_THE_CASE, &over->is_raised) != 0;
}

static bool try_request(void) {
  if (over->was_raised) return true;
  rr_exchange_seq_cst(MODEL_OF_THE_CASE, &over->is_raised, 1u);
  over->was_raised = rr_fence_heavy();
  return over->was_raised;
}

/* As Spilled.keep. Returns false if the ring has room, or at the limit. */
static bool try_keep(uint64_t item) {
  bool is_kept = false;
  model_mutex_lock(over);
  model_check(try_request());
  uint64_t head, tail;
  if (chain_was_full(&head, &tail) && rr_load_relaxed(&over->spilled) < limit) {
    append(&over->held, (entry){item, tail, false});
    rr_fetch_add_relaxed(&over->spilled, 1);
    model_check(++spilled_now <= limit);
    is_kept = true;
  }
  model_mutex_unlock(over);
  return is_kept;
}

static void send(uint64_t item) {
  began[item] = ++clock_now;
  while (chain_offer(item) == RR_FULL) {
    if (try_keep(item)) break;
    if (limit < MOST_HELD) model_pause();
  }
  ended[item] = ++clock_now;
}

/* MARK: the owner */

/* As Spilled.tryKeepOwn. */
static bool try_keep_own(uint64_t item) {
  model_mutex_lock(over);
  const bool is_kept = !is_queue_empty(&over->held);
  if (is_kept) append(&over->held, (entry){item, chain_tail(), true});
  model_mutex_unlock(over);
  return is_kept;
}

/* As Mailbox.tryAppendOwn. */
static void send_own(uint64_t item) {
  began[item] = ++clock_now;
  if (!is_check_requested() || !try_keep_own(item)) append(own, (entry){item, chain_tail(), true});
  ended[item] = ++clock_now;
}

/* As Spilled.tryTakeOver. */
static bool try_take_over_spilled(void) {
  model_mutex_lock(over);
  const bool must_wait =
      !chain_is_empty() && !chain_is_ready() && !is_due(&over->held, chain_head());
  if (!must_wait) {
    model_check(is_queue_empty(own));
    while (!is_queue_empty(&over->held)) append(own, remove_first(&over->held));
    over->was_raised = false;
    rr_exchange_acquire(MODEL_OF_THE_CASE, &over->is_raised, 0u);
  }
  model_mutex_unlock(over);
  return !must_wait;
}

/* As Mailbox.tryTakeOver. Returns false if the drain must wait for the publication of a claim. */
static bool try_take_over(void) {
  if (!is_check_requested() || !is_queue_empty(own)) return true;
  return try_take_over_spilled();
}

static void process(uint64_t item) {
  received_add(&got, item);
  /* Item 1x sends item 3x while it is processed. */
  if (sends_again > 0 && item / 10 == 1) {
    sends_again--;
    send_own(30 + item % 10);
  }
}

static void process_in_ring(uint64_t item, uint64_t cursor) {
  (void)cursor;
  process(item);
}

static bool comes_next(uint64_t cursor) { return !is_due(own, cursor); }

/* As Mailbox.drain with Mailbox.takeBesideRing. */
static int process_own_queue(uint64_t before) {
  int count = 0;
  for (; is_due(own, before); count++) {
    const entry e = remove_first(own);
    if (!e.is_own) {
      spilled_now--;
      rr_fetch_sub_relaxed(&over->spilled, 1);
    }
    process(e.item);
  }
  return count;
}

/* As Mailbox.drain. */
static void drain(void) {
  do {
    chain_drain(try_take_over, comes_next, process_in_ring);
  } while (process_own_queue(chain_head()) > 0);
}

static void receive(int count) {
  while (got.count < count) {
    const int before = got.count;
    drain();
    if (got.count == before) model_pause();
  }
}

/* An item whose send returned before another send began is processed before that other item. */
static void check_real_time_order(void) {
  for (int i = 0; i < got.count; i++) {
    for (int j = i + 1; j < got.count; j++) {
      model_check(ended[got.items[j]] > began[got.items[i]]);
    }
  }
}

static void finish(void) {
  received_check_order(&got);
  check_real_time_order();
  model_check(spilled_now == 0);
  chain_free();
  model_release(over);
  model_release(own);
}

/* MARK: spilling */

static void send_4_of_1(void) {
  for (uint64_t i = 0; i < 4; i++) send(10 + i);
}
static void send_3_of_1(void) {
  for (uint64_t i = 0; i < 3; i++) send(10 + i);
}
static void send_2_of_1(void) {
  for (uint64_t i = 0; i < 2; i++) send(10 + i);
}
static void send_2_of_2(void) {
  for (uint64_t i = 0; i < 2; i++) send(20 + i);
}
static void receive_4(void) { receive(4); }
static void receive_5(void) { receive(5); }

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

static void set_up_limited(void) {
  set_up();
  limit = 1;
}

const model_case overflow_limited = {
    .name = "overflow.limited",
    .about =
        "four items of one producer, one of them beside the ring at a time: there are never more",
    .setup = set_up_limited,
    .threads = {send_4_of_1, receive_4},
    .finish = finish,
    .bounds = {3, 1, 0},
    .far = {4, 2, 0},
};

/* MARK: with what the owner sends to itself */

static void set_up_reentrant(void) {
  set_up();
  sends_again = 2;
}

const model_case overflow_reentrant = {
    .name = "overflow.reentrant",
    .about =
        "three items overflow a ring of two slots, two send another one when processed: one order",
    .setup = set_up_reentrant,
    .threads = {send_3_of_1, receive_5},
    .finish = finish,
    .bounds = {3, 1, 0},
    .far = {4, 2, 0},
};

static void receive_6(void) { receive(6); }

const model_case overflow_reentrant_two = {
    .name = "overflow.reentrant-two",
    .about = "the same with a second producer, whose items come before or after those of the owner",
    .setup = set_up_reentrant,
    .threads = {send_2_of_1, send_2_of_2, receive_6},
    .finish = finish,
    .bounds = {2, 1, 0},
    .far = {2, 2, 0},
};

/* MARK: beside a mailbox that grows */

static void offer(uint64_t item) {
  began[item] = ++clock_now;
  model_check(chain_offer(item) == RR_OK);
  ended[item] = ++clock_now;
}

static void process_and_send(uint64_t item, uint64_t cursor) {
  offer(item + 1);
  process_in_ring(item, cursor);
}

/* It grows in the middle of a drain, so the head of the new segment is stale at once. */
static void set_up_grown(void) {
  set_up_from(1);
  offer(10);
  model_check(chain_drain(try_take_over, comes_next, process_and_send) == 1);
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
