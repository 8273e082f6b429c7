/* Memory for the cases, at the same addresses in each execution, and the detection of faulty plain
 * accesses: races, uses after free, leaks.
 *
 * The sources are compiled as for ThreadSanitizer, so each plain access calls one of the functions
 * below, but they are linked without its runtime. Each four bytes have a cell that records which
 * thread wrote there last and which threads have read since. An access that is not ordered after
 * them by happens-before is a race, whether or not it did harm in this execution. Freed memory is
 * not used again in the same execution.
 */
#include <stdio.h>
#include <string.h>

#include "model.h"

#define ARENA_SIZE (64 * 1024)
#define GRAIN 4

typedef struct cell {
  uint16_t written_at;
  uint16_t read_at[MODEL_ALL_THREADS];
  uint8_t written_by;
  uint8_t is_freed;
} cell;

typedef struct block {
  size_t offset, size;
  bool is_freed;
} block;

static _Alignas(4096) unsigned char arena[ARENA_SIZE];
static cell cells[ARENA_SIZE / GRAIN];
static block blocks[64];
static unsigned block_count;
static size_t used;

void model_arena_reset(void) {
  memset(arena, 0, used);
  memset(cells, 0, used / GRAIN * sizeof(cell));
  used = 0;
  block_count = 0;
}

bool model_arena_holds(const void *address) {
  return (const unsigned char *)address >= arena &&
         (const unsigned char *)address < arena + ARENA_SIZE;
}

/* The blocks begin two cache lines apart, which is enough for every alignment. */
void *model_allocate(size_t size) {
  const size_t whole = (size + 127) / 128 * 128;
  if (block_count == 64 || used + whole > ARENA_SIZE) model_fail("the arena is too small");
  blocks[block_count++] = (block){.offset = used, .size = size, .is_freed = false};
  used += whole;
  return arena + used - whole;
}

static block *block_of(const void *address) {
  const size_t offset = (size_t)((const unsigned char *)address - arena);
  for (unsigned i = 0; i < block_count; i++) {
    if (offset >= blocks[i].offset && offset < blocks[i].offset + blocks[i].size) return &blocks[i];
  }
  return NULL;
}

void model_release(void *memory) {
  if (memory == NULL) return;
  block *b = block_of(memory);
  if (b == NULL || b->is_freed)
    model_fail("the block to free was not allocated, or was freed before");
  model_arena_note_plain(memory, b->size, true);
  model_memory_forget(memory, b->size);
  b->is_freed = true;
  for (size_t i = 0; i * GRAIN < b->size; i++) cells[b->offset / GRAIN + i].is_freed = 1;
}

void model_arena_check_leaks(void) {
  for (unsigned i = 0; i < block_count; i++) {
    if (!blocks[i].is_freed) model_fail("block %u of %zu bytes is leaked", i, blocks[i].size);
  }
}

/* MARK: accesses */

static cell *cell_of(const void *address) {
  return &cells[(size_t)((const unsigned char *)address - arena) / GRAIN];
}

__attribute__((noreturn)) static void report(const char *what, const void *address, int other) {
  const block *b = block_of(address);
  const size_t offset = (size_t)((const unsigned char *)address - arena);
  model_fail("%s at byte %zu of block %d, by thread %d and thread %d", what,
             b == NULL ? 0 : offset - b->offset, b == NULL ? -1 : (int)(b - blocks), model_running,
             other);
}

static void check_grain(const void *address, cell *c) {
  const model_view *view = model_view_of(model_running);
  if (c->is_freed) report("use after it was freed", address, c->written_by);
  if (c->written_at > view->clock[c->written_by]) report("race", address, c->written_by);
}

void model_arena_note_plain(const void *address, size_t size, bool writes) {
  if (!model_arena_holds(address)) return;
  const model_view *view = model_view_of(model_running);
  const uint16_t now = view->clock[model_running];
  const unsigned char *end = (const unsigned char *)address + size;
  const unsigned char *at = (const unsigned char *)((uintptr_t)address / GRAIN * GRAIN);
  for (; at < end; at += GRAIN) {
    cell *c = cell_of(at);
    check_grain(at, c);
    if (!writes) {
      c->read_at[model_running] = now;
      continue;
    }
    for (int i = 0; i < MODEL_ALL_THREADS; i++) {
      if (c->read_at[i] > view->clock[i]) report("race of a write with a read", at, i);
      c->read_at[i] = 0;
    }
    c->written_at = now;
    c->written_by = (uint8_t)model_running;
  }
}

void model_arena_check_atomic(const void *address, size_t size) {
  if (!model_arena_holds(address)) return;
  for (size_t i = 0; i < size; i += GRAIN) {
    const unsigned char *at = (const unsigned char *)address + i;
    check_grain(at, cell_of(at));
    /* For the thread that frees the block: against a plain write an atomic access counts as a read.
     */
    cell_of(at)->read_at[model_running] = model_view_of(model_running)->clock[model_running];
  }
}

/* MARK: what -fsanitize=thread calls */

#define PLAIN(size)                                                                                \
  void __tsan_read##size(void *address);                                                           \
  void __tsan_write##size(void *address);                                                          \
  void __tsan_unaligned_read##size(void *address);                                                 \
  void __tsan_unaligned_write##size(void *address);                                                \
  void __tsan_read##size(void *address) { model_arena_note_plain(address, size, false); }          \
  void __tsan_write##size(void *address) { model_arena_note_plain(address, size, true); }          \
  void __tsan_unaligned_read##size(void *address) {                                                \
    model_arena_note_plain(address, size, false);                                                  \
  }                                                                                                \
  void __tsan_unaligned_write##size(void *address) { model_arena_note_plain(address, size, true); }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_init(void);
void __tsan_init(void) {}

void *__tsan_memcpy(void *to, const void *from, size_t size);
void *__tsan_memcpy(void *to, const void *from, size_t size) {
  model_arena_note_plain(from, size, false);
  model_arena_note_plain(to, size, true);
  return memcpy(to, from, size);
}

void *__tsan_memset(void *to, int value, size_t size);
void *__tsan_memset(void *to, int value, size_t size) {
  model_arena_note_plain(to, size, true);
  return memset(to, value, size);
}
