/* Which values a load may read: the C11 memory model as an operational model, by views.
 *
 * Each location has a list of messages: the values stored to it, oldest first. A thread's view says
 * for each location which message the thread has seen; it may read that message or any newer one. A
 * message stored with release carries its writer's view, and a thread that acquires the message
 * joins that view to its own. The view also holds a vector clock, by which arena.c finds races.
 *
 * Sequentially consistent operations are ordered in S as they are executed. `all` is the join of
 * the views of every fence so far, and holds every sequentially consistent store. A fence joins it
 * both ways. A sequentially consistent load may not read a message that is older than `all` says
 * for that one location.
 *
 * After J. Kang et al., "A promising semantics for relaxed-memory concurrency" (POPL 2017), without
 * promises: a store is always the newest of its location when it is executed.
 */
#include <string.h>

#include "model.h"
#include "rr_model_atomic.h"

#define MOST_MESSAGES 100
/* The maximum number of alternatives of one choice: one digit of a replay string. */
#define MOST_WAYS 36

typedef struct message {
  uint64_t value;
  model_view view;
} message;

typedef struct location {
  const void *address;
  size_t size;
  unsigned count;
  message messages[MOST_MESSAGES];
} location;

typedef struct thread_memory {
  model_view view;
  /* The view at the last full fence, which a relaxed store after the fence releases. */
  model_view fenced;
  /* The views of relaxed loads. The next full fence joins them. */
  model_view pending;
  /* Which messages could not be read any more after the last operation, and after the one before
   * it, without what membarrier has added since. Recorded only if a compiler fence is left out. */
  model_view last, before_last;
  bool reads_early;
} thread_memory;

static location locations[MODEL_LOCATIONS];
static unsigned location_count;
static thread_memory threads[MODEL_ALL_THREADS];
static model_view all;
static bool keeps_last;

static void join_seen(model_view *into, const model_view *from) {
  for (int i = 0; i < MODEL_LOCATIONS; i++) {
    if (from->seen[i] > into->seen[i]) into->seen[i] = from->seen[i];
  }
}

void model_view_join(model_view *into, const model_view *from) {
  join_seen(into, from);
  for (int i = 0; i < MODEL_ALL_THREADS; i++) {
    if (from->clock[i] > into->clock[i]) into->clock[i] = from->clock[i];
  }
}

model_view *model_view_of(int thread) { return &threads[thread].view; }

void model_memory_reset(void) {
  location_count = 0;
  memset(threads, 0, sizeof threads);
  memset(&all, 0, sizeof all);
  for (int i = 0; i < MODEL_ALL_THREADS; i++) threads[i].view.clock[i] = 1;
}

void model_memory_synchronize(int from, int to) {
  model_view_join(&threads[to].view, &threads[from].view);
  threads[from].view.clock[from]++;
}

/* MARK: locations */

static uint64_t read_memory(const void *address, size_t size) {
  uint64_t value = 0;
  memcpy(&value, address, size);
  return value;
}

static location *location_at(const void *address, size_t size) {
  for (unsigned i = 0; i < location_count; i++) {
    if (locations[i].address == address) return &locations[i];
  }
  if (location_count == MODEL_LOCATIONS) model_fail("more than %d locations", MODEL_LOCATIONS);
  location *new = &locations[location_count++];
  /* The value before the first operation. A thread that comes here either has it by another edge,
   * or model_arena_check_atomic() has failed. */
  new->address = address;
  new->size = size;
  new->count = 1;
  new->messages[0].value = read_memory(address, size);
  memset(&new->messages[0].view, 0, sizeof(model_view));
  return new;
}

static unsigned number_of(const location *l) { return (unsigned)(l - locations); }

void model_memory_forget(const void *memory, size_t size) {
  for (unsigned i = 0; i < location_count; i++) {
    const uintptr_t offset = (uintptr_t)locations[i].address - (uintptr_t)memory;
    if (offset < size) locations[i].address = NULL;
  }
}

