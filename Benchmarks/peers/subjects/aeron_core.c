/* Aeron's array queue for C++. Its source is compiled here, so that the rest of Aeron need not be
 * built. The item itself is sent as the pointer, so it must not be 0. */
#include "aeron_core.h"

#include <stdlib.h>

#include <concurrent/aeron_mpsc_concurrent_array_queue.c>

/* What that source takes from the rest of Aeron. */
int aeron_alloc(void **pointer, size_t size) {
  *pointer = calloc(1, size);
  return *pointer == NULL ? -1 : 0;
}

void aeron_free(void *pointer) { free(pointer); }

struct aeron_core {
  _Alignas(128) aeron_mpsc_concurrent_array_queue_t queue;
};

aeron_core *aeron_core_create(unsigned capacity) {
  aeron_core *core = aligned_alloc(128, sizeof *core);
  if (core == NULL || aeron_mpsc_concurrent_array_queue_init(&core->queue, capacity) < 0) abort();
  return core;
}

void aeron_core_destroy(aeron_core *core) {
  aeron_mpsc_concurrent_array_queue_close(&core->queue);
  free(core);
}

bool aeron_core_send(aeron_core *core, uint64_t item) {
  return aeron_mpsc_concurrent_array_queue_offer(&core->queue, (void *)(uintptr_t)item) ==
         AERON_OFFER_SUCCESS;
}

static void note(void *next, void *item) { *(*(uint64_t **)next)++ = (uintptr_t)item; }

size_t aeron_core_receive(aeron_core *core, uint64_t *items, size_t most) {
  return aeron_mpsc_concurrent_array_queue_drain(&core->queue, note, &items, most);
}
