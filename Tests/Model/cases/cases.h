/* cases.h: what the cases share. A case does in C what the layers above the core do. Where it
 * repeats Swift code, a comment names that code.
 *
 * Objects that several threads use are in the arena, where races are found. What only the checks
 * need (which thread has done what by now) is in static variables. They are not part of the checked
 * program and are always up to date.
 */
#ifndef MODEL_CASES_H
#define MODEL_CASES_H

#include <string.h>

#include "CReactorCore.h"
#include "core.h"

#define MOST_ITEMS 16

/* The items that a consumer received, in order. An item is 10 times the number of its producer,
 * plus a number from 0 up. */
typedef struct received {
  uint64_t items[MOST_ITEMS];
  int count;
} received;

void received_add(received *r, uint64_t item);
/* Checks that no item was received twice, that each producer's items are in order, and that none is
 * missing before the last one of each producer. */
void received_check_order(const received *r);
/* How many items of that producer were received. */
int received_of(const received *r, uint64_t producer);

/* MARK: a ring of 64-bit payloads */

/* The last cursors before they wrap around. */
#define RING_NEAR_THE_END ((UINT64_MAX >> 1) - 1)

rr_ring *ring_make(uint64_t capacity, uint64_t start);
/* Sends `count` items from `first` on by one claim, and waits while there is no room. Returns RR_OK
 * or RR_CLOSED. */
rr_status ring_send(rr_ring *ring, uint64_t first, uint64_t count);
rr_status ring_try_send(rr_ring *ring, uint64_t first, uint64_t count);
/* As Ring.drain (Sources/ReactorCore/Ring/Ring.swift). Returns how many were received. */
int ring_drain(rr_ring *ring, received *into, int limit, int release_every);
/* At the end: checks that everything was received in order, and destroys the ring. */
void ring_finish(rr_ring *ring, const received *all);

#endif
