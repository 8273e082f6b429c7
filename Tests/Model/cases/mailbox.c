/* The ownership word with a mailbox: see mailbox.h. */
#include "mailbox.h"
#include "rr_fence.h"

#define MOST_OWN 4

typedef struct own_item {
  uint64_t item, stamp;
} own_item;

/* Only the owner accesses it. */
typedef struct owned {
  uint64_t processed;
  /* What the owner sent to itself. It is processed before items that are claimed later. */
  own_item queue[MOST_OWN];
  int queue_first, queue_end;
} owned;

static rr_trampoline *trampoline;
static rr_ring *ring;
static owned *own;
static received got;
/* For each item, the times at which its send began and ended. */
static int clock_now, began[100], ended[100];
/* Which were taken out by mailbox_discard, whose order is not promised. The owner's. */
static bool is_discarding, is_discarded[100];
/* With a loop: called by the thread that scheduled. */
static void (*submit)(void);
/* With a loop that ends while the mailbox is in use; otherwise NULL. */
static bool (*has_loop_ended)(void);
static void (*when_loop_ended)(void (*action)(void));
static uint64_t sends_again;
/* Whether the word becomes light after the first turn that leaves nothing to do. */
static bool becomes_light;

/* As OwnerCheck. Nothing spills here, so only closers request a check: see overflow.c. */
static struct { _Atomic uint32_t is_raised; } * overflow;
static lifecycle *life;
/* For checks: how often it has ended, and whether it was closed by more than its loop. */
static int end_count;
static bool may_end;

static uint64_t token(void) { return (uint64_t)(model_self() + 1) << 5; }

void mailbox_make(void) {
  memset(&got, 0, sizeof got);
  memset(began, 0, sizeof began);
  memset(ended, 0, sizeof ended);
  memset(is_discarded, 0, sizeof is_discarded);
  is_discarding = false;
  clock_now = 0;
  submit = NULL;
  has_loop_ended = NULL;
  sends_again = 0;
  becomes_light = false;
  end_count = 0;
  may_end = false;
  model_check(rr_trampoline_create(&trampoline, 0) == RR_OK);
  ring = ring_make(4, 0);
  own = model_allocate(sizeof *own);
  overflow = model_allocate(sizeof *overflow);
  life = model_allocate(sizeof *life);
}

void mailbox_make_idle(void) {
  mailbox_make();
  model_check(rr_trampoline_try_initialize(trampoline, token()));
  rr_trampoline_release(trampoline, 0);
}

void mailbox_make_light(void) {
  mailbox_make();
  becomes_light = true;
  model_check(rr_trampoline_try_initialize(trampoline, token()));
  rr_trampoline_release_after(trampoline, 0, 0);
}

void mailbox_put_on_loop(void (*submit_to_loop)(void)) { submit = submit_to_loop; }

void mailbox_put_on_loop_that_ends(void (*submit_to_loop)(void), bool (*has_ended)(void),
                                   void (*when_ended)(void (*action)(void))) {
  submit = submit_to_loop;
  has_loop_ended = has_ended;
  when_loop_ended = when_ended;
}

void mailbox_resend(uint64_t count) { sends_again = count; }

/* MARK: the mailbox */

/* As OwnerCheck.wasRequested. */
static bool is_raised(void) {
  rr_fence_light();
  return rr_load_seq_cst(MODEL_OF_THE_CASE, &overflow->is_raised) != 0;
}

/* As OwnerCheck.request. */
static void raise(void) {
  rr_exchange_seq_cst(MODEL_OF_THE_CASE, &overflow->is_raised, 1u);
  rr_fence_heavy();
}

/* As OwnerCheck.withdraw. The owner. */
static void lower(void) { rr_exchange_acquire(MODEL_OF_THE_CASE, &overflow->is_raised, 0u); }

static bool is_ring_empty(void) {
  return rr_ring_distance(rr_ring_head(ring), rr_ring_tail(ring)) == 0;
}

