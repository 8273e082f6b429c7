/* Atomic operations. Only one thread runs, so none needs an order of its own; but threads that are
 * not controlled may use the same cells, so they are atomic nonetheless. */
#include "internal.h"

/* MARK: late stores */

static uint64_t read_memory(const volatile void *cell, size_t size) {
  switch (size) {
  case 1:
    return __atomic_load_n((const volatile uint8_t *)cell, __ATOMIC_SEQ_CST);
  case 2:
    return __atomic_load_n((const volatile uint16_t *)cell, __ATOMIC_SEQ_CST);
  case 4:
    return __atomic_load_n((const volatile uint32_t *)cell, __ATOMIC_SEQ_CST);
  default:
    return __atomic_load_n((const volatile uint64_t *)cell, __ATOMIC_SEQ_CST);
  }
}

static void write_memory(volatile void *cell, size_t size, uint64_t value) {
  switch (size) {
  case 1:
    __atomic_store_n((volatile uint8_t *)cell, (uint8_t)value, __ATOMIC_SEQ_CST);
    break;
  case 2:
    __atomic_store_n((volatile uint16_t *)cell, (uint16_t)value, __ATOMIC_SEQ_CST);
    break;
  case 4:
    __atomic_store_n((volatile uint32_t *)cell, (uint32_t)value, __ATOMIC_SEQ_CST);
    break;
  default:
    __atomic_store_n((volatile uint64_t *)cell, value, __ATOMIC_SEQ_CST);
  }
}

/* Lets the oldest late store of a thread reach memory. Spinning threads may have waited for it. */
static void drain_first(thread *of) {
  const late_store first = of->late[0];
  for (uint32_t i = 1; i < of->late_count; i++) of->late[i - 1] = of->late[i];
  of->late_count--;
  write_memory(first.cell, first.size, first.value);
  ctl_current->writes++;
  of->own_writes++;
}

void ctl_drain(thread *of) {
  while (of->late_count > 0) drain_first(of);
}

void ctl_drain_due(execution *now) {
  if (!now->options.late_stores) return;
  for (uint32_t i = 0; i < now->thread_count; i++) {
    thread *const of = now->threads[i];
    while (of->late_count > 0 && of->late[0].due <= now->points) drain_first(of);
  }
}

void ctl_drain_all(void) {
  if (ctl_self == NULL) return;
  for (uint32_t i = 0; i < ctl_current->thread_count; i++) ctl_drain(ctl_current->threads[i]);
}

void ctl_drain_own(void) {
  if (ctl_self != NULL) ctl_drain(ctl_self);
}

void ctl_forget(const volatile void *memory, size_t size) {
  if (ctl_self == NULL || !ctl_current->options.late_stores) return;
  for (uint32_t i = 0; i < ctl_current->thread_count; i++) {
    thread *const of = ctl_current->threads[i];
    for (uint32_t k = 0; k < of->late_count; k++) {
      if ((uintptr_t)of->late[k].cell - (uintptr_t)memory >= size) continue;
      ctl_drain(of);
      break;
    }
  }
}

/* Whether a late store of the running thread writes there; then `found` is its value. */
static bool find_late(const volatile void *cell, size_t size, uint64_t *found) {
  thread *const me = ctl_self;
  for (uint32_t i = me->late_count; i-- > 0;) {
    const late_store *const late = &me->late[i];
    if (late->cell != cell) continue;
    if (late->size == size) {
      *found = late->value;
      return true;
    }
    /* The same place as another type. */
    ctl_drain(me);
    return false;
  }
  return false;
}

/* MARK: operations */

uint64_t ctl_load(const volatile void *cell, size_t size, ctl_order order, ctl_place place) {
  (void)order;
  ctl_point("loads", cell, place);
  uint64_t found;
  if (ctl_self != NULL && ctl_self->late_count > 0 && find_late(cell, size, &found)) return found;
  return read_memory(cell, size);
}

void ctl_store(volatile void *cell, size_t size, uint64_t value, ctl_order order, ctl_place place) {
  ctl_point("stores", cell, place);
  thread *const me = ctl_self;
  if (me != NULL && ctl_current->options.late_stores && order != CTL_SEQ_CST) {
    const uint32_t delay = ctl_strategy_delay();
    if (delay > 0 || me->late_count > 0) {
      if (me->late_count == MOST_LATE) drain_first(me);
      me->late[me->late_count++] = (late_store){.cell = cell,
                                                .size = size,
                                                .value = value,
                                                .due = ctl_current->points + delay};
      return;
    }
  }
  if (me != NULL) {
    ctl_drain(me);
    ctl_note_write();
  }
  write_memory(cell, size, value);
}

/* Before a read-modify-write. */
static void begin_change(const char *what, const volatile void *cell, ctl_place place) {
  ctl_point(what, cell, place);
  if (ctl_self == NULL) return;
  ctl_drain(ctl_self);
  ctl_note_write();
}

#define CHANGED(type)                                                                              \
  switch (change) {                                                                                \
  case CTL_EXCHANGE:                                                                               \
    return __atomic_exchange_n((volatile type *)cell, (type)operand, __ATOMIC_SEQ_CST);            \
  case CTL_ADD:                                                                                    \
    return __atomic_fetch_add((volatile type *)cell, (type)operand, __ATOMIC_SEQ_CST);             \
  case CTL_SUBTRACT:                                                                               \
    return __atomic_fetch_sub((volatile type *)cell, (type)operand, __ATOMIC_SEQ_CST);             \
  case CTL_OR:                                                                                     \
    return __atomic_fetch_or((volatile type *)cell, (type)operand, __ATOMIC_SEQ_CST);              \
  case CTL_AND:                                                                                    \
    return __atomic_fetch_and((volatile type *)cell, (type)operand, __ATOMIC_SEQ_CST);             \
  }

uint64_t ctl_modify(volatile void *cell, size_t size, ctl_change change, uint64_t operand,
                    ctl_place place) {
  begin_change("modifies", cell, place);
  switch (size) {
  case 1:
    CHANGED(uint8_t) break;
  case 2:
    CHANGED(uint16_t) break;
  case 4:
    CHANGED(uint32_t) break;
  default:
    CHANGED(uint64_t)
  }
  return 0;
}

#define COMPARED(type)                                                                             \
  {                                                                                                \
    type wanted = (type)*expected;                                                                 \
    const bool is_swapped =                                                                        \
        __atomic_compare_exchange_n((volatile type *)cell, &wanted, (type)desired, false,          \
                                    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                           \
    *expected = wanted;                                                                            \
    return is_swapped;                                                                             \
  }

bool ctl_compare_exchange(volatile void *cell, size_t size, uint64_t *expected, uint64_t desired,
                          ctl_place place) {
  begin_change("compares and swaps", cell, place);
  switch (size) {
  case 1:
    COMPARED(uint8_t)
  case 2:
    COMPARED(uint16_t)
  case 4:
    COMPARED(uint32_t)
  default:
    COMPARED(uint64_t)
  }
}

/* MARK: fences */

void ctl_fence(ctl_place place) {
  ctl_point("fences", NULL, place);
  ctl_drain_own();
}

void ctl_fence_everywhere(ctl_place place) {
  ctl_point("fences everywhere", NULL, place);
  ctl_drain_all();
}
