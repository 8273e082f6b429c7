/* The ring of a mailbox that grows: see chain.h. */
#include "chain.h"

typedef struct segment {
  rr_ring *ring;
  struct segment *previous;
  /* Whether earlier segments may hold items. Only the consumer accesses it. */
  bool has_previous;
  /* Whether the ring belongs to another segment, or to all. */
  bool shares;
} segment;

static struct {
  _Atomic uintptr_t newest;
  /* As RingReference: the ring that a send tries first. */
  _Atomic uintptr_t entrance;
  _Alignas(64) lifecycle life;
  /* The ring of a first segment that is closed. Made before, since closing needs no memory. */
  rr_ring *closed_ring;
} * chain;
static uint64_t smallest, capacity;

static segment *newest(void) {
  return (segment *)rr_load_seq_cst(MODEL_OF_THE_CASE, &chain->newest);
}
static bool is_closed(void) { return lifecycle_is_closed(&chain->life); }

/* Returns NULL without memory. */
static segment *make_segment(uint64_t segment_capacity, segment *previous) {
  rr_ring *ring;
  if (rr_ring_create(&ring, segment_capacity, sizeof(uint64_t), 8, 0) != RR_OK) return NULL;
  segment *new = model_allocate(sizeof *new);
  new->ring = ring;
  new->previous = previous;
  new->has_previous = previous != NULL;
  new->shares = false;
  return new;
}

static void free_segment(segment *s) {
  if (!s->shares) rr_ring_destroy(s->ring);
  model_release(s);
}

void chain_make(uint64_t first, uint64_t most) {
  chain = model_allocate(sizeof *chain);
  smallest = first;
  capacity = most;
  model_check(rr_ring_create(&chain->closed_ring, 1, sizeof(uint64_t), 8, 0) == RR_OK);
  rr_ring_close(chain->closed_ring);
}

void chain_free(void) {
  segment *s = newest();
  while (s != NULL) {
    segment *previous = s->previous;
    free_segment(s);
    s = previous;
  }
  rr_ring_destroy(chain->closed_ring);
  model_release(chain);
}

/* MARK: any thread */

static bool try_replace(segment *old, segment *new) {
  uintptr_t expected = (uintptr_t)old;
  const bool is_set = rr_cas_seq_cst(MODEL_OF_THE_CASE, &chain->newest, &expected, (uintptr_t) new);
  if (!is_set) free_segment(new);
  return is_set;
}

static segment *set_if_none(segment *first) {
  uintptr_t none = 0;
  if (rr_cas_seq_cst(MODEL_OF_THE_CASE, &chain->newest, &none, (uintptr_t)first)) return first;
  free_segment(first);
  /* In C a failed compare-and-swap is relaxed; in Swift it is as strong as a successful one. */
  return newest();
}

static segment *make_first(void) {
  segment *first = make_segment(smallest, NULL);
  if (first == NULL) return NULL;
  segment *s = set_if_none(first);
  if (is_closed()) rr_ring_close(s->ring);
  return s;
}

/* Returns false without memory. */
static bool try_grow(segment *s) {
  if (rr_ring_capacity(s->ring) == capacity) return true;
  segment *next = make_segment(2 * rr_ring_capacity(s->ring), s);
  if (next == NULL) return false;
  rr_ring_close(s->ring);
  if (is_closed()) {
    free_segment(next);
    return true;
  }
  rr_ring_reset(next->ring, rr_ring_head(s->ring), rr_ring_tail(s->ring));
  if (try_replace(s, next) && is_closed()) rr_ring_close(next->ring);
  return true;
}

static void follow(void) {
  uintptr_t old = rr_load_relaxed(&chain->entrance);
  const uintptr_t new = (uintptr_t)newest()->ring;
  if (new != old) rr_cas_release(MODEL_OF_THE_CASE, &chain->entrance, &old, new);
}

rr_status chain_offer(uint64_t item) {
  rr_ring *entrance = (rr_ring *)rr_load_acquire(MODEL_OF_THE_CASE, &chain->entrance);
  if (entrance != NULL && ring_try_send(entrance, item, 1) == RR_OK) return RR_OK;
  for (;;) {
    segment *s = newest();
    if (s == NULL) s = make_first();
    if (s == NULL) return RR_OUT_OF_MEMORY;
    const rr_status status = ring_try_send(s->ring, item, 1);
    if (status == RR_OK) {
      follow();
      return status;
    }
    if (status == RR_FULL && rr_ring_capacity(s->ring) == capacity) return status;
    if (status == RR_CLOSED && is_closed()) return status;
    if (!try_grow(s)) return RR_OUT_OF_MEMORY;
  }
}

static segment *share(rr_ring *ring, segment *previous) {
  segment *new = model_allocate(sizeof *new);
  *new = (segment){ring, previous, .has_previous = previous != NULL, .shares = true};
  return new;
}

