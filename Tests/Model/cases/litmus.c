/* Tests of the checker itself: programs for which it is known what C11 allows. A case with a text
 * of failure is one in which the checker must find that failure. */
#include "cases.h"

static struct {
  _Atomic uint32_t x;
  _Alignas(64) _Atomic uint32_t y;
  _Alignas(64) uint32_t data;
} * shared;
static uint32_t seen[4];

static void set_up(void) {
  memset(seen, 0, sizeof seen);
  shared = model_allocate(sizeof *shared);
}

static void clean_up(void) { model_release(shared); }

#define EDGE MODEL_OF_THE_CASE
#define LITMUS(case_name, label, says, ends, text, ...)                                            \
  const model_case litmus_##case_name = {                                                          \
      .name = "litmus." label,                                                                     \
      .about = says,                                                                               \
      .setup = set_up,                                                                             \
      .threads = {__VA_ARGS__},                                                                    \
      .finish = ends,                                                                              \
      .must_fail = text,                                                                           \
      .bounds = {6, 6, 0},                                                                         \
      .far = {8, 8, 0},                                                                            \
  };

/* MARK: message passing */

static void write_then_raise_relaxed(void) {
  shared->data = 1;
  rr_store_relaxed(&shared->x, 1);
}
static void write_then_raise(void) {
  shared->data = 1;
  rr_store_release(EDGE, &shared->x, 1);
}
static void write_fence_raise(void) {
  shared->data = 1;
  rr_full_fence(EDGE);
  rr_store_relaxed(&shared->x, 1);
}
static void load_then_read(void) {
  if (rr_load_acquire(EDGE, &shared->x) != 0) model_check(shared->data == 1);
}
static void load_then_read_relaxed(void) {
  if (rr_load_relaxed(&shared->x) != 0) model_check(shared->data == 1);
}
static void load_fence_read(void) {
  if (rr_load_relaxed(&shared->x) == 0) return;
  rr_full_fence(EDGE);
  model_check(shared->data == 1);
}
LITMUS(mp, "message", "a release store and an acquire load carry a message", clean_up, NULL,
       write_then_raise, load_then_read)
LITMUS(mp_no_release, "message-unreleased", "without the release it is a race", clean_up, "race",
       write_then_raise_relaxed, load_then_read)
LITMUS(mp_no_acquire, "message-unacquired", "without the acquire it is a race", clean_up, "race",
       write_then_raise, load_then_read_relaxed)
LITMUS(mp_fences, "message-fences",
       "fences around relaxed operations do not carry a message: see memory.c", clean_up, "race",
       write_fence_raise, load_fence_read)

static void raise_if_raised(void) {
  uint32_t expected = 1;
  rr_cas_relaxed(&shared->x, &expected, 2);
}
static void load_two(void) {
  if (rr_load_acquire(EDGE, &shared->x) == 2) model_check(shared->data == 1);
}
static void store_if_raised(void) {
  if (rr_load_relaxed(&shared->x) == 1) rr_store_relaxed(&shared->x, 2);
}
LITMUS(sequence, "release-sequence", "a read-modify-write in between passes the message on",
       clean_up, NULL, write_then_raise, raise_if_raised, load_two)
LITMUS(sequence_broken, "release-sequence-broken", "a store in between does not", clean_up, "race",
       write_then_raise, store_if_raised, load_two)

/* MARK: store buffering */

static void check_one_saw(void) {
  clean_up();
  model_check(seen[0] != 0 || seen[1] != 0);
}

static void x_then_y(void) {
  rr_store_release(EDGE, &shared->x, 1);
  seen[0] = rr_load_acquire(EDGE, &shared->y);
}
static void y_then_x(void) {
  rr_store_release(EDGE, &shared->y, 1);
  seen[1] = rr_load_acquire(EDGE, &shared->x);
}
static void x_then_y_in_order(void) {
  rr_exchange_seq_cst(EDGE, &shared->x, 1);
  seen[0] = rr_load_seq_cst(EDGE, &shared->y);
}
static void y_then_x_in_order(void) {
  rr_exchange_seq_cst(EDGE, &shared->y, 1);
  seen[1] = rr_load_seq_cst(EDGE, &shared->x);
}
static void x_fence_y(void) {
  rr_store_relaxed(&shared->x, 1);
  rr_full_fence(EDGE);
  seen[0] = rr_load_relaxed(&shared->y);
}
static void y_fence_x(void) {
  rr_store_relaxed(&shared->y, 1);
  rr_full_fence(EDGE);
  seen[1] = rr_load_relaxed(&shared->x);
}
static void x_light_y(void) {
  rr_store_relaxed(&shared->x, 1);
  rr_fence_light();
  seen[0] = rr_load_relaxed(&shared->y);
}
static void y_heavy_x(void) {
  rr_store_relaxed(&shared->y, 1);
  model_check(rr_fence_heavy());
  seen[1] = rr_load_relaxed(&shared->x);
}
static void y_light_x(void) {
  rr_store_relaxed(&shared->y, 1);
  rr_fence_light();
  seen[1] = rr_load_relaxed(&shared->x);
}

