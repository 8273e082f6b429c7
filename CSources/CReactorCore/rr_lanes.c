#include "rr_lanes.h"

#include "rr_platform.h"
#include "rr_slots.h"

rr_status rr_lanes_create(rr_lanes **out, uint32_t limit, uint64_t capacity, size_t size,
                          size_t alignment, uint64_t start) {
  *out = NULL;
  if (limit == 0 || limit > RR_LANES_MAX) return RR_LANE_COUNT_INVALID;
  const rr_status status = rr_slots_check(capacity, size, alignment);
  if (status != RR_OK) return status;
  rr_lanes *lanes = rr_platform_in_use->allocate(_Alignof(rr_lanes), sizeof(rr_lanes));
  if (lanes == NULL) return RR_OUT_OF_MEMORY;
  lanes->lanes = rr_platform_in_use->allocate(_Alignof(rr_lane), limit * sizeof(rr_lane));
  if (lanes->lanes == NULL) {
    rr_platform_in_use->release(lanes);
    return RR_OUT_OF_MEMORY;
  }
  lanes->limit = limit;
  lanes->capacity = capacity;
  lanes->stride = rr_round_up(size, alignment);
  atomic_init(&lanes->count, 0);
  for (uint32_t i = 0; i < limit; i++) {
    rr_lane *lane = &lanes->lanes[i];
    lane->slots = NULL;
    lane->mask = capacity - 1;
    lane->stride = lanes->stride;
    atomic_init(&lane->state, RR_LANE_FREE);
    atomic_init(&lane->tail, start);
    atomic_init(&lane->head, start);
    lane->tail_seen = start;
  }
  *out = lanes;
  return RR_OK;
}

void rr_lanes_destroy(rr_lanes *lanes) {
  if (lanes == NULL) return;
  for (uint32_t i = 0; i < lanes->limit; i++) rr_platform_in_use->release(lanes->lanes[i].slots);
  rr_platform_in_use->release(lanes->lanes);
  rr_platform_in_use->release(lanes);
}

/* Makes the consumer poll the lane `index` too. Relaxed: the edges of the lane itself carry what
 * the consumer finds there. */
static void raise_count(rr_lanes *lanes, uint32_t index) {
  uint32_t count = rr_load_relaxed(&lanes->count);
  while (count <= index && !rr_cas_relaxed(&lanes->count, &count, index + 1)) {
  }
}

static bool try_take_lane(rr_lane *lane) {
  uint32_t expected = RR_LANE_FREE;
  return rr_load_relaxed(&lane->state) == RR_LANE_FREE &&
         rr_cas_acquire(RR_EDGE_LANE_STATE, &lane->state, &expected, RR_LANE_TAKEN);
}

rr_status rr_lanes_register(rr_lanes *lanes, rr_lane_producer *out) {
  out->lane = NULL;
  rr_status status = RR_LANES_EXHAUSTED;
  for (uint32_t i = 0; i < lanes->limit; i++) {
    rr_lane *lane = &lanes->lanes[i];
    if (!try_take_lane(lane)) continue;
    if (lane->slots == NULL) lane->slots = rr_slots_allocate(lanes->capacity, lanes->stride);
    if (lane->slots == NULL) {
      /* Not by way of CLOSED: the consumer may not poll this lane yet, so nobody would recycle it.
       */
      rr_store_release(RR_EDGE_LANE_STATE, &lane->state, RR_LANE_FREE);
      /* A later lane may have its memory already. */
      status = RR_OUT_OF_MEMORY;
      continue;
    }
    raise_count(lanes, i);
    *out = (rr_lane_producer){
        .lane = lane,
        .slots = lane->slots,
        .mask = lane->mask,
        .stride = lane->stride,
        .tail = rr_load_relaxed(&lane->tail),
        .head_seen = rr_load_relaxed(&lane->head),
    };
    return RR_OK;
  }
  return status;
}
