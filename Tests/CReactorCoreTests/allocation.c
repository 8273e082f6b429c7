#include "allocation.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic long alive = 0;
static _Atomic int left = -1;

void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **block, size_t alignment, size_t size);
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void __real_free(void *block);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **block, size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void __wrap_free(void *block);

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  if (left == 0) return NULL;
  if (left > 0) left--;
  void *block = __real_aligned_alloc(alignment, size);
  if (block != NULL) alive++;
  return block;
}

int __wrap_posix_memalign(void **block, size_t alignment, size_t size) {
  if (left == 0) return ENOMEM;
  if (left > 0) left--;
  const int error = __real_posix_memalign(block, alignment, size);
  if (error == 0) alive++;
  return error;
}

void *__wrap_malloc(size_t size) {
  if (left == 0) return NULL;
  if (left > 0) left--;
  void *block = __real_malloc(size);
  if (block != NULL) alive++;
  return block;
}

void *__wrap_calloc(size_t count, size_t size) {
  if (left == 0) return NULL;
  if (left > 0) left--;
  void *block = __real_calloc(count, size);
  if (block != NULL) alive++;
  return block;
}

void __wrap_free(void *block) {
  if (block != NULL) alive--;
  __real_free(block);
}

void fail_allocation_after(int count) { left = count; }

long allocations_alive(void) { return alive; }