LITMUS(sb, "store-buffering", "with release and acquire both threads may miss the other's store",
       check_one_saw, "seen[0]", x_then_y, y_then_x)
LITMUS(sb_in_order, "store-buffering-in-order",
       "with sequentially consistent operations one sees the other's store", check_one_saw, NULL,
       x_then_y_in_order, y_then_x_in_order)
LITMUS(sb_half, "store-buffering-half",
       "sequentially consistent operations on one side are not enough", check_one_saw, "seen[0]",
       x_then_y_in_order, y_then_x)
LITMUS(sb_fences, "store-buffering-fences", "full fences on both sides are enough", check_one_saw,
       NULL, x_fence_y, y_fence_x)
LITMUS(sb_one_fence, "store-buffering-one-fence", "a full fence on one side is not enough",
       check_one_saw, "seen[0]", x_fence_y, y_then_x)
LITMUS(sb_asymmetric, "store-buffering-asymmetric", "a light and a heavy fence are enough",
       check_one_saw, NULL, x_light_y, y_heavy_x)
LITMUS(sb_light, "store-buffering-light", "two light fences are not enough", check_one_saw,
       "seen[0]", x_light_y, y_light_x)

/* MARK: one location, and two that are written independently */

static void write_1_then_2(void) {
  rr_store_relaxed(&shared->x, 1);
  rr_store_relaxed(&shared->x, 2);
}
static void read_twice(void) {
  const uint32_t first = rr_load_relaxed(&shared->x);
  model_check(rr_load_relaxed(&shared->x) >= first);
}
LITMUS(coherence, "coherence", "one location is never read backwards", clean_up, NULL,
       write_1_then_2, read_twice)

static void read_newest(void) { seen[0] = rr_load_relaxed(&shared->x); }
static void write_first(void) {
  rr_store_relaxed(&shared->x, 1);
  seen[1] = 1;
}
static void check_newest(void) {
  clean_up();
  model_check(seen[1] != 0 && seen[0] != 0);
}
LITMUS(stale, "stale", "a relaxed load may read a value that was overwritten", check_newest,
       "seen[0]", write_first, read_newest)

static void raise_x(void) { rr_exchange_seq_cst(EDGE, &shared->x, 1); }
static void raise_y(void) { rr_exchange_seq_cst(EDGE, &shared->y, 1); }
static void read_xy_in_order(void) {
  seen[0] = rr_load_seq_cst(EDGE, &shared->x);
  seen[1] = rr_load_seq_cst(EDGE, &shared->y);
}
static void read_yx_in_order(void) {
  seen[2] = rr_load_seq_cst(EDGE, &shared->y);
  seen[3] = rr_load_seq_cst(EDGE, &shared->x);
}
static void read_xy(void) {
  seen[0] = rr_load_acquire(EDGE, &shared->x);
  seen[1] = rr_load_acquire(EDGE, &shared->y);
}
static void read_yx(void) {
  seen[2] = rr_load_acquire(EDGE, &shared->y);
  seen[3] = rr_load_acquire(EDGE, &shared->x);
}
static void check_one_order(void) {
  clean_up();
  model_check(!(seen[0] != 0 && seen[1] == 0 && seen[2] != 0 && seen[3] == 0));
}
LITMUS(iriw_in_order, "two-orders-in-order",
       "all threads see sequentially consistent writes in one order", check_one_order, NULL,
       raise_x, raise_y, read_xy_in_order, read_yx_in_order)
LITMUS(iriw, "two-orders", "acquire loads may see the writes in two orders", check_one_order,
       "seen[0]", raise_x, raise_y, read_xy, read_yx)

/* MARK: other failures that it must find */

