/*
 * The textbook single-producer, single-consumer ring (after rigtorp's SPSCQueue): each side keeps a
 * copy of the other's index and loads the original only when the copy says full or empty. Every
 * item is published by a release store of its own and released by another one, without batching:
 * the limit for a queue between two cores that hands over each item at once.
 */
#ifndef BL_SPSC_H
#define BL_SPSC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "bl_item.h"

enum { BL_LINE = 128 }; /* two lines: the prefetcher fetches them in pairs */

typedef struct bl_spsc {
  _Alignas(BL_LINE) bl_item *items;
  size_t mask;
  _Alignas(BL_LINE) _Atomic(size_t) tail; /* next to write; written by the producer */
  size_t head_copy;                       /* the producer's copy of head */
  _Alignas(BL_LINE) _Atomic(size_t) head; /* next to read; written by the consumer */
  size_t tail_copy;                       /* the consumer's copy of tail */
} bl_spsc;

/* Returns NULL if there is no memory or the capacity is not a power of two. */
bl_spsc *bl_spsc_create(size_t capacity);
void bl_spsc_destroy(bl_spsc *queue);

/* Producer only. Returns false if the queue is full. */
static inline bool bl_spsc_push(bl_spsc *queue, bl_item item) {
  size_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);
  if (tail - queue->head_copy > queue->mask) {
    queue->head_copy = atomic_load_explicit(&queue->head, memory_order_acquire);
    if (tail - queue->head_copy > queue->mask) return false;
  }
  queue->items[tail & queue->mask] = item;
  atomic_store_explicit(&queue->tail, tail + 1, memory_order_release);
  return true;
}

/* Consumer only. Returns false if the queue is empty. */
static inline bool bl_spsc_pop(bl_spsc *queue, bl_item *item) {
  size_t head = atomic_load_explicit(&queue->head, memory_order_relaxed);
  if (head == queue->tail_copy) {
    queue->tail_copy = atomic_load_explicit(&queue->tail, memory_order_acquire);
    if (head == queue->tail_copy) return false;
  }
  *item = queue->items[head & queue->mask];
  atomic_store_explicit(&queue->head, head + 1, memory_order_release);
  return true;
}

#endif
