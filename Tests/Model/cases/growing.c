/* A mailbox's ring that grows: stages, closed in order to put a larger one behind. As GrowingRing
 * does (Sources/ReactorRuntime/Mailbox/GrowingRing.swift), from one slot to two. */
#include "cases.h"

#define MOST 2

typedef struct stage {
  rr_ring *ring;
  struct stage *previous;
} stage;

static struct {
  _Atomic uintptr_t newest;
  _Alignas(64) _Atomic uint32_t was_closed;
  _Alignas(64) _Atomic uint32_t is_sealed;
} * chain;
static bool has_closed;
static int accepted;

static stage *newest(void) { return (stage *)rr_load_seq_cst(MODEL_OF_THE_CASE, &chain->newest); }
static bool was_closed(void) { return rr_load_seq_cst(MODEL_OF_THE_CASE, &chain->was_closed) != 0; }

static stage *make_stage(uint64_t capacity, stage *previous) {
  stage *new = model_allocate(sizeof *new);
  new->ring = ring_make(capacity, 0);
  new->previous = previous;
  return new;
}
static void free_stage(stage *s) {
  rr_ring_destroy(s->ring);
  model_release(s);
}

static bool replace(stage *old, stage *new) {
  uintptr_t expected = (uintptr_t)old;
  const bool is_set = rr_cas_seq_cst(MODEL_OF_THE_CASE, &chain->newest, &expected, (uintptr_t) new);
  if (!is_set) free_stage(new);
  return is_set;
}

static void grow(stage *s) {
  if (rr_ring_capacity(s->ring) == MOST) return;
  stage *next = make_stage(MOST, s);
  rr_ring_close(s->ring);
  if (was_closed()) {
    free_stage(next);
    return;
  }
  rr_ring_restart(next->ring, rr_ring_head(s->ring), rr_ring_tail(s->ring));
  if (replace(s, next) && was_closed()) rr_ring_close(next->ring);
}

static rr_status offer(uint64_t item) {
  for (;;) {
    stage *s = newest();
    const rr_status status = ring_try_send(s->ring, item, 1);
    if (status == RR_OK) return status;
    if (status == RR_FULL && rr_ring_capacity(s->ring) == MOST) return status;
    if (status == RR_CLOSED && was_closed()) return status;
    grow(s);
  }
}

static bool seal(stage *s) {
  stage *last = make_stage(rr_ring_capacity(s->ring), s);
  rr_ring_restart(last->ring, rr_ring_head(s->ring), rr_ring_tail(s->ring));
  rr_ring_close(last->ring);
  return replace(s, last);
}

static void close_chain(void) {
  rr_exchange_seq_cst(MODEL_OF_THE_CASE, &chain->was_closed, 1u);
  for (;;) {
    stage *s = newest();
    const bool is_growing = rr_ring_is_closed(s->ring) && rr_ring_capacity(s->ring) < MOST;
    rr_ring_close(s->ring);
    if (!is_growing || seal(s)) break;
  }
  rr_exchange_seq_cst(MODEL_OF_THE_CASE, &chain->is_sealed, 1u);
}

static void set_up(void) {
  chain = model_allocate(sizeof *chain);
  atomic_init(&chain->newest, (uintptr_t)make_stage(1, NULL));
  has_closed = false;
  accepted = 0;
}

static void send_2(void) {
  for (uint64_t i = 0; i < 2; i++) {
    const bool is_late = has_closed;
    const rr_status status = offer(10 + i);
    model_check(status == RR_CLOSED || (status == RR_OK && !is_late));
    accepted += status == RR_OK;
  }
}

static void close_then_send(void) {
  close_chain();
  has_closed = true;
  model_check(offer(20) == RR_CLOSED);
}

static void finish(void) {
  model_check(offer(30) == RR_CLOSED);
  stage *s = newest();
  model_check((int)(rr_ring_tail(s->ring)) == accepted);
  while (s != NULL) {
    stage *previous = s->previous;
    free_stage(s);
    s = previous;
  }
  model_release(chain);
}

const model_case ring_closed_while_growing = {
    .name = "ring.closed-while-growing",
    .about =
        "closed while another sends and so puts a larger stage behind: nothing is accepted later",
    .setup = set_up,
    .threads = {send_2, close_then_send},
    .finish = finish,
    .bounds = {3, 1, 0},
    .far = {4, 2, 0},
};
