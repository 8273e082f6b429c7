#include "bl_sleeper.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bl_spsc.h" /* BL_LINE */

struct bl_sleeper {
  _Alignas(BL_LINE) _Atomic(uint32_t) is_full;
  bl_item item;
};

bl_sleeper *bl_sleeper_create(void) {
  bl_sleeper *sleeper = aligned_alloc(BL_LINE, sizeof *sleeper);
  if (sleeper == NULL) return NULL;
  atomic_init(&sleeper->is_full, 0);
  return sleeper;
}

void bl_sleeper_destroy(bl_sleeper *sleeper) { free(sleeper); }

bool bl_sleeper_send(bl_sleeper *sleeper, bl_item item) {
  if (atomic_load_explicit(&sleeper->is_full, memory_order_acquire) != 0) return false;
  sleeper->item = item;
  atomic_store_explicit(&sleeper->is_full, 1, memory_order_release);
  syscall(SYS_futex, &sleeper->is_full, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  return true;
}

bool bl_sleeper_receive(bl_sleeper *sleeper, bl_item *item) {
  const struct timespec second = {.tv_sec = 1};
  while (atomic_load_explicit(&sleeper->is_full, memory_order_acquire) == 0) {
    long result = syscall(SYS_futex, &sleeper->is_full, FUTEX_WAIT_PRIVATE, 0, &second, NULL, 0);
    /* EAGAIN: the item came before the sleep. EINTR: a signal interrupted the sleep. */
    if (result != 0 && errno == ETIMEDOUT) return false;
  }
  *item = sleeper->item;
  atomic_store_explicit(&sleeper->is_full, 0, memory_order_release);
  return true;
}

uint64_t bl_sleeps_of_process(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (uint64_t)usage.ru_nvcsw;
}
