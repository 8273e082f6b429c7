/* Concurrency Kit's ring for C++, whose compilers do not read its header. The item itself is sent
 * as the pointer. */
#include "ck_core.h"

#include <ck_ring.h>
#include <stdlib.h>

struct ck_core {
  _Alignas(128) ck_ring_t ring;
  ck_ring_buffer_t *buffer;
};

ck_core *ck_core_create(unsigned capacity) {
  ck_core *core = aligned_alloc(128, sizeof *core);
  if (core == NULL) abort();
  core->buffer = calloc(capacity, sizeof *core->buffer);
  if (core->buffer == NULL) abort();
  ck_ring_init(&core->ring, capacity);
  return core;
}

void ck_core_destroy(ck_core *core) {
  free(core->buffer);
  free(core);
}

bool ck_core_send(ck_core *core, uint64_t item) {
  return ck_ring_enqueue_mpsc(&core->ring, core->buffer, (void *)(uintptr_t)item);
}

bool ck_core_receive(ck_core *core, uint64_t *item) {
  void *found;
  if (!ck_ring_dequeue_mpsc(&core->ring, core->buffer, &found)) return false;
  *item = (uintptr_t)found;
  return true;
}