static bool is_empty(void) { return is_ring_empty() && !is_raised(); }

static bool is_ring_ready(void) { return rr_ring_peek(ring, rr_ring_head(ring)) != 0; }

static bool is_ready(void) { return is_ring_ready() || (is_raised() && is_ring_empty()); }

static bool has_own(void) { return own->queue_first < own->queue_end; }

/* As Mailbox.tryTakeOver. Returns false if a claim is not yet published: then its sender checks. */
static bool try_take_over(void) {
  if (!is_raised() || has_own()) return true;
  if (!is_ring_ready() && !is_ring_empty()) return false;
  lower();
  return true;
}

static void append(uint64_t item) {
  model_check(own->queue_end < MOST_OWN);
  own->queue[own->queue_end++] = (own_item){item, rr_ring_tail(ring)};
}

/* MARK: the owner */

static void process(uint64_t item) {
  model_check(rr_trampoline_is_owner(trampoline, token()));
  is_discarded[item] = is_discarding;
  model_check(end_count == 0);
  received_add(&got, item);
  own->processed++;
  /* Item 1x sends item 3x while it is processed. */
  if (sends_again > 0 && item / 10 == 1) {
    sends_again--;
    const uint64_t next = 30 + item % 10;
    began[next] = ++clock_now;
    append(next);
    ended[next] = ++clock_now;
  }
}

static int process_own(uint64_t before) {
  int count = 0;
  while (has_own()) {
    const own_item next = own->queue[own->queue_first];
    if (rr_ring_distance(next.stamp, before) < 0) break;
    own->queue_first++;
    process(next.item);
    count++;
  }
  return count;
}

static bool is_own_due(uint64_t cursor) {
  return has_own() && rr_ring_distance(own->queue[own->queue_first].stamp, cursor) >= 0;
}

static int drain_ring(void) {
  if (!try_take_over()) return 0;
  int count = 0;
  uint64_t cursor = rr_ring_head(ring);
  while (rr_ring_peek(ring, cursor) != 0 && !is_own_due(cursor)) {
    process(*(const uint64_t *)rr_ring_payload(ring, cursor));
    rr_ring_release(ring, ++cursor);
    count++;
  }
  return count;
}

/* As Mailbox.drain: what the owner sent to itself is processed at its place among the other items.
 */
static int drain(void) {
  int count = 0, own_count;
  do {
    count += drain_ring();
    own_count = process_own(rr_ring_head(ring));
    count += own_count;
  } while (own_count > 0);
  return count;
}

/* As Runtime.end. */
static void end(void) {
  if (!lifecycle_sealed_to_ended(life)) return;
  model_check(may_end && end_count == 0);
  end_count++;
}

/* As Runtime.endIfDone. */
static void try_end(void) {
  if (lifecycle_may_end(life) && is_empty() && !has_own()) end();
}

static int turn(void) {
  const int count = drain();
  if (lifecycle_is_closed(life)) try_end();
  return count;
}

static bool try_reacquire(void) {
  for (int attempts = 0; !is_empty(); attempts++) {
    if (!rr_trampoline_try_acquire(trampoline, token())) return false;
    if (is_ready()) return true;
    rr_trampoline_release(trampoline, 0);
    if (attempts < 1) continue;
    if (!rr_fence_heavy()) {
      model_pause();
    } else if (!is_ring_ready() && !is_ring_empty()) {
      return false;
    }
  }
  return false;
}

static void run_turns(void) {
  do {
    while (turn() > 0) {
    }
    rr_trampoline_release(trampoline, 0);
  } while (try_reacquire());
}

/* MARK: senders */

static bool try_initialize(void) {
  if (rr_trampoline_published_slot(trampoline) >= 0) return false;
  if (!rr_trampoline_try_initialize(trampoline, token())) return false;
  own->processed = 0;
  rr_trampoline_publish(trampoline, token(), 0);
  return true;
}

static bool try_acquire(void) { return rr_trampoline_try_acquire(trampoline, token()); }

