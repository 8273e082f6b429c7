#include "check.h"

#include "allocation.h"

_Atomic long checks_passed = 0;
_Atomic long checks_failed = 0;

int main(void) {
  test_status();
  test_creation();
  test_ring();
  test_lanes();
  test_trampoline();
  test_eventcount();
  test_threads();
  CHECK(allocations_alive() == 0);
  printf("%ld passed, %ld failed\n", checks_passed, checks_failed);
  return checks_failed == 0 ? 0 : 1;
}
