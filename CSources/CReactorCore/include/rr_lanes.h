/* rr_lanes.h: one single-producer single-consumer ring ("lane") for each registered producer.
 *
 * For callers that need the order of each producer, but not one order of all producers. There is no
 * shared claim, so a send is two plain stores. The consumer polls the lanes in turn.
 *
 *           register (producer)                  close (producer)
 *    FREE ─────────────────────▶ TAKEN ─────────────────────────▶ CLOSED
 *      ▲                                                             │
 *      └─────────────────────────────────────────────────────────────┘
 *         recycle (consumer): the lane is closed and empty
 *
 * Each side keeps a copy of the other side's cursor, and loads the real cursor only when the copy
 * says "full" or "empty". The memory of a lane is allocated when the lane is first taken and is
 * reused by the next producer, so it is bounded by lanes * capacity.
 *
 *  operation                                 threads
 *  register                                  any
 *  try_claim, publish, close                 the lane's producer: one thread at a time
 *  count, at, poll, payload, release,
 *  recycle                                   the consumer: one thread at a time
 *  create, destroy                           no other thread may use the lanes meanwhile
 *
 * After L. Lamport's ring, with the cached cursors of FastForward and MCRingBuffer.
 */
#ifndef RR_LANES_H
#define RR_LANES_H

#include <stddef.h>

#include "rr_atomic.h"
#include "rr_status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RR_LANES_MAX 1024

enum rr_lane_state { RR_LANE_FREE = 0, RR_LANE_TAKEN = 1, RR_LANE_CLOSED = 2 };

typedef struct rr_lane {
  /* Constant after the lane was taken for the first time. */
  _Alignas(RR_CACHE_LINE) unsigned char *slots;
  uint64_t mask;
  size_t stride;
  _Atomic uint32_t state;
  /* Written by the producer. */
  _Alignas(RR_CACHE_LINE) _Atomic uint64_t tail;
  /* Written by the consumer. */
  _Alignas(RR_CACHE_LINE) _Atomic uint64_t head;
  uint64_t tail_seen;
} rr_lane;

/* The producer's side of its lane, passed by value, so that a loop that sends keeps it in
 * registers. To load its own tail from memory for each item would cost more than the rest of a
 * send. */
typedef struct rr_lane_producer {
  rr_lane *lane;
  unsigned char *slots;
  uint64_t mask;
  size_t stride;
  uint64_t tail;
  uint64_t head_seen;
} rr_lane_producer;

typedef struct rr_lanes {
  rr_lane *lanes;
  uint32_t limit;
  uint64_t capacity;
  size_t stride;
  _Alignas(RR_CACHE_LINE) _Atomic uint32_t count; /* lanes ever taken: the consumer polls these */
} rr_lanes;

/* Creates lanes for at most `limit` producers at a time, each with `capacity` slots for payloads of
 * `size` bytes aligned to `alignment`. Cursors begin at `start`. *out is NULL on failure. */
rr_status rr_lanes_create(rr_lanes **out, uint32_t limit, uint64_t capacity, size_t size,
                          size_t alignment, uint64_t start);
/* Frees the lanes. The caller must have moved all payloads out before. NULL is allowed. */
void rr_lanes_destroy(rr_lanes *lanes);
/* Takes a free lane for the caller. Otherwise returns RR_LANES_EXHAUSTED or RR_OUT_OF_MEMORY, and
 * out->lane is NULL. */
rr_status rr_lanes_register(rr_lanes *lanes, rr_lane_producer *out);

/* Returns the room for the next payload, or NULL if the lane is full; full is truthful. Producer.
 * Wait-free. A claim that is never published delays nothing, because no other claim is behind it.
 */
static inline void *rr_lane_try_claim(rr_lane_producer *producer) {
  if (__builtin_expect(producer->tail - producer->head_seen > producer->mask, 0)) {
    producer->head_seen = rr_load_acquire(RR_EDGE_LANE_SPACE, &producer->lane->head);
    if (producer->tail - producer->head_seen > producer->mask) return NULL;
  }
  return producer->slots + (producer->tail & producer->mask) * producer->stride;
}

/* Publishes the claimed payload. Producer. Wait-free. */
static inline void rr_lane_publish(rr_lane_producer *producer) {
  producer->tail++;
  rr_store_release(RR_EDGE_LANE_ITEM, &producer->lane->tail, producer->tail);
}

/* Ends the sending; the consumer still receives what is inside. The producer's last call.
 * Wait-free. */
static inline void rr_lane_close(const rr_lane_producer *producer) {
  rr_store_release(RR_EDGE_LANE_STATE, &producer->lane->state, RR_LANE_CLOSED);
}

/* The number of lanes to poll. Consumer. */
static inline uint32_t rr_lanes_count(const rr_lanes *lanes) {
  return rr_load_relaxed(&lanes->count);
}

static inline rr_lane *rr_lanes_at(const rr_lanes *lanes, uint32_t index) {
  return &lanes->lanes[index];
}

static inline uint64_t rr_lane_capacity(const rr_lane *lane) { return lane->mask + 1; }
static inline size_t rr_lane_stride(const rr_lane *lane) { return lane->stride; }

/* The payload of a slot that is ready. Consumer. */
__attribute__((returns_nonnull)) static inline void *rr_lane_payload(const rr_lane *lane,
                                                                     uint64_t cursor) {
  return lane->slots + (cursor & lane->mask) * lane->stride;
}

static inline uint64_t rr_lane_head(const rr_lane *lane) { return rr_load_relaxed(&lane->head); }

/* Returns how many payloads are ready from head on. Loads the producer's cursor only when no
 * payload is left of those seen before. Consumer. Wait-free. */
static inline uint64_t rr_lane_poll(rr_lane *lane) {
  const uint64_t head = rr_load_relaxed(&lane->head);
  if (lane->tail_seen == head) lane->tail_seen = rr_load_acquire(RR_EDGE_LANE_ITEM, &lane->tail);
  return lane->tail_seen - head;
}

/* Returns every slot before `cursor` to the producer. Consumer. Wait-free. */
static inline void rr_lane_release(rr_lane *lane, uint64_t cursor) {
  rr_store_release(RR_EDGE_LANE_SPACE, &lane->head, cursor);
}

/* Makes a lane free for the next producer if it is closed and empty. Consumer. Wait-free. */
static inline void rr_lane_recycle(rr_lane *lane) {
  /* The state is loaded before the cursor: closing is the producer's last store, so a cursor loaded
   * after it is final. */
  if (rr_load_acquire(RR_EDGE_LANE_STATE, &lane->state) != RR_LANE_CLOSED) return;
  if (rr_lane_poll(lane) != 0) return;
  rr_store_release(RR_EDGE_LANE_STATE, &lane->state, RR_LANE_FREE);
}

#ifdef __cplusplus
}
#endif

#endif
