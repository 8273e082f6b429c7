/* rr_ring.h: bounded multi-producer single-consumer ring of fixed-size slots.
 *
 * A cursor is a free-running count of slots (63 bits, wrapping). cursor & mask is the index of the
 * slot. Producers claim cursors from `tail`, write the payload, and publish. The one consumer
 * peeks, reads the payload, and releases. Each slot has a payload and a word that says what was
 * last published there:
 *
 *    63                                        8   7    6        0
 *   +-------------------------------------------+------+----------+
 *   | the cursor's low 56 bits                  | skip |   run    |
 *   +-------------------------------------------+------+----------+
 *
 * run is the number of slots, from this one on, that were published together (1 to 127). One store
 * to the first slot publishes the whole claim, so a batch of n costs one edge, not n. The words of
 * the other slots of the run keep older cursors; the consumer never reads them. skip means that the
 * run was abandoned and holds no payload. A word from another lap has another cursor, so the
 * consumer never needs to clear a slot. (A stale word could be taken for a current one only if its
 * slot was not the first of any run for exactly a multiple of 2^56 cursors: two years at a thousand
 * million items per second.)
 *
 * The words and the payloads are two arrays. So eight words share a cache line and the payloads of
 * a batch lie side by side: fewer lines go from the producers to the consumer than if each word
 * stood before its payload. A ring of at most 8 slots is one block, with its words in the line of
 * the tail and its payloads from the line of the head on: most such rings belong to one of very
 * many reactors, where each line is a miss. If one is busy, both sides write to these lines.
 *
 * tail holds the claim cursor, doubled, and the closed flag in bit 0. So one compare-and-swap both
 * claims and detects that the ring was closed, and no claim succeeds after close(). A fetch-and-add
 * is not used because it cannot be refused: it overshoots. A producer whose compare-and-swap failed
 * backs off, so one producer runs alone for a while instead of two sharing the cache line. Under
 * contention this is faster than a fetch-and-add.
 *
 * What a producer that stops between claim and publish delays: the consumer stops at its slot, so
 * everything claimed later waits, and at last the ring is full. Nothing is lost or overwritten.
 * What it does not delay: other producers can claim and publish behind it while there is room. A
 * claim that is given up must be abandoned (rr_ring_abandon), or it blocks the consumer forever.
 *
 *  operation                        threads
 *  claim, publish, abandon          any
 *  close, was_*                     any
 *  peek, payload (polled), release  the consumer: one thread at a time; the role passes to another
 *                                   thread only with a happens-before edge of the caller's
 *  create, reset, destroy           no other thread may use the ring meanwhile
 *
 * After D. Vyukov's bounded queue (a sequence number in the slot), with the consumer's cursor kept
 * outside of the slots as in the LMAX Disruptor.
 */
#ifndef RR_RING_H
#define RR_RING_H

#include <stddef.h>

#include "rr_atomic.h"
#include "rr_status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RR_RING_MAX_CAPACITY (UINT64_C(1) << 31)
#define RR_MAX_PAYLOAD ((size_t)1 << 20)
#define RR_MAX_ALIGNMENT ((size_t)128)
#ifdef RR_MODEL
/* Small, so that the model checker publishes a batch of three as two runs. */
#define RR_RING_MAX_RUN 2
#else
#define RR_RING_MAX_RUN 127
#endif
#define RR_RING_SKIP 128
#define RR_RING_FEW 8

typedef struct rr_ring {
  /* Constant after creation. */
  _Alignas(RR_CACHE_LINE) _Atomic uint64_t *words;
  unsigned char *payloads;
  uint64_t mask;
  uint64_t capacity;
  size_t stride; /* distance from payload to payload in bytes */
  void *memory;  /* the block that contains both arrays; NULL if this one does */
  /* Written by producers. */
  _Alignas(RR_CACHE_LINE) _Atomic uint64_t tail; /* claim cursor * 2 + closed */
  _Atomic uint64_t head_seen; /* a recent head: spares producers the consumer's line */
  _Atomic uint64_t few_words[RR_RING_FEW];
  /* Written by the consumer. */
  _Alignas(RR_CACHE_LINE) _Atomic uint64_t head; /* every slot before it is released */
  uint32_t run_left; /* slots at head that belong to a run already peeked: only the first slot of a
                        run has the word */
  _Alignas(16) unsigned char few_payloads[RR_CACHE_LINE - 16]; /* and on behind the structure */
} rr_ring;

/* Creates a ring of `capacity` slots for payloads of `size` bytes aligned to `alignment`. `start`
 * is the first cursor: 0, except in tests of wrap-around. On failure *out is NULL, nothing is
 * leaked, and the status says which argument was wrong. The system provides the memory of a large
 * ring only as it is used. */
