#ifndef OURS_CORE_H
#define OURS_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rr_ring rr_ring;

rr_ring *ours_ring_create(uint64_t capacity);
void ours_ring_destroy(rr_ring *ring);
/* All items or none. Any thread. */
bool ours_ring_send(rr_ring *ring, const uint64_t *items, uint64_t count);
/* One consumer. */
size_t ours_ring_receive(rr_ring *ring, uint64_t *items, size_t most);
/* Whether an item is ready. One consumer. */
bool ours_ring_has_items(const rr_ring *ring);

typedef struct rr_eventcount rr_eventcount;

/* The sleep of a consumer: see rr_eventcount.h. */
rr_eventcount *ours_sleep_create(void);
void ours_sleep_destroy(rr_eventcount *ec);
uint32_t ours_sleep_prepare(rr_eventcount *ec);
void ours_sleep_wait(rr_eventcount *ec, uint32_t key);
void ours_sleep_notify(rr_eventcount *ec);

typedef struct ours_lanes ours_lanes;

/* A lane for each of `producers` producers. */
ours_lanes *ours_lanes_create(uint32_t producers, uint64_t capacity);
void ours_lanes_destroy(ours_lanes *lanes);
/* Returns how many items there was room for. One thread for each producer. */
size_t ours_lanes_send(ours_lanes *lanes, unsigned producer, const uint64_t *items, size_t count);
/* One consumer. */
size_t ours_lanes_receive(ours_lanes *lanes, uint64_t *items, size_t most);

#ifdef __cplusplus
}
#endif

#endif
