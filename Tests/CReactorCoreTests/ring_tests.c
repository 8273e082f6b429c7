#include <string.h>

#include "CReactorCore.h"
#include "check.h"

static rr_ring *make(uint64_t capacity, uint64_t start) {
  rr_ring *ring = NULL;
  CHECK(rr_ring_create(&ring, capacity, sizeof(uint64_t), _Alignof(uint64_t), start) == RR_OK);
  return ring;
}

static void put(rr_ring *ring, uint64_t cursor, uint64_t value) {
  *(uint64_t *)rr_ring_payload(ring, cursor) = value;
}

static uint64_t get(const rr_ring *ring, uint64_t cursor) {
  return *(const uint64_t *)rr_ring_payload(ring, cursor);
}

/* Payloads of each size and alignment have their memory for themselves, in rings of one block and
 * of two. The sanitizer checks the ends of the blocks. */
static void test_payloads(uint64_t capacity, size_t size, size_t alignment) {
  rr_ring *ring = NULL;
  CHECK(rr_ring_create(&ring, capacity, size, alignment, 0) == RR_OK);
  for (uint64_t i = 0; i < capacity; i++) {
    uint64_t cursor;
    CHECK(rr_ring_try_claim(ring, 1, &cursor) == RR_OK);
    unsigned char *payload = rr_ring_payload(ring, cursor);
    CHECK((uintptr_t)payload % alignment == 0);
    memset(payload, (int)(i + 1), rr_ring_stride(ring));
    rr_ring_publish(ring, cursor, 1);
  }
  for (uint64_t i = 0; i < capacity; i++) {
    CHECK(rr_ring_peek(ring, i) == 1);
    const unsigned char *payload = rr_ring_payload(ring, i);
    for (size_t at = 0; at < rr_ring_stride(ring); at++)
      CHECK(payload[at] == (unsigned char)(i + 1));
    rr_ring_release(ring, i + 1);
  }
  CHECK(rr_ring_was_count(ring) == 0);
  rr_ring_destroy(ring);
}

static void test_full_and_order(uint64_t capacity) {
  rr_ring *ring = make(capacity, 0);
  uint64_t cursor = 0;
  for (uint64_t lap = 0; lap < 3; lap++) {
    const uint64_t first = lap * capacity;
    for (uint64_t i = 0; i < capacity; i++) {
      CHECK(rr_ring_try_claim(ring, 1, &cursor) == RR_OK);
      CHECK(cursor == first + i);
      CHECK(rr_ring_peek(ring, cursor) == 0);
      put(ring, cursor, cursor * 3);
      rr_ring_publish(ring, cursor, 1);
    }
    CHECK(rr_ring_try_claim(ring, 1, &cursor) == RR_FULL);
    CHECK(rr_ring_was_count(ring) == capacity);
    for (uint64_t i = first; i < first + capacity; i++) {
      CHECK(rr_ring_peek(ring, i) == 1);
      CHECK(get(ring, i) == i * 3);
    }
    rr_ring_release(ring, first + capacity);
    CHECK(rr_ring_was_count(ring) == 0);
    CHECK(rr_ring_is_idle(ring));
  }
  rr_ring_destroy(ring);
}

static void test_claim_counts(void) {
  rr_ring *ring = make(8, 0);
  uint64_t cursor = 0;
  CHECK(rr_ring_try_claim(ring, 0, &cursor) == RR_COUNT_INVALID);
  CHECK(rr_ring_try_claim(ring, 9, &cursor) == RR_COUNT_INVALID);
  CHECK(rr_ring_try_claim(ring, UINT64_MAX, &cursor) == RR_COUNT_INVALID);
  CHECK(rr_ring_try_claim(ring, UINT64_C(1) << 63, &cursor) == RR_COUNT_INVALID);
  CHECK(rr_ring_tail(ring) == 0);
  CHECK(rr_ring_try_claim(ring, 8, &cursor) == RR_OK);
  CHECK(rr_ring_try_claim(ring, 9, &cursor) == RR_COUNT_INVALID);
  CHECK(rr_ring_try_claim(ring, 1, &cursor) == RR_FULL);
  rr_ring_publish(ring, 0, 8);
  CHECK(rr_ring_peek(ring, 0) == 8);
  /* All or none. */
  rr_ring_release(ring, 3);
  CHECK(rr_ring_try_claim(ring, 4, &cursor) == RR_FULL);
  CHECK(rr_ring_try_claim(ring, 3, &cursor) == RR_OK);
  CHECK(cursor == 8);
  rr_ring_destroy(ring);
}

/* Runs of every length around the longest one, published or abandoned, at several cursors. */
static void test_runs(uint64_t start) {
  static const uint64_t lengths[] = {1, 2, 126, 127, 128, 253, 254, 255, 300, 512};
  rr_ring *ring = make(512, start);
  uint64_t head = rr_ring_head(ring);
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    for (int flagged = 0; flagged < 2; flagged++) {
      const uint64_t length = lengths[i];
      uint64_t cursor = 0;
      CHECK(rr_ring_try_claim(ring, length, &cursor) == RR_OK);
      CHECK(rr_ring_distance(cursor, head) == 0);
      if (flagged) {
        rr_ring_abandon(ring, cursor, length);
      } else {
        rr_ring_publish(ring, cursor, length);
      }
      uint64_t seen = 0;
      while (seen < length) {
        const uint64_t expected = length - seen > RR_RING_MAX_RUN ? RR_RING_MAX_RUN : length - seen;
        CHECK(rr_ring_peek(ring, head) == (flagged ? RR_RING_SKIP + expected : expected));
        head += expected;
        seen += expected;
      }
      CHECK(seen == length);
      if (length < 512) CHECK(rr_ring_peek(ring, head) == 0);
      rr_ring_release(ring, head);
      CHECK(rr_ring_was_count(ring) == 0);
    }
  }
  rr_ring_destroy(ring);
}

