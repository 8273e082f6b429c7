/* What the cases share: see cases.h. */
#include "cases.h"

void received_add(received *r, uint64_t item) {
  model_check(r->count < MOST_ITEMS);
  r->items[r->count++] = item;
}

int received_of(const received *r, uint64_t producer) {
  int count = 0;
  for (int i = 0; i < r->count; i++) count += r->items[i] / 10 == producer;
  return count;
}

void received_check_order(const received *r) {
  uint64_t next[10] = {0};
  for (int i = 0; i < r->count; i++) {
    const uint64_t producer = r->items[i] / 10;
    model_check(producer > 0 && producer < 10);
    model_check(r->items[i] % 10 == next[producer]);
    next[producer]++;
  }
}

rr_ring *ring_make(uint64_t capacity, uint64_t start) {
  rr_ring *ring;
  model_check(rr_ring_create(&ring, capacity, sizeof(uint64_t), 8, start) == RR_OK);
  return ring;
}

rr_status ring_try_send(rr_ring *ring, uint64_t first, uint64_t count) {
  uint64_t cursor;
  const rr_status status = rr_ring_try_claim(ring, count, &cursor);
  if (status != RR_OK) return status;
  for (uint64_t i = 0; i < count; i++) {
    *(uint64_t *)rr_ring_payload(ring, cursor + i) = first + i;
  }
  rr_ring_publish(ring, cursor, count);
  return RR_OK;
}

rr_status ring_send(rr_ring *ring, uint64_t first, uint64_t count) {
  for (;;) {
    const rr_status status = ring_try_send(ring, first, count);
    if (status != RR_FULL) return status;
    model_pause();
  }
}

int ring_drain(rr_ring *ring, received *into, int limit, int release_every) {
  uint64_t cursor = rr_ring_head(ring), released = cursor;
  uint32_t run = rr_ring_run_left(ring);
  int count = 0;
  while (count < limit) {
    if (run == 0) {
      const uint32_t found = rr_ring_peek(ring, cursor);
      if (found == 0) break;
      if (found >= RR_RING_SKIP) {
        cursor += found - RR_RING_SKIP;
        continue;
      }
      run = found;
    }
    received_add(into, *(const uint64_t *)rr_ring_payload(ring, cursor));
    cursor++;
    run--;
    count++;
    if (cursor - released >= (uint64_t)release_every) {
      rr_ring_release(ring, cursor);
      released = cursor;
    }
  }
  rr_ring_set_run_left(ring, run);
  if (cursor != released) rr_ring_release(ring, cursor);
  return count;
}

void ring_finish(rr_ring *ring, const received *all) {
  received_check_order(all);
  model_check(rr_ring_was_count(ring) == 0);
  model_check(rr_ring_peek(ring, rr_ring_head(ring)) == 0);
  rr_ring_destroy(ring);
}
