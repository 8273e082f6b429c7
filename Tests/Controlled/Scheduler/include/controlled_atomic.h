/* controlled_atomic.h: the operations of rr_atomic.h as points of the controlled scheduler. */
#ifndef CONTROLLED_ATOMIC_H
#define CONTROLLED_ATOMIC_H

#include "controlled.h"

#define CTL_HERE ((ctl_place){.text = __func__, .line = __LINE__})
#define CTL_TYPE(x) __typeof__(__c11_atomic_load((x), __ATOMIC_RELAXED))
#define CTL_READ(x, order) ((CTL_TYPE(x))ctl_load((x), sizeof *(x), order, CTL_HERE))
#define CTL_WRITE(x, v, order) ctl_store((x), sizeof *(x), (uint64_t)(v), order, CTL_HERE)
#define CTL_MODIFY(x, change, v)                                                                   \
  ((CTL_TYPE(x))ctl_modify((x), sizeof *(x), change, (uint64_t)(v), CTL_HERE))
#define CTL_SWAP(x, e, v)                                                                          \
  ({                                                                                               \
    uint64_t ctl_expected = (uint64_t) * (e);                                                      \
    const bool ctl_is_swapped =                                                                    \
        ctl_compare_exchange((x), sizeof *(x), &ctl_expected, (uint64_t)(v), CTL_HERE);            \
    *(e) = (CTL_TYPE(x))ctl_expected;                                                              \
    ctl_is_swapped;                                                                                \
  })

/* The edge must exist here, too. */
#define CTL_EDGE(edge) ((void)sizeof(char[(edge) < RR_EDGE_COUNT ? 1 : -1]))

#define rr_load_relaxed(x) CTL_READ(x, CTL_RELAXED)
#define rr_store_relaxed(x, v) CTL_WRITE(x, v, CTL_RELAXED)
#define rr_exchange_relaxed(x, v) CTL_MODIFY(x, CTL_EXCHANGE, v)
#define rr_fetch_add_relaxed(x, v) CTL_MODIFY(x, CTL_ADD, v)
#define rr_fetch_sub_relaxed(x, v) CTL_MODIFY(x, CTL_SUBTRACT, v)
#define rr_fetch_or_relaxed(x, v) CTL_MODIFY(x, CTL_OR, v)
#define rr_cas_relaxed(x, expected, v) CTL_SWAP(x, expected, v)

#define rr_load_acquire(edge, x) (CTL_EDGE(edge), CTL_READ(x, CTL_ACQUIRE))
#define rr_store_release(edge, x, v) (CTL_EDGE(edge), CTL_WRITE(x, v, CTL_RELEASE))
#define rr_load_seq_cst(edge, x) (CTL_EDGE(edge), CTL_READ(x, CTL_SEQ_CST))
#define rr_exchange_seq_cst(edge, x, v) (CTL_EDGE(edge), CTL_MODIFY(x, CTL_EXCHANGE, v))
#define rr_fetch_add_seq_cst(edge, x, v) (CTL_EDGE(edge), CTL_MODIFY(x, CTL_ADD, v))
#define rr_fetch_sub_seq_cst(edge, x, v) (CTL_EDGE(edge), CTL_MODIFY(x, CTL_SUBTRACT, v))
#define rr_fetch_sub_release(edge, x, v) (CTL_EDGE(edge), CTL_MODIFY(x, CTL_SUBTRACT, v))
#define rr_fetch_or_seq_cst(edge, x, v) (CTL_EDGE(edge), CTL_MODIFY(x, CTL_OR, v))
#define rr_cas_acquire(edge, x, expected, v) (CTL_EDGE(edge), CTL_SWAP(x, expected, v))
#define rr_cas_seq_cst(edge, x, expected, v) (CTL_EDGE(edge), CTL_SWAP(x, expected, v))

#define rr_full_fence(edge) (CTL_EDGE(edge), ctl_fence(CTL_HERE))
/* Not a point: the compiler cannot reorder calls of the scheduler. */
#define rr_compiler_fence(edge) CTL_EDGE(edge)

/* A function, since Swift calls it too. */
static inline void rr_pause(void) { ctl_spin(CTL_HERE); }

#endif
