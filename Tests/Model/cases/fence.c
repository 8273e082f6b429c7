/* The choice between the two kinds of fence. */
#include "cases.h"
#include "rr_fence.h"

static struct {
  _Atomic uint32_t mine;
  _Alignas(64) _Atomic uint32_t yours;
} * pair;
static bool saw_yours, saw_mine;

static void set_up(void) {
  saw_yours = saw_mine = false;
  pair = model_allocate(sizeof *pair);
}

/* "I write mine, then I read yours", from both sides. Each side first runs the setup, as a thread
 * does that creates an object. */
static void frequent_side(void) {
  rr_fence_setup();
  rr_store_relaxed(&pair->mine, 1);
  rr_fence_light();
  saw_yours = rr_load_relaxed(&pair->yours) != 0;
}

static void rare_side(void) {
  rr_fence_setup();
  rr_store_relaxed(&pair->yours, 1);
  model_check(rr_fence_heavy());
  saw_mine = rr_load_relaxed(&pair->mine) != 0;
}

static void finish(void) {
  model_check(saw_yours || saw_mine);
  model_release(pair);
}

const model_case fence_setup_symmetric = {
    .name = "fence.setup-symmetric",
    .about = "two threads that choose at the same time choose the same kind, without membarrier",
    .setup = set_up,
    .threads = {frequent_side, rare_side},
    .finish = finish,
    .is_symmetric = true,
    .chooses_fence = true,
    .bounds = {4, 4, 0},
    .far = {8, 8, 0},
};

const model_case fence_setup_asymmetric = {
    .name = "fence.setup-asymmetric",
    .about = "two threads that choose at the same time choose the same kind, with membarrier",
    .setup = set_up,
    .threads = {frequent_side, rare_side},
    .finish = finish,
    .chooses_fence = true,
    .bounds = {4, 4, 0},
    .far = {8, 8, 0},
};
