/* check.h: counts the checks that passed and that failed, and prints each failure. */
#ifndef CHECK_H
#define CHECK_H

#include <stdatomic.h>
#include <stdio.h>

extern _Atomic long checks_passed;
extern _Atomic long checks_failed;

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (condition) {                                                                               \
      checks_passed++;                                                                             \
    } else {                                                                                       \
      checks_failed++;                                                                             \
      fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                      \
    }                                                                                              \
  } while (0)

/* Runs `body` in a process of its own. For what changes the whole process: the choice of the fence,
 * and that the kernel has refused one. */
void test_in_child(void (*body)(void));

/* At least one function for each file of tests. */
void test_creation(void);
void test_ring(void);
void test_lanes(void);
void test_trampoline(void);
void test_access(void);
void test_readers(void);
void test_reader_threads(void);
void test_eventcount(void);
void test_threads(void);
void test_fence_setup_faults(void);
void test_fence_faults(void);
void test_waiting_faults(void);
void test_allocation_faults(void);

#endif
