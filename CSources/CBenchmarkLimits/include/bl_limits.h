/*
 * Measures the limits of this machine. Functions that take two CPUs run one pinned thread on each,
 * and return a negative number if that fails.
 */
#ifndef BL_LIMITS_H
#define BL_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes the first `capacity` CPUs that this process may use, and returns the number of all. */
size_t bl_allowed_cpus(int *cpus, size_t capacity);

/* Restricts the calling thread to `cpus`. Returns false if the system refuses. */
bool bl_confine(const int *cpus, size_t count);

/* The system kills this process when the thread that started it ends. */
void bl_end_with_parent(void);

/*
 * Nanoseconds for a cache line to go to the other core and back: the median over `batches` of the
 * mean over `batch_size` trips, so that a preemption spoils one batch and not the figure.
 */
double bl_round_trip_ns(int first_cpu, int second_cpu, size_t batches, size_t batch_size);

/* Nanoseconds that `count` uncontended fetch-and-adds take; negative if the sum came out wrong. */
double bl_fetch_add_ns(uint64_t count);

/* The same with two threads on one word and `count` fetch-and-adds in total. */
double bl_fetch_add_contended_ns(int first_cpu, int second_cpu, uint64_t count);

/* Nanoseconds that `count` futex wakes take while no thread waits; negative if one failed. */
double bl_futex_wake_ns(uint64_t count);

#endif
