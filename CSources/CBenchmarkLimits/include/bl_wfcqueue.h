/* liburcu's wait-free concatenation queue, one malloc'ed node per item, as is usual. */
#ifndef BL_WFCQUEUE_H
#define BL_WFCQUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "bl_item.h"

typedef struct bl_wfcqueue bl_wfcqueue;

bl_wfcqueue *bl_wfcqueue_create(void);

/* Frees what is still queued. No other thread may use the queue any more. */
void bl_wfcqueue_destroy(bl_wfcqueue *queue);

/* Any thread. Returns false if there is no memory. */
bool bl_wfcqueue_enqueue(bl_wfcqueue *queue, bl_item item);

/*
 * Consumer only. Moves up to `capacity` items out in order, and returns how many. Splices off all
 * queued items first, so that producers and consumer contend once per batch.
 */
size_t bl_wfcqueue_drain(bl_wfcqueue *queue, bl_item *items, size_t capacity);

#endif