/* As OwnedState.tryAcquireOrRely. */
static bool try_acquire_or_rely(void) {
  return try_acquire() || (!rr_trampoline_is_busy(trampoline) && try_acquire());
}

static void run_or_schedule(void) {
  const bool started = try_initialize();
  if (submit == NULL) {
    if (started || try_acquire_or_rely()) run_turns();
    return;
  }
  if (started) rr_trampoline_release(trampoline, 0);
  if (rr_trampoline_try_schedule(trampoline)) submit();
}

static rr_status send_through_ring(uint64_t item) {
  const rr_status status = ring_try_send(ring, item, 1);
  if (status != RR_OK) return status;
  rr_fence_light();
  if (!rr_trampoline_is_busy(trampoline)) run_or_schedule();
  return RR_OK;
}

/* As Runtime.enqueueReentrant. */
rr_status mailbox_send_from_turn(uint64_t item) {
  began[item] = ++clock_now;
  if (rr_ring_is_closed(ring) && lifecycle_refuses_owner(life)) return RR_CLOSED;
  append(item);
  if (!rr_trampoline_is_busy(trampoline)) run_or_schedule();
  ended[item] = ++clock_now;
  return RR_OK;
}

rr_status mailbox_send_through_ring(uint64_t item) {
  began[item] = ++clock_now;
  const rr_status status = send_through_ring(item);
  ended[item] = ++clock_now;
  return status;
}

static void send_and(uint64_t item, bool (*acquires)(void)) {
  began[item] = ++clock_now;
  model_check(ring_try_send(ring, item, 1) == RR_OK);
  rr_fence_light();
  if (acquires()) run_turns();
  ended[item] = ++clock_now;
}

void mailbox_send_and_acquire(uint64_t item) { send_and(item, try_acquire); }
void mailbox_send_and_acquire_or_rely(uint64_t item) { send_and(item, try_acquire_or_rely); }

/* The fast path, for an owner that found the mailbox empty. Releases the ownership before it
 * returns. */
static void take_turn(uint64_t item) {
  process(item);
  if (!has_own()) {
    if (becomes_light) {
      rr_trampoline_release_after(trampoline, 0, own->processed);
    } else {
      rr_trampoline_release(trampoline, 0);
    }
    if (is_empty() || !try_reacquire()) return;
  }
  run_turns();
}

/* For an owner that found other items first. Returns false if the mailbox was closed meanwhile. */
static bool run_turns_after(uint64_t item) {
  const bool is_accepted = !lifecycle_is_closed(life);
  if (is_accepted) append(item);
  run_turns();
  return is_accepted;
}

static rr_status send(uint64_t item) {
  if (submit == NULL && rr_trampoline_try_acquire(trampoline, token())) {
    if (rr_ring_is_idle(ring) && !is_raised()) {
      take_turn(item);
      return RR_OK;
    }
    if (run_turns_after(item)) return RR_OK;
  }
  return send_through_ring(item);
}

rr_status mailbox_send(uint64_t item) {
  began[item] = ++clock_now;
  const rr_status status = send(item);
  ended[item] = ++clock_now;
  return status;
}

/* MARK: closing */

/* As GrowingRing.seal, for a ring that does not grow. */
static void seal(void) {
  rr_ring_close(ring);
  lifecycle_closing_to_sealed(life);
}

/* The first part of Runtime.beginClosing. Returns whether the owner must check once more. */
static bool close_and_seal(closer by) {
  may_end = true;
  const after_closing next = lifecycle_open_to_closing(life, by);
  if (next == AFTER_CLOSING_SEAL) seal();
  return next != AFTER_CLOSING_NOTHING;
}

/* As Runtime.notifyOwnerOfClosing, and the rest of Runtime.close. */
static void notify_owner(void) {
  raise();
  if (!rr_trampoline_is_busy(trampoline)) run_or_schedule();
}