static void test_late_publication(void) {
  rr_ring *ring = make(4, 0);
  uint64_t late = 0;
  uint64_t cursor = 0;
  CHECK(rr_ring_try_claim(ring, 1, &late) == RR_OK);
  for (int i = 0; i < 3; i++) {
    CHECK(rr_ring_try_claim(ring, 1, &cursor) == RR_OK);
    rr_ring_publish(ring, cursor, 1);
  }
  CHECK(rr_ring_peek(ring, late) == 0);
  CHECK(rr_ring_peek(ring, late + 1) == 1);
  CHECK(rr_ring_try_claim(ring, 1, &cursor) == RR_FULL);
  CHECK(!rr_ring_is_idle(ring));
  rr_ring_publish(ring, late, 1);
  CHECK(rr_ring_peek(ring, late) == 1);
  rr_ring_release(ring, 4);
  CHECK(rr_ring_try_claim(ring, 4, &cursor) == RR_OK);
  rr_ring_destroy(ring);
}

static void test_close(void) {
  rr_ring *ring = make(4, 0);
  uint64_t cursor = 0;
  CHECK(!rr_ring_is_closed(ring));
  CHECK(rr_ring_try_claim(ring, 2, &cursor) == RR_OK);
  rr_ring_close(ring);
  rr_ring_close(ring);
  uint64_t refused = 0;
  CHECK(rr_ring_is_closed(ring));
  CHECK(rr_ring_try_claim(ring, 1, &refused) == RR_CLOSED);
  CHECK(rr_ring_tail(ring) == 2);
  CHECK(rr_ring_was_count(ring) == 2);
  rr_ring_publish(ring, cursor, 2);
  CHECK(rr_ring_peek(ring, 0) == 2);
  rr_ring_release(ring, 2);
  CHECK(!rr_ring_is_idle(ring));
  CHECK(rr_ring_was_count(ring) == 0);
  rr_ring_destroy(ring);
}

static void test_wrap_around(uint64_t edge) {
  for (uint64_t before = 1; before <= 17; before += 4) {
    rr_ring *ring = make(8, edge - before);
    uint64_t head = rr_ring_head(ring);
    for (uint64_t i = 0; i < 48; i++) {
      uint64_t cursor = 0;
      const uint64_t count = i % 4 + 1;
      CHECK(rr_ring_try_claim(ring, count, &cursor) == RR_OK);
      CHECK(rr_ring_distance(head, cursor) == 0);
      for (uint64_t k = 0; k < count; k++) put(ring, cursor + k, i * 8 + k);
      rr_ring_publish(ring, cursor, count);
      CHECK(rr_ring_was_count(ring) == count);
      uint64_t refused = 0;
      CHECK(rr_ring_try_claim(ring, 9 - count, &refused) == RR_FULL);
      CHECK(rr_ring_peek(ring, head) == count);
      for (uint64_t k = 0; k < count; k++) CHECK(get(ring, head + k) == i * 8 + k);
      head += count;
      rr_ring_release(ring, head);
      CHECK(rr_ring_is_idle(ring));
      CHECK(rr_ring_peek(ring, head) == 0);
    }
    rr_ring_destroy(ring);
  }
}

static void test_layout(void) {
  static const size_t layouts[][2] = {{1, 1}, {8, 8}, {24, 8}, {200, 8}, {3, 128}, {64, 64}};
  for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
    rr_ring *ring = NULL;
    CHECK(rr_ring_create(&ring, 4, layouts[i][0], layouts[i][1], 0) == RR_OK);
    for (uint64_t cursor = 0; cursor < 4; cursor++) {
      unsigned char *payload = rr_ring_payload(ring, cursor);
      CHECK((uintptr_t)payload % layouts[i][1] == 0);
      /* A payload begins after all words, and ends before the next payload. */
      CHECK((uintptr_t)payload >= (uintptr_t)(rr_ring_word(ring, 3) + 1));
      if (cursor < 3) {
        CHECK(payload + layouts[i][0] <= (unsigned char *)rr_ring_payload(ring, cursor + 1));
      }
      for (size_t byte = 0; byte < layouts[i][0]; byte++) payload[byte] = 0xff;
      CHECK(rr_ring_peek(ring, cursor) == 0);
    }
    rr_ring_destroy(ring);
  }
}

void test_ring(void) {
  for (uint64_t capacity = 1; capacity <= 1024; capacity *= 2) test_full_and_order(capacity);
  for (uint64_t capacity = 1; capacity <= 16; capacity *= 2) {
    for (size_t alignment = 1; alignment <= 32; alignment *= 2) {
      for (size_t size = 1; size <= 200; size += 33) test_payloads(capacity, size, alignment);
    }
  }
  test_claim_counts();
  test_late_publication();
  test_close();
  test_layout();
  static const unsigned edges[] = {32, 55, 56, 62, 63};
  for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
    test_wrap_around(UINT64_C(1) << edges[i]);
    test_runs((UINT64_C(1) << edges[i]) - 300);
  }
  test_wrap_around(0);
  test_runs(0);

  rr_ring *ring = make(2, 0);
  CHECK(rr_ring_run_left(ring) == 0);
  rr_ring_set_run_left(ring, 126);
  CHECK(rr_ring_run_left(ring) == 126);
  rr_ring_destroy(ring);
}