rr_status rr_ring_create(rr_ring **out, uint64_t capacity, size_t size, size_t alignment,
                         uint64_t start);
/* Makes `tail` the first cursor of a ring that was not used yet. The slots from `head` to `tail`
 * count as taken until they are released. No other thread may use the ring. */
void rr_ring_reset(rr_ring *ring, uint64_t head, uint64_t tail);
/* Frees the ring. The caller must have moved all payloads out before. NULL is allowed. */
void rr_ring_destroy(rr_ring *ring);

static inline uint64_t rr_ring_capacity(const rr_ring *ring) { return ring->capacity; }
static inline size_t rr_ring_stride(const rr_ring *ring) { return ring->stride; }

/* Returns to - from, modulo 2^63, as a signed number. */
static inline int64_t rr_ring_distance(uint64_t from, uint64_t to) {
  return (int64_t)((to - from) << 1) >> 1;
}

static inline _Atomic uint64_t *rr_ring_word(const rr_ring *ring, uint64_t cursor) {
  return ring->words + (cursor & ring->mask);
}

/* The payload of a slot that the caller claimed or peeked. (The attribute spares Swift a null check
 * at each use.) */
__attribute__((returns_nonnull)) static inline void *rr_ring_payload(const rr_ring *ring,
                                                                     uint64_t cursor) {
  return ring->payloads + (cursor & ring->mask) * ring->stride;
}

typedef struct rr_claim {
  rr_status status;
  uint64_t cursor;
} rr_claim;

/* The rest of rr_ring_try_claim(): no room at first sight, closed, contended, or an invalid count.
 * `lost` means that the caller's compare-and-swap has just failed. The result is returned by value:
 * if the inlined code passed an address, the compiler would keep the cursor in memory. */
rr_claim rr_ring_try_claim_slow(rr_ring *ring, uint64_t count, bool lost);

/* Whether `head` leaves no room up to `after` (doubled). The difference is signed because the head
 * may already be beyond a stale tail. */
static inline bool rr_ring_lacks_room(const rr_ring *ring, uint64_t after, uint64_t head) {
  return (int64_t)(after - head * 2) > (int64_t)(ring->capacity * 2);
}

/* Claims `count` consecutive cursors, all or none. Any thread. RR_FULL is truthful: at the moment
 * at which the consumer's cursor was read there was no room for `count`. Lock-free; O(1).
 *
 * Only the first attempt is inline. It takes the free room from head_seen, which another producer
 * may have stored. Hence acquire: the consumer's reads of the emptied slots happen before this
 * producer's writes.
 */
static inline rr_status rr_ring_try_claim(rr_ring *ring, uint64_t count, uint64_t *cursor) {
  uint64_t tail = rr_load_relaxed(&ring->tail);
  const uint64_t after = tail + count * 2;
  const uint64_t seen = rr_load_acquire(RR_EDGE_RING_SPACE, &ring->head_seen);
  const bool may_claim =
      (tail & 1) == 0 && !rr_ring_lacks_room(ring, after, seen) && count - 1 < ring->capacity;
  if (__builtin_expect(may_claim, 1) &&
      __builtin_expect(rr_cas_seq_cst(RR_EDGE_RING_CLAIM, &ring->tail, &tail, after), 1)) {
    *cursor = tail >> 1;
    return RR_OK;
  }
  const rr_claim claim = rr_ring_try_claim_slow(ring, count, may_claim);
  *cursor = claim.cursor;
  return claim.status;
}

static inline void rr_ring_publish_word(rr_ring *ring, uint64_t cursor, uint64_t run) {
  _Atomic uint64_t *word = rr_ring_word(ring, cursor);
  rr_store_release(RR_EDGE_RING_ITEM, word, (cursor << 8) | run);
}

static inline void rr_ring_publish_flagged(rr_ring *ring, uint64_t cursor, uint64_t count,
                                           uint64_t flag) {
  for (; __builtin_expect(count > RR_RING_MAX_RUN, 0); count -= RR_RING_MAX_RUN) {
    rr_ring_publish_word(ring, cursor, RR_RING_MAX_RUN | flag);
    cursor += RR_RING_MAX_RUN;
  }
  rr_ring_publish_word(ring, cursor, count | flag);
}

/* How many slots ahead of what it publishes a producer requests the lines. */
#define RR_RING_AHEAD 16

/* Requests the lines of a later slot. Unless the ring is nearly full or has few slots, the consumer
 * has read them a lap ago, so the stores of the thread that publishes there would wait for them;
 * and the next claim, a read-modify-write, waits for all earlier stores. */
