#include "rr_readers.h"

#include <pthread.h>
#include <sched.h>

#include "rr_fence.h"
#include "rr_platform.h"

/* After this many reads of one slot in a row, each with a pin of its own, the last pin is kept. */
#ifdef RR_MODEL
#define READS_UNTIL_KEPT 1
#else
#define READS_UNTIL_KEPT 8
#endif

/* What a thread knows about its own reads. */
typedef struct habit {
  /* The slot that it pinned last, and how often in a row. */
  uintptr_t last;
  uint32_t streak;
  /* The thread is ending, and creates no new record. */
  bool has_ended;
  /* The trampoline whose last kept pin was worth keeping. */
  const rr_trampoline *keep_at_once;
} habit;

static _Thread_local habit mine;

/* Used: the assembly names it, which link-time optimization does not see. */
__attribute__((used)) _Thread_local rr_reader *rr_reader_mine;

#if !defined(__x86_64__)
rr_reader *rr_reader_of_thread(void) { return rr_reader_mine; }
#endif

/* MARK: the registry */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static rr_reader *first = NULL;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key = false;

static void end_thread(void *reader) {
  rr_reader_mine = NULL;
  mine.has_ended = true;
  rr_reader_destroy(reader);
}

static void make_key(void) { has_key = pthread_key_create(&key, end_thread) == 0; }

rr_reader *rr_reader_create(void) {
  rr_reader *reader = rr_platform_in_use->allocate(_Alignof(rr_reader), sizeof(rr_reader));
  if (reader == NULL) return NULL;
  atomic_init(&reader->kept, 0);
  atomic_init(&reader->is_reading, 0);
  reader->uses = 0;
  reader->place = NULL;
  reader->previous = NULL;
  pthread_mutex_lock(&lock);
  reader->next = first;
  if (first != NULL) first->previous = reader;
  first = reader;
  pthread_mutex_unlock(&lock);
  return reader;
}

void rr_reader_destroy(rr_reader *reader) {
  rr_store_release(RR_EDGE_PIN_USE, &reader->is_reading, 0);
  rr_reader_unpin_kept(reader);
  pthread_mutex_lock(&lock);
  if (reader->next != NULL) reader->next->previous = reader->previous;
  if (reader->previous != NULL) {
    reader->previous->next = reader->next;
  } else {
    first = reader->next;
  }
  pthread_mutex_unlock(&lock);
  rr_platform_in_use->release(reader);
}

/* Returns the calling thread's record; creates it if the thread has none. NULL without memory. */
static rr_reader *get_or_create_reader(void) {
  if (rr_reader_mine != NULL || mine.has_ended) return rr_reader_mine;
  pthread_once(&once, make_key);
  if (!has_key) return NULL;
  rr_reader *reader = rr_reader_create();
  if (reader == NULL) return NULL;
  if (pthread_setspecific(key, reader) != 0) {
    rr_reader_destroy(reader);
    return NULL;
  }
  rr_reader_mine = reader;
  return reader;
}

/* MARK: keeping a pin */

/* Either flag. */
#define RR_READER_FLAGGED (RR_READER_REVOKED | RR_READER_UNPINNING)

static rr_trampoline *trampoline_of(uintptr_t kept) {
  return (rr_trampoline *)(kept & ~RR_READER_NO_ADDRESS);
}

static int slot_of(uintptr_t kept) { return (int)(kept & RR_TRAMPOLINE_SLOT_MASK); }

bool rr_reader_try_keep(rr_reader *reader, rr_trampoline *t, int slot, void *place) {
  if (rr_fence_is_symmetric()) return false;
  if (rr_load_relaxed(&reader->is_reading) != 0) return false;
  /* Unpins what was kept before: a pin of another trampoline, or one of this trampoline that a
   * nested read kept. */
  rr_reader_unpin_kept(reader);
  reader->uses = 0;
  reader->place = place;
  rr_store_release(RR_EDGE_PIN_KEEP, &reader->kept, rr_reader_encode_pin(t, (uint64_t)slot));
  return true;
}

void rr_reader_unpin_kept(rr_reader *reader) {
  const uintptr_t kept = rr_load_relaxed(&reader->kept);
  if (kept == 0 || rr_load_relaxed(&reader->is_reading) != 0) return;
  const uintptr_t unpinning = (kept & ~RR_READER_REVOKED) | RR_READER_UNPINNING;
  /* Relaxed: the exchange only decides which thread unpins, and carries no data. */
  if (rr_exchange_relaxed(&reader->kept, unpinning) != 0) {
    rr_pins_unpin(trampoline_of(kept), slot_of(kept));
  }
  rr_store_release(RR_EDGE_PIN_KEEP, &reader->kept, (uintptr_t)0);
}

/* MARK: reading */

rr_pin rr_readers_pin_slow(rr_trampoline *t, rr_reader *reader) {
  if (reader != NULL && trampoline_of(rr_load_relaxed(&reader->kept)) == t) {
    /* A newer snapshot was published, or the word is light, or the thread reads by this pin. */
    mine.keep_at_once = reader->uses >= RR_READER_USES_WORTH_KEEPING ? t : NULL;
    rr_reader_unpin_kept(reader);
  }
  for (;;) {
    const int slot = rr_trampoline_settled_slot(t);
    const rr_pin pin = {.reader = NULL, .slot = slot, .place = NULL};
    if (slot < 0) return pin;
    rr_pins_pin(t, slot);
    /* The pin came too late if the word names another slot by now: the owner may be writing to this
     * one. */
    if (rr_trampoline_published_slot(t) == slot) return pin;
    rr_pins_unpin(t, slot);
  }
}

