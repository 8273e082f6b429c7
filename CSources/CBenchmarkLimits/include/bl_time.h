/* Clocks, and instructions that Swift does not offer. */
#ifndef BL_TIME_H
#define BL_TIME_H

#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static inline uint64_t bl_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/*
 * The cheapest clock that two cores share, for latencies of tens of nanoseconds. On x86-64 the time
 * stamp counter, which is taken to be constant and synchronised, as on every machine since 2010;
 * elsewhere nanoseconds. bl_ns_per_tick() converts.
 */
static inline uint64_t bl_ticks(void) {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return bl_now_ns();
#endif
}

/* Compares the two clocks for about 20 ms. */
double bl_ns_per_tick(void);

static inline void bl_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory");
#endif
}

/*
 * Computes for about 30 ns at 3 GHz: a chain of multiplications, each of which needs the result of
 * the one before it. The caller passes what the last call has returned: otherwise a core would
 * begin the next chain before this one has ended.
 */
static inline uint64_t bl_compute(uint64_t value) {
  for (int step = 0; step < 30; step++) {
    value *= 0x9E3779B97F4A7C15u;
    __asm__ volatile("" : "+r"(value));
  }
  return value;
}

/* Does nothing, but the optimiser must assume that it changes memory. */
void bl_opaque(void);

/* The same, and what `pointer` points to must be in memory. */
void bl_use(const void *pointer);

#endif
