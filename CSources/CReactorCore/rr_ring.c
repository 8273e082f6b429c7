#include "rr_ring.h"

#include "rr_platform.h"
#include "rr_slots.h"

/* The distance from the first word to the first payload. Not a multiple of a page: processors first
 * compare the low 12 bits of addresses, and would take the load of a payload for one of a word that
 * was just stored at the same place of another page. A round trip took a seventh longer. */
static size_t size_of_words(uint64_t capacity) {
  const size_t size = rr_slots_size(capacity, sizeof(uint64_t));
  return size % 4096 == 0 ? size + 2048 + RR_CACHE_LINE : size;
}

/* Makes a ring of few slots in one block. Returns NULL if there is no memory. */
static rr_ring *create_small(uint64_t capacity, size_t stride) {
  size_t size = offsetof(rr_ring, few_payloads) + (size_t)capacity * stride;
  if (size < sizeof(rr_ring)) size = sizeof(rr_ring);
  rr_ring *ring =
      rr_platform_in_use->allocate(_Alignof(rr_ring), rr_round_up(size, _Alignof(rr_ring)));
  if (ring == NULL) return NULL;
  for (uint64_t i = 0; i < RR_RING_FEW; i++) atomic_init(&ring->few_words[i], 0);
  ring->memory = NULL;
  ring->words = ring->few_words;
  ring->payloads = ring->few_payloads;
  return ring;
}

/* Makes a ring whose slots are a block of their own. Returns NULL if there is no memory. */
static rr_ring *create_large(uint64_t capacity, size_t stride) {
  rr_ring *ring = rr_platform_in_use->allocate(_Alignof(rr_ring), sizeof(rr_ring));
  if (ring == NULL) return NULL;
  const size_t words_size = size_of_words(capacity);
  ring->memory = rr_platform_in_use->allocate_zeroed(words_size + rr_slots_size(capacity, stride) +
                                                     RR_CACHE_LINE);
  if (ring->memory == NULL) {
    rr_platform_in_use->release(ring);
    return NULL;
  }
  unsigned char *first_line =
      (unsigned char *)rr_round_up((size_t)(uintptr_t)ring->memory, (size_t)RR_CACHE_LINE);
  ring->words = (_Atomic uint64_t *)(void *)first_line;
  ring->payloads = first_line + words_size;
  return ring;
}

/* The words of a new ring are zeros: run 0, which is never published, means "nothing yet", whatever
 * the cursor. */
rr_status rr_ring_create(rr_ring **out, uint64_t capacity, size_t size, size_t alignment,
                         uint64_t start) {
  *out = NULL;
  const rr_status status = rr_slots_check(capacity, size, alignment);
  if (status != RR_OK) return status;
  const size_t stride = rr_round_up(size, alignment);
  const bool is_small = capacity <= RR_RING_FEW && alignment <= 16;
  rr_ring *ring = is_small ? create_small(capacity, stride) : create_large(capacity, stride);
  if (ring == NULL) return RR_OUT_OF_MEMORY;
  ring->stride = stride;
  ring->capacity = capacity;
  ring->mask = capacity - 1;
  ring->run_left = 0;
  rr_ring_reset(ring, start, start);
  *out = ring;
  return RR_OK;
}

void rr_ring_reset(rr_ring *ring, uint64_t head, uint64_t tail) {
  head &= UINT64_MAX >> 1;
  atomic_init(&ring->tail, tail * 2);
  atomic_init(&ring->head, head);
  atomic_init(&ring->head_seen, head);
}

void rr_ring_destroy(rr_ring *ring) {
  if (ring == NULL) return;
  if (ring->memory != NULL) rr_platform_in_use->release(ring->memory);
  rr_platform_in_use->release(ring);
}

#ifdef RR_MODEL
/* One pause lets another thread run; more pauses add no new executions. */
#define FIRST_PAUSES 1
#define MOST_PAUSES 1
#else
#define FIRST_PAUSES 8
#define MOST_PAUSES 64
#endif

/* Backs off after a failed compare-and-swap: about 200 ns at first, then doubling up to about 1.5
 * us. */
static void back_off(uint32_t *pauses) {
  for (uint32_t i = 0; i < *pauses; i++) rr_pause();
  if (*pauses < MOST_PAUSES) *pauses *= 2;
}

rr_claim rr_ring_try_claim_slow(rr_ring *ring, uint64_t count, bool lost) {
  if (count == 0 || count > ring->capacity) return (rr_claim){RR_COUNT_INVALID, 0};
  for (uint32_t pauses = FIRST_PAUSES;; lost = true) {
    if (lost) back_off(&pauses);
    /* Acquire: the heads loaded below must not be older than this tail. A new tail with an old head
     * could look full although the ring never was. */
    uint64_t tail = rr_load_acquire(RR_EDGE_RING_CLAIM, &ring->tail);
    if ((tail & 1) != 0) return (rr_claim){RR_CLOSED, 0};
    const uint64_t after = tail + count * 2;
    if (rr_ring_lacks_room(ring, after, rr_load_acquire(RR_EDGE_RING_SPACE, &ring->head_seen))) {
      const uint64_t head = rr_load_acquire(RR_EDGE_RING_SPACE, &ring->head);
      if (rr_ring_lacks_room(ring, after, head)) return (rr_claim){RR_FULL, 0};
      /* Release, although this thread did not write the value first: another producer that loads it
       * must see the slots as emptied. An older value may overwrite a newer one; that costs one
       * more load of head, nothing else. */
      rr_store_release(RR_EDGE_RING_SPACE, &ring->head_seen, head);
    }
    if (rr_cas_seq_cst(RR_EDGE_RING_CLAIM, &ring->tail, &tail, after)) {
      return (rr_claim){RR_OK, tail >> 1};
    }
  }
}