/* Takes the place of a larger segment that another thread is about to put behind this one: closed
 * like it, with the same ring. Returns false if that thread was first. */
static bool seal_beyond(segment *s) { return try_replace(s, share(s->ring, s)); }

/* Returns whether this thread has put the first segment in place, closed. */
static bool seal_empty(void) {
  segment *first = share(chain->closed_ring, NULL);
  return set_if_none(first) == first;
}

static void close_stages(void) {
  if (rr_load_relaxed(&chain->newest) == 0 && seal_empty()) return;
  for (segment *s = newest(); s != NULL; s = newest()) {
    const bool is_growing = rr_ring_is_closed(s->ring) && rr_ring_capacity(s->ring) < capacity;
    rr_ring_close(s->ring);
    if (!is_growing || seal_beyond(s)) return;
  }
}

void chain_seal(void) {
  close_stages();
  lifecycle_closing_to_sealed(&chain->life);
}

void chain_close(closer by) {
  if (lifecycle_open_to_closing(&chain->life, by) == AFTER_CLOSING_SEAL) chain_seal();
}

lifecycle *chain_lifecycle(void) { return &chain->life; }

uint64_t chain_tail(void) {
  const segment *s = newest();
  return s == NULL ? 0 : rr_ring_tail(s->ring);
}

static bool is_empty(const segment *s) {
  return rr_ring_distance(rr_ring_head(s->ring), rr_ring_tail(s->ring)) == 0;
}

bool chain_is_empty(void) {
  const segment *s = newest();
  return s == NULL || is_empty(s);
}

bool chain_was_full(uint64_t *head, uint64_t *tail) {
  const segment *s = newest();
  if (s == NULL) return false;
  *tail = rr_ring_tail(s->ring);
  *head = rr_ring_head(s->ring);
  return rr_ring_capacity(s->ring) == capacity &&
         rr_ring_distance(*head, *tail) >= (int64_t)capacity;
}

/* MARK: the consumer */

static bool is_exhausted(const segment *s) { return rr_ring_is_closed(s->ring) && is_empty(s); }

static segment *oldest_before(segment *last) {
  for (;;) {
    segment *s = last;
    while (s->previous != NULL && !is_exhausted(s->previous)) s = s->previous;
    if (s->previous != NULL) {
      const uint64_t end = rr_ring_tail(s->previous->ring);
      if (rr_ring_distance(rr_ring_head(s->ring), end) > 0) {
        rr_ring_release(s->ring, end);
        if (s != last && is_exhausted(s)) continue;
      }
    }
    if (s == last) last->has_previous = false;
    return s;
  }
}

static segment *oldest(void) {
  segment *last = newest();
  return last != NULL && last->has_previous ? oldest_before(last) : last;
}

uint64_t chain_head(void) {
  const segment *s = oldest();
  return s == NULL ? 0 : rr_ring_head(s->ring);
}

bool chain_is_ready(void) {
  const segment *s = oldest();
  return s != NULL && rr_ring_peek(s->ring, rr_ring_head(s->ring)) != 0;
}

static void mirror(const segment *first, segment *last) {
  for (segment *s = last; s != first && s->previous != NULL; s = s->previous) {
    rr_ring_release(s->ring, rr_ring_head(first->ring));
  }
}

/* As Ring.drain, for items that were claimed one by one; `last` is the newest segment. */
static int drain_segment(segment *s, segment *last, int limit, bool (*condition)(uint64_t cursor),
                         void (*body)(uint64_t item, uint64_t cursor)) {
  uint64_t cursor = rr_ring_head(s->ring);
  int count = 0;
  while (count < limit && rr_ring_peek(s->ring, cursor) != 0 && condition(cursor)) {
    body(*(const uint64_t *)rr_ring_payload(s->ring, cursor), cursor);
    rr_ring_release(s->ring, ++cursor);
    mirror(s, last);
    count++;
  }
  return count;
}

bool chain_any(uint64_t cursor) {
  (void)cursor;
  return true;
}

int chain_drain(bool (*check)(void), bool (*condition)(uint64_t cursor),
                void (*body)(uint64_t item, uint64_t cursor)) {
  segment *last = newest();
  if (last == NULL) {
    check();
    return 0;
  }
  const int limit = (int)rr_ring_capacity(last->ring);
  const bool has_grown = last->has_previous;
  if (has_grown) mirror(oldest_before(last), last);
  if (!check()) return 0;
  if (!has_grown) return drain_segment(last, last, limit, condition, body);
  int count = 0;
  while (count < limit) {
    segment *first = oldest_before(last);
    const int more = drain_segment(first, last, limit - count, condition, body);
    if (more == 0) break;
    count += more;
  }
  return count;
}
