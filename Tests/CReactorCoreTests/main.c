#include "check.h"
#include "faulty_platform.h"

_Atomic long checks_passed = 0;
_Atomic long checks_failed = 0;

static void test_leaks(void) { CHECK(faulty_alive() == 0); }

/* The first test needs a process that has not used the library; the last one checks what the others
 * have left allocated. */
static void (*const tests[])(void) = {
    test_fence_setup_faults, test_creation, test_ring,         test_lanes,
    test_trampoline,         test_access,   test_readers,      test_reader_threads,
    test_eventcount,         test_threads,  test_fence_faults, test_waiting_faults,
    test_allocation_faults,  test_leaks,
};

int main(void) {
  int failed = 0;
  const int count = sizeof tests / sizeof tests[0];
  for (int i = 0; i < count; i++) {
    const long before = checks_failed;
    tests[i]();
    if (checks_failed != before) failed++;
  }
  printf("%ld checks\n%d passed, %d failed\n", checks_passed + checks_failed, count - failed,
         failed);
  return failed == 0 ? 0 : 1;
}