/* As Runtime.tryCloseIdle. */
static bool try_close_idle(closer by) {
  if (lifecycle_has_ended(life)) return false;
  if (submit != NULL) {
    if (!rr_trampoline_try_schedule(trampoline)) return false;
    (void)close_and_seal(by);
    submit();
  } else {
    if (!rr_trampoline_try_acquire(trampoline, token())) return false;
    (void)close_and_seal(by);
    run_turns();
  }
  return true;
}

void mailbox_close(closer by) {
  if (try_close_idle(by)) return;
  if (close_and_seal(by)) notify_owner();
}

void mailbox_close_fragile(closer by) {
  model_set_fragile(true);
  const bool must_check = close_and_seal(by);
  /* One more operation, at which it may stop: the word is sealed, and the owner does not know. */
  lifecycle_is_closed(life);
  model_set_fragile(false);
  if (must_check) notify_owner();
}

void mailbox_close_by_loop(void) {
  if (lifecycle_open_to_closing(life, CLOSER_IS_LOOP) == AFTER_CLOSING_SEAL) seal();
}

lifecycle *mailbox_lifecycle(void) { return life; }

/* MARK: for a loop */

void mailbox_acquire_scheduled(void) {
  model_check(rr_trampoline_is_owner(trampoline, RR_TRAMPOLINE_SCHEDULED));
  rr_trampoline_acquire_scheduled(trampoline, token());
}

int mailbox_turn(void) { return turn(); }

/* As Runtime.tryLeaveLoop. */
bool mailbox_try_release(void) {
  if (has_own() && is_empty()) return false;
  rr_trampoline_release(trampoline, 0);
  return !try_reacquire();
}

/* As OwnedState.reschedule. */
void mailbox_reschedule(void) { rr_trampoline_publish(trampoline, RR_TRAMPOLINE_SCHEDULED, 0); }

int mailbox_processed(void) { return got.count; }

bool mailbox_is_scheduled(void) {
  return rr_trampoline_owner(trampoline) == RR_TRAMPOLINE_SCHEDULED;
}

/* As Mailbox.removeFromRing. */
static void remove_from_ring(void) {
  uint64_t cursor = rr_ring_head(ring);
  while (rr_ring_peek(ring, cursor) != 0) {
    process(*(const uint64_t *)rr_ring_payload(ring, cursor));
    rr_ring_release(ring, ++cursor);
  }
}

/* As Mailbox.removeAll. */
static void remove_all(void) {
  while (drain() > 0) {
  }
  while (has_own()) process(own->queue[own->queue_first++].item);
}

static void discard_again(void) {
  if (rr_trampoline_try_schedule(trampoline)) mailbox_discard();
}

void mailbox_discard(void) {
  bool has_all;
  mailbox_acquire_scheduled();
  mailbox_close_by_loop();
  do {
    has_all = has_loop_ended == NULL || has_loop_ended();
    is_discarding = true;
    if (has_all) {
      remove_all();
    } else {
      remove_from_ring();
    }
    is_discarding = false;
    /* What was taken out has been reported by now. */
    if (has_all && is_empty()) end();
    rr_trampoline_release(trampoline, 0);
  } while (has_all ? try_reacquire() : !is_ring_empty() && try_reacquire());
  if (!has_all) when_loop_ended(discard_again);
}

/* MARK: what must hold */

/* An item whose send returned before another send began is processed before that other item. */
static void check_real_time_order(void) {
  for (int i = 0; i < got.count; i++) {
    for (int j = i + 1; j < got.count; j++) {
      const uint64_t early = got.items[i], late = got.items[j];
      model_check(ended[late] == 0 || ended[late] > began[early] ||
                  (is_discarded[early] && is_discarded[late]));
    }
  }
}

void mailbox_finish(int count) {
  model_check(got.count == count);
  received_check_order(&got);
  check_real_time_order();
  model_check(own->processed == (uint64_t)count);
  model_check(rr_trampoline_owner(trampoline) == 0);
  model_release(own);
  model_release(overflow);
  model_release((void *)life);
  rr_ring_destroy(ring);
  rr_trampoline_destroy(trampoline);
}
