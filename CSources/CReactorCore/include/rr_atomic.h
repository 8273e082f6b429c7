/* rr_atomic.h: the only file that names a memory order.
 *
 * Every other file names an edge. The first argument of each operation is the happens-before edge
 * that the operation belongs to, spelled as in MEMORY_MODEL.md. That page says for each edge what
 * it carries and what breaks without it. The argument must be a member of enum rr_edge, so a site
 * cannot name an edge that does not exist.
 *
 * Operations without an edge are relaxed, and their names say so.
 */
#ifndef RR_ATOMIC_H
#define RR_ATOMIC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Two cache lines, because the adjacent-line prefetcher of x86 loads lines in pairs. */
#define RR_CACHE_LINE 128

/* The happens-before edges of the core, in the order of MEMORY_MODEL.md. */
enum rr_edge {
  RR_EDGE_RING_ITEM,    /* publish -> peek: the payload of the slot */
  RR_EDGE_RING_SPACE,   /* release -> claim: the emptied slot */
  RR_EDGE_RING_CLAIM,   /* claim -> the owner's last check: "a producer has claimed" */
  RR_EDGE_RING_CLOSE,   /* close -> a thread that finds it closed: what was written before */
  RR_EDGE_LANE_ITEM,    /* lane publish -> drain: the payload */
  RR_EDGE_LANE_SPACE,   /* lane release -> claim: the emptied slot */
  RR_EDGE_LANE_STATE,   /* register, close, recycle: the ownership of the lane */
  RR_EDGE_OWNERSHIP,    /* release -> acquire: everything the owner wrote */
  RR_EDGE_SNAPSHOT_PIN, /* unpin -> the owner's choice of a slot to overwrite */
  RR_EDGE_PIN_KEEP,     /* keep -> the thread that takes the kept pin: the reads before */
  RR_EDGE_PIN_USE,      /* the end of a read by a kept pin -> the owner that revokes it */
  RR_EDGE_ACCESS,       /* end_read, end_change -> the next change, the next read: the state */
  RR_EDGE_WAKE,         /* prepare -> notify: "a thread sleeps" */
  RR_EDGE_FENCE_SETUP,  /* the process-wide choice of fence */
  RR_EDGE_COUNT,
};

#ifdef RR_MODEL
/* Each operation is a step of the model checker: see Tests/Model. */
#include "rr_model_atomic.h"
#elif defined(RR_CONTROLLED)
/* Each operation is a point of the controlled scheduler: see Tests/Controlled. */
#include "controlled_atomic.h"
#else

#define RR_EDGE_CHECK(edge) ((void)sizeof(char[(edge) < RR_EDGE_COUNT ? 1 : -1]))

#define rr_load_relaxed(x) atomic_load_explicit((x), memory_order_relaxed)
#define rr_store_relaxed(x, v) atomic_store_explicit((x), (v), memory_order_relaxed)
#define rr_exchange_relaxed(x, v) atomic_exchange_explicit((x), (v), memory_order_relaxed)
#define rr_fetch_add_relaxed(x, v) atomic_fetch_add_explicit((x), (v), memory_order_relaxed)
#define rr_fetch_sub_relaxed(x, v) atomic_fetch_sub_explicit((x), (v), memory_order_relaxed)
#define rr_fetch_or_relaxed(x, v) atomic_fetch_or_explicit((x), (v), memory_order_relaxed)
#define rr_cas_relaxed(x, expected, v)                                                             \
  atomic_compare_exchange_strong_explicit((x), (expected), (v), memory_order_relaxed,              \
                                          memory_order_relaxed)

#define rr_load_acquire(edge, x)                                                                   \
  (RR_EDGE_CHECK(edge), atomic_load_explicit((x), memory_order_acquire))
/* The fence is for the compiler only. Swift's optimizer moves the retain of an object down across a
 * plain atomic store, even one that releases, though the store may hand the object to another
 * thread, which then frees it too early. It moves none across a fence. */
#define rr_store_release(edge, x, v)                                                               \
  (RR_EDGE_CHECK(edge), atomic_signal_fence(memory_order_release),                                 \
   atomic_store_explicit((x), (v), memory_order_release))

/* Sequentially consistent: for edges of the form "I write mine, then I read yours", where at least
 * one side must see the other. */
#define rr_load_seq_cst(edge, x)                                                                   \
  (RR_EDGE_CHECK(edge), atomic_load_explicit((x), memory_order_seq_cst))
#define rr_exchange_seq_cst(edge, x, v)                                                            \
  (RR_EDGE_CHECK(edge), atomic_exchange_explicit((x), (v), memory_order_seq_cst))
#define rr_fetch_add_seq_cst(edge, x, v)                                                           \
  (RR_EDGE_CHECK(edge), atomic_fetch_add_explicit((x), (v), memory_order_seq_cst))
#define rr_fetch_sub_seq_cst(edge, x, v)                                                           \
  (RR_EDGE_CHECK(edge), atomic_fetch_sub_explicit((x), (v), memory_order_seq_cst))
#define rr_fetch_sub_release(edge, x, v)                                                           \
  (RR_EDGE_CHECK(edge), atomic_fetch_sub_explicit((x), (v), memory_order_release))
#define rr_fetch_or_seq_cst(edge, x, v)                                                            \
  (RR_EDGE_CHECK(edge), atomic_fetch_or_explicit((x), (v), memory_order_seq_cst))
/* A failed compare-and-swap only returns the value that it found; nothing is read through it. */
#define rr_cas_acquire(edge, x, expected, v)                                                       \
  (RR_EDGE_CHECK(edge),                                                                            \
   atomic_compare_exchange_strong_explicit((x), (expected), (v), memory_order_acquire,             \
                                           memory_order_relaxed))
#define rr_cas_seq_cst(edge, x, expected, v)                                                       \
  (RR_EDGE_CHECK(edge),                                                                            \
   atomic_compare_exchange_strong_explicit((x), (expected), (v), memory_order_seq_cst,             \
                                           memory_order_relaxed))

#define rr_full_fence(edge) (RR_EDGE_CHECK(edge), atomic_thread_fence(memory_order_seq_cst))
/* Keeps the compiler from reordering accesses. The other side of the fence orders the processor. */
#define rr_compiler_fence(edge) (RR_EDGE_CHECK(edge), atomic_signal_fence(memory_order_seq_cst))

/* Tells the processor that this is a spin loop. 20 to 60 ns on x86-64. */
static inline void rr_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("isb" ::: "memory");
#endif
}

#endif /* RR_MODEL, RR_CONTROLLED */

/* Requests a cache line for writing, without waiting for it. Any address is allowed. */
static inline void rr_prefetch(const void *address) { __builtin_prefetch(address, 1); }

/* As rr_prefetch, and takes the line from the cores that have it: for a line that will be stored to
 * soon. (Compilers make a request to read of the builtin, unless told
 * that the processor has this instruction. One that has not ignores it.) */
static inline void rr_prefetch_to_store(void *address) {
#if defined(__x86_64__)
  __asm__ __volatile__("prefetchw %0" : : "m"(*(unsigned char *)address));
#else
  __builtin_prefetch(address, 1);
#endif
}

#endif
