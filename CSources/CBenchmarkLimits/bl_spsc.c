#include "bl_spsc.h"

#include <string.h>

bl_spsc *bl_spsc_create(size_t capacity) {
  if (capacity == 0 || (capacity & (capacity - 1)) != 0) return NULL;
  bl_spsc *queue = aligned_alloc(BL_LINE, sizeof *queue);
  size_t size = capacity * sizeof(bl_item);
  bl_item *items = aligned_alloc(BL_LINE, (size + BL_LINE - 1) / BL_LINE * BL_LINE);
  if (queue == NULL || items == NULL) {
    free(queue);
    free(items);
    return NULL;
  }
  memset(items, 0, size); /* touched now, so that no page fault is measured */
  queue->items = items;
  queue->mask = capacity - 1;
  queue->head_copy = 0;
  queue->tail_copy = 0;
  atomic_init(&queue->head, 0);
  atomic_init(&queue->tail, 0);
  return queue;
}

void bl_spsc_destroy(bl_spsc *queue) {
  free(queue->items);
  free(queue);
}
