/* libvsync's queue of blocks for C++, whose compilers do not read its header. Compiled once for
 * each number of blocks: 1 << BLOCKS_LOG. */
#include "bbq_core.h"

#include <stdlib.h>

#define BBQ_BLOCK_NUM_LOG ((unsigned)(BLOCKS_LOG))
#define BBQ_ENTRY_SIZE_LOG 3U
/* A block takes less than 64 KiB, a power of two, its header of 264 bytes included. So all blocks
 * together take the 512 KiB of 65,536 items, and have room for fewer, the more there are. */
enum { BLOCK_BYTES = 524288 >> BLOCKS_LOG };

#include <vsync/queue/bbq_mpmc.h>

#define NAMED_2(name, log) name##_##log
#define NAMED_1(name, log) NAMED_2(name, log)
#define NAMED(name) NAMED_1(name, BLOCKS_LOG)

struct bbq_core {
  bbq_mpmc_t *queue;
};

bbq_core *NAMED(bbq_core_create)(void) {
  const size_t size = sizeof(bbq_mpmc_t) + ((size_t)BLOCK_BYTES << BBQ_BLOCK_NUM_LOG);
  bbq_core *core = malloc(sizeof *core);
  if (core == NULL) abort();
  core->queue = aligned_alloc(128, (size + 127) / 128 * 128);
  if (core->queue == NULL || !bbq_mpmc_init(core->queue, size)) abort();
  return core;
}

void NAMED(bbq_core_destroy)(bbq_core *core) {
  free(core->queue);
  free(core);
}

size_t NAMED(bbq_core_send)(bbq_core *core, const uint64_t *items, size_t count) {
  /* It does not change the items. */
  return bbq_mpmc_enqueue(core->queue, (vuintptr_t *)(uintptr_t)items, (vuint32_t)count, false);
}

size_t NAMED(bbq_core_receive)(bbq_core *core, uint64_t *items, size_t most) {
  return bbq_mpmc_dequeue(core->queue, (vuintptr_t *)items, (vuint32_t)most, false);
}
