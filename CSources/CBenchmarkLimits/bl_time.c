#include "bl_time.h"

double bl_ns_per_tick(void) {
  uint64_t start_ns = bl_now_ns();
  uint64_t start = bl_ticks();
  uint64_t end_ns;
  do {
    end_ns = bl_now_ns();
  } while (end_ns - start_ns < 20000000u);
  return (double)(end_ns - start_ns) / (double)(bl_ticks() - start);
}

void bl_use(const void *pointer) { __asm__ volatile("" ::"r"(pointer) : "memory"); }

void bl_opaque(void) { __asm__ volatile("" ::: "memory"); }
