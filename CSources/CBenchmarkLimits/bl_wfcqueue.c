#include "bl_wfcqueue.h"

#include <stdlib.h>

#define _LGPL_SOURCE /* liburcu: inline the enqueue */
#include <urcu/wfcqueue.h>

enum { LINE = 128 };

typedef struct node {
  struct cds_wfcq_node link;
  bl_item item;
} node;

struct bl_wfcqueue {
  _Alignas(LINE) struct cds_wfcq_tail tail;
  _Alignas(LINE) struct cds_wfcq_head head;
  /* The items that the consumer has spliced off and not yet returned. */
  _Alignas(LINE) struct cds_wfcq_tail local_tail;
  struct cds_wfcq_head local_head;
};

bl_wfcqueue *bl_wfcqueue_create(void) {
  bl_wfcqueue *queue = aligned_alloc(LINE, sizeof *queue);
  if (queue == NULL) return NULL;
  cds_wfcq_init(&queue->head, &queue->tail);
  cds_wfcq_init(&queue->local_head, &queue->local_tail);
  return queue;
}

bool bl_wfcqueue_enqueue(bl_wfcqueue *queue, bl_item item) {
  node *added = malloc(sizeof *added);
  if (added == NULL) return false;
  added->item = item;
  cds_wfcq_node_init(&added->link);
  cds_wfcq_enqueue(&queue->head, &queue->tail, &added->link);
  return true;
}

size_t bl_wfcqueue_drain(bl_wfcqueue *queue, bl_item *items, size_t capacity) {
  if (cds_wfcq_empty(&queue->local_head, &queue->local_tail))
    __cds_wfcq_splice_blocking(&queue->local_head, &queue->local_tail, &queue->head, &queue->tail);
  size_t count = 0;
  while (count < capacity) {
    struct cds_wfcq_node *link =
        __cds_wfcq_dequeue_blocking(&queue->local_head, &queue->local_tail);
    if (link == NULL) break;
    node *taken = caa_container_of(link, node, link);
    items[count++] = taken->item;
    free(taken);
  }
  return count;
}

void bl_wfcqueue_destroy(bl_wfcqueue *queue) {
  bl_item items[64];
  while (bl_wfcqueue_drain(queue, items, 64) > 0) {
  }
  cds_wfcq_destroy(&queue->head, &queue->tail);
  free(queue);
}
