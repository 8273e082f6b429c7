/* cases.h: what the cases share. A case does as the layers above the core do, in C; where it stands
 * for Swift code, it says for which.
 *
 * What threads use together lies in the arena, where races are found. What only the checks need
 * (who has done what by now) is in static variables, which are no part of the checked program: they
 * are always up to date. */
#ifndef MODEL_CASES_H
#define MODEL_CASES_H

#include <string.h>

#include "CReactorCore.h"
#include "core.h"

#define MOST_ITEMS 16

/* What a consumer received, in order. An item is 10 times its producer, and a number from 0 up. */
typedef struct received {
  uint64_t items[MOST_ITEMS];
  int count;
} received;

void received_add(received *r, uint64_t item);
/* Nothing twice, each producer's in order; nothing missing before the last one of each. */
void received_check_order(const received *r);
/* As many of that producer's as that. */
int received_of(const received *r, uint64_t producer);

/* MARK: on a ring of 64-bit payloads */

/* The last cursors before they wrap. */
#define RING_NEAR_THE_END ((UINT64_MAX >> 1) - 1)

rr_ring *ring_make(uint64_t capacity, uint64_t start);
/* `count` items from `first` on, by one claim; waits while there is no room. RR_OK, or RR_CLOSED.
 */
rr_status ring_send(rr_ring *ring, uint64_t first, uint64_t count);
rr_status ring_try_send(rr_ring *ring, uint64_t first, uint64_t count);
/* As RingOn.drain (Sources/ReactorCore/Ring/Ring+Drain.swift). How many were received. */
int ring_drain(rr_ring *ring, received *into, int limit, int release_every);
/* At the end: all was received, in order. Destroys it. */
void ring_finish(rr_ring *ring, const received *all);

#endif