static inline void rr_ring_prefetch(const rr_ring *ring, uint64_t cursor) {
  rr_prefetch_to_store(rr_ring_word(ring, cursor));
  rr_prefetch_to_store(rr_ring_payload(ring, cursor));
}

/* Publishes a claim whose payloads are all written. Called once, by the producer that claimed.
 * Wait-free. */
static inline void rr_ring_publish(rr_ring *ring, uint64_t cursor, uint64_t count) {
  /* Not afterwards: the consumer of the last item may free the ring. */
  rr_ring_prefetch(ring, cursor + count + RR_RING_AHEAD);
  rr_ring_publish_flagged(ring, cursor, count, 0);
}

/* Gives up a claim: the consumer skips it. Called instead of publish, by the producer that claimed.
 * Wait-free. */
static inline void rr_ring_abandon(rr_ring *ring, uint64_t cursor, uint64_t count) {
  rr_ring_publish_flagged(ring, cursor, count, RR_RING_SKIP);
}

/* The part of rr_ring_peek that reads the word. Consumer. A function of its own, since a local
 * variable of an _Atomic type in rr_ring_peek, which Swift calls, causes a note of Swift's compiler
 * in each build of a user. */
static inline uint32_t rr_ring_run_in(const _Atomic uint64_t *word, uint64_t cursor) {
  const uint64_t found = rr_load_acquire(RR_EDGE_RING_ITEM, word) ^ (cursor << 8);
  return found < 256 ? (uint32_t)found : 0;
}

/* Returns what is published at `cursor`: 0 if nothing is yet, run for that many payloads,
 * RR_RING_SKIP + run for that many slots to skip. Consumer; `cursor` must be the first slot of a
 * run. Wait-free. */
static inline uint32_t rr_ring_peek(const rr_ring *ring, uint64_t cursor) {
  return rr_ring_run_in(rr_ring_word(ring, cursor), cursor);
}

/* The consumer's own cursor. Consumer. */
static inline uint64_t rr_ring_head(const rr_ring *ring) { return rr_load_relaxed(&ring->head); }

/* Returns every slot before `cursor` to the producers. Consumer. Wait-free. */
static inline void rr_ring_release(rr_ring *ring, uint64_t cursor) {
  rr_store_release(RR_EDGE_RING_SPACE, &ring->head, cursor);
}

/* Remembers between two drains that `left` slots at head belong to a run already peeked. Consumer.
 */
static inline uint32_t rr_ring_run_left(const rr_ring *ring) { return ring->run_left; }
static inline void rr_ring_set_run_left(rr_ring *ring, uint32_t left) { ring->run_left = left; }

/* Refuses every later claim. Claims that succeeded before may still be published. Any thread. */
static inline void rr_ring_close(rr_ring *ring) {
  rr_fetch_or_seq_cst(RR_EDGE_RING_CLOSE, &ring->tail, 1);
}

/* Any thread. A thread that finds the ring closed also sees what the closing thread wrote before.
 * Sequentially consistent, like the close: one thread closes and then reads a flag, another one
 * sets the flag and then calls this; at least one of them sees the other's write. */
static inline bool rr_ring_is_closed(const rr_ring *ring) {
  return (rr_load_seq_cst(RR_EDGE_RING_CLOSE, &ring->tail) & 1) != 0;
}

/* The claim cursor. Every claim that has returned is below it. Any thread. */
static inline uint64_t rr_ring_tail(const rr_ring *ring) {
  return rr_load_seq_cst(RR_EDGE_RING_CLAIM, &ring->tail) >> 1;
}

/* Whether the ring is open and nothing is claimed beyond head. Consumer. The load is one half of
 * the pair "claim, then check for an owner" / "release, then check for a claim": if the claiming
 * producer missed the release, this load does not miss the claim. */
static inline bool rr_ring_is_idle(const rr_ring *ring) {
  return rr_load_seq_cst(RR_EDGE_RING_CLAIM, &ring->tail) == rr_load_relaxed(&ring->head) << 1;
}

/* How many slots are claimed and not released. May be stale at once. Any thread. */
static inline uint64_t rr_ring_was_count(const rr_ring *ring) {
  const uint64_t head = rr_load_acquire(RR_EDGE_RING_SPACE, &ring->head);
  const int64_t count = rr_ring_distance(head, rr_load_relaxed(&ring->tail) >> 1);
  return count < 0 ? 0 : (uint64_t)count > ring->capacity ? ring->capacity : (uint64_t)count;
}

#ifdef __cplusplus
}
#endif

#endif