static message *append(location *l, uint64_t value) {
  if (l->count == MOST_MESSAGES) model_fail("more than %d stores to one location", MOST_MESSAGES);
  message *new = &l->messages[l->count++];
  new->value = value;
  memcpy((void *)(uintptr_t)l->address, &value, l->size);
  return new;
}

/* MARK: operations */

static bool acquires(model_order order) {
  return order == MODEL_ACQUIRE || order == MODEL_ACQ_REL || order == MODEL_SEQ_CST;
}

static bool releases(model_order order) {
  return order == MODEL_RELEASE || order == MODEL_ACQ_REL || order == MODEL_SEQ_CST;
}

static thread_memory *begin(const void *address, size_t size) {
  if (model_steps_everywhere || model_arena_holds(address)) model_step();
  model_arena_check_atomic(address, size);
  thread_memory *self = &threads[model_running];
  self->view.clock[model_running]++;
  return self;
}

static void end(thread_memory *self, const void *address) {
  /* The flag that holds the kind of the fence belongs to the fence, so it does not count. */
  if (!keeps_last || !model_arena_holds(address)) return;
  self->before_last = self->last;
  self->last = self->view;
  join_seen(&self->last, &all);
  self->reads_early = false;
}

static void trace(const model_site *site, const char *how, uint64_t value, unsigned older) {
  if (!model_is_tracing) return;
  model_trace("%s: %s(%s) %s 0x%llx%s", site->function, site->operation, site->object, how,
              (unsigned long long)value, older > 0 ? ", which is STALE" : "");
}

static void read_message(thread_memory *self, location *l, unsigned index, model_order order) {
  const unsigned number = number_of(l);
  if (index > self->view.seen[number]) self->view.seen[number] = (uint8_t)index;
  model_view_join(acquires(order) ? &self->view : &self->pending, &l->messages[index].view);
}

/* The oldest message that the thread may read. */
static unsigned oldest(const thread_memory *self, const location *l, model_order order) {
  const unsigned number = number_of(l);
  if (self->reads_early) return self->before_last.seen[number];
  unsigned index = self->view.seen[number];
  if (order == MODEL_SEQ_CST && all.seen[number] > index) index = all.seen[number];
  return index;
}

/* Chooses how many messages back to read, out of `ways`; 0 is the newest. */
static unsigned choose_older(unsigned ways) {
  if (model_left.stale > 0 && ways > MOST_WAYS)
    model_fail("more than %d values for one load", MOST_WAYS);
  return model_choose_within(&model_left.stale, ways);
}

uint64_t model_load(const model_site *site, const volatile void *address, size_t size) {
  thread_memory *self = begin((const void *)address, size);
  location *l = location_at((const void *)address, size);
  const unsigned newest = l->count - 1;
  const unsigned choices = newest - oldest(self, l, site->order) + 1;
  const unsigned older = choose_older(choices);
  read_message(self, l, newest - older, site->order);
  const uint64_t value = l->messages[newest - older].value;
  trace(site, "reads", value, older);
  end(self, l->address);
  return value;
}

/* Writes `value`. `continued` is the message that a read-modify-write has read; the new message
 * continues its release sequence. */
static void write_message(thread_memory *self, location *l, uint64_t value, model_order order,
                          const message *continued) {
  message *new = append(l, value);
  const unsigned number = number_of(l);
  self->view.seen[number] = (uint8_t)(l->count - 1);
  new->view = releases(order) ? self->view : self->fenced;
  new->view.seen[number] = (uint8_t)(l->count - 1);
  if (continued != NULL) model_view_join(&new->view, &continued->view);
  if (order == MODEL_SEQ_CST) all.seen[number] = (uint8_t)(l->count - 1);
  /* The message does not carry what the thread does from here on. */
  self->view.clock[model_running]++;
  model_note_progress();
}

void model_store(const model_site *site, volatile void *address, size_t size, uint64_t value) {
  thread_memory *self = begin((const void *)address, size);
  location *l = location_at((const void *)address, size);
  write_message(self, l, value, site->order, NULL);
  trace(site, "writes", value, 0);
  end(self, l->address);
}

