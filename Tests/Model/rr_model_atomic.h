/* rr_model_atomic.h: the operations of rr_atomic.h as steps of the model checker. */
#ifndef RR_MODEL_ATOMIC_H
#define RR_MODEL_ATOMIC_H

#include "model.h"

uint64_t model_load(const model_site *site, const volatile void *address, size_t size);
void model_store(const model_site *site, volatile void *address, size_t size, uint64_t value);
uint64_t model_modify(const model_site *site, volatile void *address, size_t size,
                      uint64_t (*modified)(uint64_t, uint64_t), uint64_t operand);
bool model_compare_and_swap(const model_site *site, volatile void *address, size_t size,
                            uint64_t *expected, uint64_t value);
/* A plain write, before other threads know the location. */
void model_initialize(volatile void *address, size_t size, uint64_t value);
void model_full_fence(const model_site *site);
void model_compiler_fence(const model_site *site);

static inline uint64_t model_plus(uint64_t value, uint64_t operand) { return value + operand; }
static inline uint64_t model_minus(uint64_t value, uint64_t operand) { return value - operand; }
static inline uint64_t model_or(uint64_t value, uint64_t operand) { return value | operand; }
static inline uint64_t model_swapped(uint64_t value, uint64_t operand) {
  (void)value;
  return operand;
}

/* Each site describes itself in a linker section, where `--sites` and `--weaken` find it. */
#define MODEL_SITE(of_edge, name, of_object, with_order)                                           \
  ({                                                                                               \
    static model_site site __attribute__((section("model_sites"), used)) = {.edge = of_edge,       \
                                                                            .function = __func__,  \
                                                                            .operation = name,     \
                                                                            .object = of_object,   \
                                                                            .order = with_order};  \
    &site;                                                                                         \
  })

#define MODEL_VALUE(x) __typeof__(__c11_atomic_load((x), __ATOMIC_RELAXED))
#define MODEL_LOAD(edge, x, order)                                                                 \
  ((MODEL_VALUE(x))model_load(MODEL_SITE(edge, "load", #x, order), (x), sizeof *(x)))
#define MODEL_STORE(edge, x, v, order)                                                             \
  model_store(MODEL_SITE(edge, "store", #x, order), (x), sizeof *(x), (uint64_t)(v))
#define MODEL_MODIFY(edge, name, x, v, function, order)                                            \
  ((MODEL_VALUE(x))model_modify(MODEL_SITE(edge, name, #x, order), (x), sizeof *(x), function,     \
                                (uint64_t)(v)))
#define MODEL_SWAP(edge, x, e, v, order)                                                           \
  ({                                                                                               \
    uint64_t model_expected = (uint64_t) * (e);                                                    \
    const bool model_swapped_it =                                                                  \
        model_compare_and_swap(MODEL_SITE(edge, "compare-and-swap", #x, order), (x), sizeof *(x),  \
                               &model_expected, (uint64_t)(v));                                    \
    *(e) = (MODEL_VALUE(x))model_expected;                                                         \
    model_swapped_it;                                                                              \
  })

#define rr_load_relaxed(x) MODEL_LOAD(NULL, x, MODEL_RELAXED)
#define rr_store_relaxed(x, v) MODEL_STORE(NULL, x, v, MODEL_RELAXED)
#define rr_exchange_relaxed(x, v) MODEL_MODIFY(NULL, "exchange", x, v, model_swapped, MODEL_RELAXED)
#define rr_fetch_add_relaxed(x, v) MODEL_MODIFY(NULL, "fetch-add", x, v, model_plus, MODEL_RELAXED)
#define rr_fetch_sub_relaxed(x, v) MODEL_MODIFY(NULL, "fetch-sub", x, v, model_minus, MODEL_RELAXED)
#define rr_fetch_or_relaxed(x, v) MODEL_MODIFY(NULL, "fetch-or", x, v, model_or, MODEL_RELAXED)
#define rr_cas_relaxed(x, expected, v) MODEL_SWAP(NULL, x, expected, v, MODEL_RELAXED)

#define rr_load_acquire(edge, x) MODEL_LOAD(#edge, x, MODEL_ACQUIRE)
#define rr_store_release(edge, x, v) MODEL_STORE(#edge, x, v, MODEL_RELEASE)
#define rr_load_seq_cst(edge, x) MODEL_LOAD(#edge, x, MODEL_SEQ_CST)
#define rr_exchange_seq_cst(edge, x, v)                                                            \
  MODEL_MODIFY(#edge, "exchange", x, v, model_swapped, MODEL_SEQ_CST)
#define rr_fetch_add_seq_cst(edge, x, v)                                                           \
  MODEL_MODIFY(#edge, "fetch-add", x, v, model_plus, MODEL_SEQ_CST)
#define rr_fetch_sub_seq_cst(edge, x, v)                                                           \
  MODEL_MODIFY(#edge, "fetch-sub", x, v, model_minus, MODEL_SEQ_CST)
#define rr_fetch_sub_release(edge, x, v)                                                           \
  MODEL_MODIFY(#edge, "fetch-sub", x, v, model_minus, MODEL_RELEASE)
#define rr_fetch_or_seq_cst(edge, x, v)                                                            \
  MODEL_MODIFY(#edge, "fetch-or", x, v, model_or, MODEL_SEQ_CST)
#define rr_cas_acquire(edge, x, expected, v) MODEL_SWAP(#edge, x, expected, v, MODEL_ACQUIRE)
/* Used only by the cases that repeat the Swift layers. */
#define rr_exchange_acquire(edge, x, v)                                                            \
  MODEL_MODIFY(#edge, "exchange", x, v, model_swapped, MODEL_ACQUIRE)
#define rr_store_seq_cst(edge, x, v) MODEL_STORE(#edge, x, v, MODEL_SEQ_CST)
#define rr_cas_release(edge, x, expected, v) MODEL_SWAP(#edge, x, expected, v, MODEL_RELEASE)
#define rr_cas_acq_rel(edge, x, expected, v) MODEL_SWAP(#edge, x, expected, v, MODEL_ACQ_REL)
#define rr_cas_seq_cst(edge, x, expected, v) MODEL_SWAP(#edge, x, expected, v, MODEL_SEQ_CST)

#define rr_full_fence(edge) model_full_fence(MODEL_SITE(#edge, "full fence", "", MODEL_SEQ_CST))
#define rr_compiler_fence(edge)                                                                    \
  model_compiler_fence(MODEL_SITE(#edge, "compiler fence", "", MODEL_SEQ_CST))

#undef atomic_init
#define atomic_init(x, v) model_initialize((x), sizeof *(x), (uint64_t)(v))

#define rr_pause() model_pause()

#endif
