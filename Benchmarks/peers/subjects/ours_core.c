/* Our queues for C++, whose compilers do not read the C core. Link-time optimization inlines these
 * functions. What cannot be created ends the process: the race reports that as a crash. */
#include "ours_core.h"

#include <stdlib.h>

#include "rr_eventcount.h"
#include "rr_lanes.h"
#include "rr_ring.h"

rr_ring *ours_ring_create(uint64_t capacity) {
  rr_ring *ring = NULL;
  if (rr_ring_create(&ring, capacity, sizeof(uint64_t), _Alignof(uint64_t), 0) != RR_OK) abort();
  return ring;
}

void ours_ring_destroy(rr_ring *ring) { rr_ring_destroy(ring); }

bool ours_ring_send(rr_ring *ring, const uint64_t *items, uint64_t count) {
  uint64_t cursor;
  if (rr_ring_try_claim(ring, count, &cursor) != RR_OK) return false;
  for (uint64_t i = 0; i < count; i++) *(uint64_t *)rr_ring_payload(ring, cursor + i) = items[i];
  rr_ring_publish(ring, cursor, count);
  return true;
}

size_t ours_ring_receive(rr_ring *ring, uint64_t *items, size_t most) {
  const uint64_t head = rr_ring_head(ring);
  uint32_t left = rr_ring_run_left(ring);
  size_t count = 0;
  while (count < most) {
    /* Nothing is ever abandoned here, so a run has no flag. */
    if (left == 0) left = rr_ring_peek(ring, head + count);
    if (left == 0) break;
    const size_t taken = left < most - count ? left : most - count;
    for (size_t i = 0; i < taken; i++) {
      items[count + i] = *(const uint64_t *)rr_ring_payload(ring, head + count + i);
    }
    count += taken;
    left -= (uint32_t)taken;
  }
  if (count == 0) return 0;
  rr_ring_set_run_left(ring, left);
  rr_ring_release(ring, head + count);
  return count;
}

bool ours_ring_has_items(const rr_ring *ring) {
  return rr_ring_run_left(ring) != 0 || rr_ring_peek(ring, rr_ring_head(ring)) != 0;
}

rr_eventcount *ours_sleep_create(void) {
  rr_eventcount *ec = NULL;
  if (rr_eventcount_create(&ec, RR_EVENTCOUNT_FUTEX) != RR_OK) abort();
  return ec;
}

void ours_sleep_destroy(rr_eventcount *ec) { rr_eventcount_destroy(ec); }
uint32_t ours_sleep_prepare(rr_eventcount *ec) { return rr_eventcount_prepare(ec); }
void ours_sleep_wait(rr_eventcount *ec, uint32_t key) { rr_eventcount_wait(ec, key, -1); }
void ours_sleep_notify(rr_eventcount *ec) { rr_eventcount_notify(ec); }

/* A producer's side of its lane, on lines of its own. */
typedef struct ours_seat {
  _Alignas(128) rr_lane_producer lane;
} ours_seat;

struct ours_lanes {
  rr_lanes *lanes;
  ours_seat *seats;
  uint32_t producers;
  /* The consumer's: the lane that it polls next, and how much it has taken from it at a stretch. */
  uint32_t next;
  uint32_t taken;
};

/* The most that is taken from one lane while others may wait, as in ReactorCore. */
enum { SHARE = 4096 };

ours_lanes *ours_lanes_create(uint32_t producers, uint64_t capacity) {
  ours_lanes *ours = calloc(1, sizeof *ours);
  if (ours == NULL) abort();
  ours->producers = producers;
  ours->seats = aligned_alloc(_Alignof(ours_seat), producers * sizeof *ours->seats);
  if (ours->seats == NULL) abort();
  const size_t size = sizeof(uint64_t);
  if (rr_lanes_create(&ours->lanes, producers, capacity, size, _Alignof(uint64_t), 0) != RR_OK)
    abort();
  for (uint32_t i = 0; i < producers; i++) {
    if (rr_lanes_register(ours->lanes, &ours->seats[i].lane) != RR_OK) abort();
  }
  return ours;
}

void ours_lanes_destroy(ours_lanes *ours) {
  rr_lanes_destroy(ours->lanes);
  free(ours->seats);
  free(ours);
}

size_t ours_lanes_send(ours_lanes *ours, unsigned producer, const uint64_t *items, size_t count) {
  rr_lane_producer lane = ours->seats[producer].lane;
  size_t done = 0;
  for (; done < count; done++) {
    uint64_t *room = rr_lane_try_claim(&lane);
    if (room == NULL) break;
    *room = items[done];
    rr_lane_publish(&lane);
  }
  ours->seats[producer].lane.tail = lane.tail;
  ours->seats[producer].lane.head_seen = lane.head_seen;
  return done;
}

/* Takes what one lane has, up to its share, and goes on with the next one. */
size_t ours_lanes_receive(ours_lanes *ours, uint64_t *items, size_t most) {
  for (uint32_t polled = 0; polled < ours->producers; polled++) {
    rr_lane *lane = rr_lanes_at(ours->lanes, ours->next);
    const uint64_t ready = rr_lane_poll(lane);
    const size_t count = ready < most ? (size_t)ready : most;
    ours->taken += (uint32_t)count;
    if (count < most || ours->taken >= SHARE) {
      ours->taken = 0;
      if (++ours->next == ours->producers) ours->next = 0;
    }
    if (count == 0) continue;
    const uint64_t head = rr_lane_head(lane);
    for (size_t i = 0; i < count; i++) {
      items[i] = *(const uint64_t *)rr_lane_payload(lane, head + i);
    }
    rr_lane_release(lane, head + count);
    return count;
  }
  return 0;
}
