#include "bl_reference.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "bl_spsc.h" /* BL_LINE */
#include "bl_time.h"

struct bl_reference {
  _Alignas(BL_LINE) _Atomic(uintptr_t) word;
};

/* Functions of the Swift runtime, which every executable of this package links. */
extern void *swift_retain(void *object);
extern void swift_release(void *object);

bl_reference *bl_reference_create(void *object) {
  bl_reference *reference = aligned_alloc(_Alignof(bl_reference), sizeof *reference);
  if (reference != NULL) atomic_init(&reference->word, (uintptr_t)object);
  return reference;
}

void bl_reference_destroy(bl_reference *reference) {
  swift_release((void *)atomic_load(&reference->word));
  free(reference);
}

/* Takes the spin lock, and returns the word without the lock bit. */
static inline uintptr_t lock(bl_reference *reference) {
  for (unsigned attempts = 1;; attempts++) {
    uintptr_t word = atomic_load_explicit(&reference->word, memory_order_relaxed);
    if ((word & 1) == 0 &&
        atomic_compare_exchange_weak_explicit(&reference->word, &word, word | 1,
                                              memory_order_acquire, memory_order_relaxed))
      return word;
    bl_pause();
    /* The thread that holds the lock may have been preempted. */
    if (attempts % 256 == 0) sched_yield();
  }
}

static inline void unlock(bl_reference *reference, uintptr_t word) {
  atomic_store_explicit(&reference->word, word, memory_order_release);
}

void *bl_reference_load(bl_reference *reference) {
  uintptr_t word = lock(reference);
  void *object = swift_retain((void *)word);
  unlock(reference, word);
  return object;
}

void bl_reference_exchange(bl_reference *reference, void *object) {
  uintptr_t old = lock(reference);
  unlock(reference, (uintptr_t)object);
  swift_release((void *)old);
}

void bl_reference_release(void *object) { swift_release(object); }