static void sleep_for_ever(void) {
  rr_platform_in_use->futex_wait((_Atomic uint32_t *)&shared->x, 0, NULL);
}
static void write_x(void) { rr_store_relaxed(&shared->x, 1); }
static void pause_for_ever(void) {
  while (rr_load_relaxed(&shared->y) == 0) model_pause();
}
static void write_data(void) { shared->data = 1; }
static void leak(void) {}
static void free_it(void) { model_release(shared); }
static void free_if_written(void) {
  while (rr_load_relaxed(&shared->x) == 0) model_pause();
  free_it();
}
static void free_then_write(void) {
  free_it();
  write_data();
}

LITMUS(deadlock, "lost-wake-up", "a sleeper that no thread wakes", clean_up, "deadlock",
       sleep_for_ever, write_x)
LITMUS(livelock, "no-progress", "a thread that waits for a value that no thread writes", clean_up,
       "no thread makes progress", pause_for_ever, write_x)
LITMUS(race, "race", "two plain writes", clean_up, "race", write_data, write_data)
LITMUS(leaked, "leak", "a block that is not freed", NULL, "leaked", leak)
LITMUS(freed, "use-after-free", "a write to freed memory", NULL, "after it was freed",
       free_then_write)
LITMUS(freed_early, "freed-while-used", "memory freed without an edge from the thread that uses it",
       NULL, "race", write_x, free_if_written)

/* MARK: beyond the bounds */

/* The two threads count to six in turns, so each has to be interrupted after each of its steps but
 * the last. */
static void count_odd(void) {
  for (uint32_t before = 0; before < 6; before += 2) {
    rr_cas_relaxed(&shared->x, &(uint32_t){before}, before + 1);
  }
}
static void count_even(void) {
  for (uint32_t before = 1; before < 6; before += 2) {
    rr_cas_relaxed(&shared->x, &(uint32_t){before}, before + 1);
  }
}
static void check_below_six(void) {
  const uint32_t found = rr_load_relaxed(&shared->x);
  clean_up();
  model_check(found < 6);
}

const model_case litmus_beyond_the_bounds = {
    .name = "litmus.beyond-the-bounds",
    .about = "more interruptions than the bounds allow: only random choices find them",
    .setup = set_up,
    .threads = {count_odd, count_even},
    .finish = check_below_six,
    .must_fail = "found < 6",
    .only_at_random = true,
    .bounds = {2, 2, 0},
    .far = {3, 3, 0},
};

/* MARK: written too late to be carried */

static void raise_then_write(void) {
  rr_store_release(EDGE, &shared->x, 1);
  shared->data = 1;
}
static void load_then_read_any(void) {
  if (rr_load_acquire(EDGE, &shared->x) != 0) (void)*(volatile uint32_t *)&shared->data;
}
LITMUS(written_late, "written-late", "a release does not carry what is written after it", clean_up,
       "race", raise_then_write, load_then_read_any)
static void fence_write_raise(void) {
  rr_full_fence(EDGE);
  shared->data = 1;
  rr_store_relaxed(&shared->x, 1);
}
LITMUS(fenced_late, "fenced-late", "a fence does not carry what is written after it", clean_up,
       "race", fence_write_raise, load_then_read_any)
static void fence_heavy_write_raise(void) {
  shared->data = 1;
  rr_store_relaxed(&shared->x, 1);
}
static void barrier_then_load(void) {
  model_check(rr_fence_heavy());
  if (rr_load_relaxed(&shared->x) != 0) (void)*(volatile uint32_t *)&shared->data;
}
LITMUS(barrier_late, "barrier-late", "a membarrier does not carry what is written after it",
       clean_up, "race", fence_heavy_write_raise, barrier_then_load)

/* MARK: a compare-and-swap that fails */

/* A failed compare-and-swap may read an old value, although the location holds the expected one. */
static void up_and_down(void) {
  rr_store_relaxed(&shared->x, 1);
  rr_store_relaxed(&shared->x, 0);
  seen[2] = 1;
}
static void swap_zero(void) {
  const bool late = seen[2] != 0;
  uint32_t expected = 0;
  if (!rr_cas_relaxed(&shared->x, &expected, 5)) seen[0] = late;
}
static void check_swap(void) {
  clean_up();
  model_check(seen[0] == 0);
}
LITMUS(failed_stale, "failed-stale",
       "a failed compare-and-swap may read a value that was overwritten", check_swap, "seen[0]",
       up_and_down, swap_zero)
