/* libvsync's queue of blocks for C++, whose compilers do not read its header. */
#include "bbq_core.h"

#include <stdlib.h>

/* A block takes less than 64 KiB, a power of two, its header included. So 16 blocks of 32 KiB have
 * room for 65,000 items, and are the next best to 65,536. */
#define BBQ_BLOCK_NUM_LOG 4U
#define BBQ_ENTRY_SIZE_LOG 3U
enum { BLOCK_BYTES = 32768 };

#include <vsync/queue/bbq_mpmc.h>

struct bbq_core {
  bbq_mpmc_t *queue;
};

bbq_core *bbq_core_create(void) {
  const size_t size = sizeof(bbq_mpmc_t) + ((size_t)BLOCK_BYTES << BBQ_BLOCK_NUM_LOG);
  bbq_core *core = malloc(sizeof *core);
  if (core == NULL) abort();
  core->queue = aligned_alloc(128, (size + 127) / 128 * 128);
  if (core->queue == NULL || !bbq_mpmc_init(core->queue, size)) abort();
  return core;
}

void bbq_core_destroy(bbq_core *core) {
  free(core->queue);
  free(core);
}

size_t bbq_core_send(bbq_core *core, const uint64_t *items, size_t count) {
  /* It does not change the items. */
  return bbq_mpmc_enqueue(core->queue, (vuintptr_t *)(uintptr_t)items, (vuint32_t)count, false);
}

size_t bbq_core_receive(bbq_core *core, uint64_t *items, size_t most) {
  return bbq_mpmc_dequeue(core->queue, (vuintptr_t *)items, (vuint32_t)most, false);
}