uint64_t model_modify(const model_site *site, volatile void *address, size_t size,
                      uint64_t (*modified)(uint64_t, uint64_t), uint64_t operand) {
  thread_memory *self = begin((const void *)address, size);
  location *l = location_at((const void *)address, size);
  const unsigned newest = l->count - 1;
  read_message(self, l, newest, site->order);
  const uint64_t value = l->messages[newest].value;
  uint64_t next = modified(value, operand);
  if (size < sizeof next) next &= (UINT64_C(1) << (8 * size)) - 1;
  write_message(self, l, next, site->order, &l->messages[newest]);
  trace(site, "writes", next, 0);
  end(self, l->address);
  return value;
}

/* Chooses how many messages back a compare-and-swap reads: 0, the newest, if it succeeds. One that
 * fails is a relaxed load. It may read any value other than the expected one, even if the location
 * holds the expected value by now. */
static unsigned choose_to_fail(const thread_memory *self, const location *l, uint64_t expected) {
  const unsigned newest = l->count - 1, most = newest - oldest(self, l, MODEL_RELAXED);
  unsigned others[MOST_MESSAGES], count = 0;
  for (unsigned older = 1; older <= most; older++) {
    if (l->messages[newest - older].value != expected) others[count++] = older;
  }
  const unsigned chosen = choose_older(count + 1);
  return chosen == 0 ? 0 : others[chosen - 1];
}

bool model_compare_and_swap(const model_site *site, volatile void *address, size_t size,
                            uint64_t *expected, uint64_t value) {
  thread_memory *self = begin((const void *)address, size);
  location *l = location_at((const void *)address, size);
  const unsigned newest = l->count - 1;
  const unsigned older = choose_to_fail(self, l, *expected);
  const bool succeeds = l->messages[newest - older].value == *expected;
  read_message(self, l, newest - older, succeeds ? site->order : MODEL_RELAXED);
  if (succeeds) {
    write_message(self, l, value, site->order, &l->messages[newest]);
    trace(site, "writes", value, 0);
  } else {
    *expected = l->messages[newest - older].value;
    trace(site, "fails, reads", *expected, older);
  }
  end(self, l->address);
  return succeeds;
}

void model_initialize(volatile void *address, size_t size, uint64_t value) {
  model_memory_forget((const void *)address, size);
  memcpy((void *)(uintptr_t)address, &value, size);
  model_arena_note_plain((const void *)address, size, true);
}

/* MARK: fences */

/* Fences order which values may be read. They add no happens-before relation, although C11 does so
 * if a relaxed load before a fence reads a relaxed store after another fence. ThreadSanitizer does
 * not see that relation either, so payloads must have edges of their own. */
static void fence_against(thread_memory *self, const model_view *before) {
  join_seen(&self->view, &self->pending);
  join_seen(&self->view, before);
  join_seen(&self->fenced, &self->view);
}

static void fence(thread_memory *self) {
  fence_against(self, &all);
  join_seen(&all, &self->view);
}

void model_full_fence(const model_site *site) {
  if (site->order == MODEL_NONE) return;
  model_step();
  if (model_is_tracing) model_trace("%s: %s", site->function, site->operation);
  thread_memory *self = &threads[model_running];
  self->view.clock[model_running]++;
  fence(self);
}

/* Keeps the compiler from running the next load before the last store. The checker runs the
 * operations of a thread in order, so it does nothing here unless the fence is left out. Then the
 * next load may read what it could have read before the last operation, even across a membarrier.
 */
void model_compiler_fence(const model_site *site) {
  if (site->order == MODEL_NONE) threads[model_running].reads_early = true;
}

void model_memory_allow_early_loads(void) { keeps_last = true; }

void model_memory_barrier_everywhere(void) {
  /* The threads are in no order among each other: none of them learns what another one wrote. */
  const model_view before = all;
  for (int i = 1; i < MODEL_ALL_THREADS; i++) {
    join_seen(&all, &threads[i].view);
    fence_against(&threads[i], &before);
  }
  fence(&threads[model_running]);
}

uint32_t model_memory_newest(const void *address) {
  const location *l = location_at(address, sizeof(uint32_t));
  return (uint32_t)l->messages[l->count - 1].value;
}