/* Counts a read of that slot, and returns whether the calling thread reads it often enough to keep
 * its pin. */
static bool note_read(rr_trampoline *t, int slot) {
  const uintptr_t pin = rr_reader_encode_pin(t, (uint64_t)slot);
  mine.streak = mine.last == pin ? mine.streak + 1 : 1;
  mine.last = pin;
  return (mine.streak >= READS_UNTIL_KEPT || mine.keep_at_once == t) &&
         rr_trampoline_published_slot(t) == slot;
}

void rr_readers_unpin_slow(rr_trampoline *t, int slot, void *place) {
  if (place != NULL && note_read(t, slot)) {
    rr_reader *reader = get_or_create_reader();
    if (reader != NULL && rr_reader_try_keep(reader, t, slot, place)) {
      /* The light half of the asymmetric fence; where the fence is symmetric, no pin is kept. */
      rr_compiler_fence(RR_EDGE_PIN_KEEP);
      if (rr_trampoline_published_slot(t) != slot) rr_reader_unpin_kept(reader);
      return;
    }
  }
  rr_pins_unpin(t, slot);
}

/* MARK: taking pins back */

/* Whether `kept` is a pin that the owner can use: of its trampoline, but not of the published slot.
 */
static bool is_usable(uintptr_t kept, const rr_trampoline *t, int published) {
  return trampoline_of(kept) == t && slot_of(kept) != published;
}

/* Marks the kept pins that the owner can use. Under the lock. */
static void mark_for_revocation(const rr_trampoline *t, int published) {
  for (rr_reader *reader = first; reader != NULL; reader = reader->next) {
    uintptr_t kept = rr_load_relaxed(&reader->kept);
    if (!is_usable(kept, t, published) || (kept & RR_READER_FLAGGED) != 0) continue;
    /* Relaxed: the heavy fence after it orders it. */
    (void)rr_cas_relaxed(&reader->kept, &kept, kept | RR_READER_REVOKED);
  }
}

/* Takes and unpins the pin in `kept`, from load_kept. Returns false if the record's thread was
 * first. */
static bool try_take_pin(rr_reader *reader, uintptr_t kept) {
  /* Relaxed: load_kept has acquired, and no other thread marks this pin anew under the lock. */
  if (!rr_cas_relaxed(&reader->kept, &kept, (uintptr_t)0)) return false;
  rr_pins_unpin(trampoline_of(kept), slot_of(kept));
  return true;
}

/* Returns what a record keeps, but waits while its thread unpins a pin of `t`, which takes a few
 * instructions. */
static uintptr_t load_kept(const rr_reader *reader, const rr_trampoline *t) {
  for (;;) {
    const uintptr_t kept = rr_load_acquire(RR_EDGE_PIN_KEEP, &reader->kept);
    if (trampoline_of(kept) != t || (kept & RR_READER_UNPINNING) == 0) return kept;
    sched_yield();
  }
}

/* Takes the marked pins whose thread is not inside of a read. Returns whether there is a pin
 * without a mark: it was kept after the others were marked. After the fence, under the lock. */
static bool take_marked_pins(const rr_trampoline *t, int published, bool *taken) {
  bool has_unmarked = false;
  for (rr_reader *reader = first; reader != NULL; reader = reader->next) {
    uintptr_t kept;
    while (is_usable(kept = load_kept(reader, t), t, published)) {
      has_unmarked |= (kept & RR_READER_REVOKED) == 0;
      if ((kept & RR_READER_REVOKED) == 0) break;
      if (rr_load_acquire(RR_EDGE_PIN_USE, &reader->is_reading) != 0) break;
      if (try_take_pin(reader, kept)) *taken = true;
    }
  }
  return has_unmarked;
}

bool rr_readers_revoke(rr_trampoline *t) {
  bool taken = false;
  pthread_mutex_lock(&lock);
  const int published = rr_trampoline_published_slot(t);
  do {
    mark_for_revocation(t, published);
    /* If the kernel refuses the fence, nothing is taken; the threads find the marks at their next
     * reads, and unpin. */
    if (!rr_fence_heavy()) break;
  } while (take_marked_pins(t, published, &taken));
  pthread_mutex_unlock(&lock);
  return taken;
}

static bool is_pinned(const rr_trampoline *t) {
  for (int slot = 0; slot < RR_TRAMPOLINE_SLOTS; slot++) {
    if (!rr_pins_is_free(t, slot)) return true;
  }
  return false;
}

void rr_readers_revoke_all(rr_trampoline *t) {
  /* A pin that is still kept was stored before the last reference to the trampoline was released,
   * so it is visible here. */
  if (!is_pinned(t)) return;
  pthread_mutex_lock(&lock);
  for (rr_reader *reader = first; reader != NULL; reader = reader->next) {
    uintptr_t kept;
    while (trampoline_of(kept = load_kept(reader, t)) == t) {
      if (try_take_pin(reader, kept)) break;
    }
  }
  pthread_mutex_unlock(&lock);
}
