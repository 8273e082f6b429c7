/* parking.pml: lets threads sleep until a condition is true that other threads make true without a lock.
 * The protocol of rr_eventcount.h, checked for liveness: no wake-up is lost.
 *
 *  here               repeats
 *  ────               ───────
 *  Producer           a notifier: makes the condition true, then rr_eventcount_notify
 *  wake()             rr_eventcount_notify_slow
 *  Sleeper            EventCount.wait: check, prepare, check again, wait
 *  prepare()          rr_eventcount_prepare
 *  heavy_fence()      rr_fence_heavy, by membarrier
 *  light_fence()      rr_fence_light
 *  StoreBuffer        the processor of a producer: its stores reach memory late
 *  Signals            FUTEX_WAIT that returns for no reason, and timeouts, which have the same effect
 *
 * The memory is that of x86 (TSO). A producer's store waits in its store buffer while the producer
 * continues and loads; a read-modify-write empties the buffer first. So the producer may load the word
 * before its publication, which is earlier in the program, has reached memory. Only a fence prevents that:
 * without the heavy fence this model loses a wake-up. What a sleeper stores (that it has taken an item) is
 * visible at once; nothing here depends on that. What the compiler may reorder, and memory weaker than TSO,
 * are not covered.
 *
 * Producers continue forever or stop at any moment, so an item that only the next send would make visible
 * counts as lost. Fairness is weak: a step that stays possible is eventually taken, also by store buffers.
 * Signals may stop; otherwise they would wake a sleeper that no notifier has woken.
 *
 * The epoch is counted modulo EPOCHS, not 2^31. One sleeper needs no more than two epochs: only this
 * sleeper arms, so the epoch changes at most once between its check and its sleep. With several sleepers,
 * one that is delayed until the epoch has come round again misses a wake-up, as rr_eventcount.h says. So
 * with several sleepers the producers send ITEMS each, and EPOCHS is more than the number of all
 * notifications. The run short-epoch of Scripts/spin shows why.
 *
 * Not covered either: DESCRIPTOR (the same word, and an eventfd that stays readable until it is
 * acknowledged), the condition variable of the pure-Swift core, and the order between the
 * items of one producer, which is a property of the rings.
 *
 * -D…   PRODUCERS (1 to 3)   SLEEPERS (1 or 2)   ITEMS (each; else no end)   WINDOW   EPOCHS
 *       SHARED      all sleepers wait for the same condition, not each for its own
 *       SYMMETRIC   no membarrier: full fences on both sides
 *       REFUSED     the kernel may refuse the heavy fence
 * The defects are listed in Scripts/spin.
 */
#ifndef PRODUCERS
#define PRODUCERS 2
#endif
#ifndef SLEEPERS
#define SLEEPERS 1
#endif
#ifndef WINDOW
#define WINDOW 2
#endif
#ifndef EPOCHS
#define EPOCHS 2
#endif
#ifndef WATCHED
#define WATCHED 0
#endif
#ifdef SHARED
#define CONCERNS(p, s) true
#else
#define CONCERNS(p, s) ((p) % SLEEPERS == (s))
#endif

/* The key of another epoch. */
#define NO_KEY 255

/* The epoch, doubled, and in bit 0 whether a thread sleeps or is about to. */
byte word = 0;
/* For each producer: how many of its items are in memory, and how many in its store buffer. */
byte items[PRODUCERS];
byte buffered[PRODUCERS];
bool asleep[SLEEPERS];

/* What no thread can see: how many items were sent and not taken; and a bit that changes when an item is
 * taken. */
byte outstanding[PRODUCERS];
bit taken[PRODUCERS];

inline empty_buffer(p) {
  items[p] = items[p] + buffered[p];
  buffered[p] = 0
}

proctype StoreBuffer(byte p) {
end:
  do
  :: d_step { buffered[p] > 0 -> buffered[p]--; items[p]++ }
  od
}

/* The producer. */

inline light_fence() {
#if defined(SYMMETRIC) && !defined(NO_LIGHT_FENCE)
  d_step { empty_buffer(self) }
#else
  skip
#endif
}

/* FUTEX_WAKE: wakes the sleepers that are in the kernel by now. */
inline futex_wake() {
  d_step {
#if SLEEPERS > 1 && !defined(WAKES_ONE)
    asleep[1] = false;
    asleep[0] = false
#elif SLEEPERS > 1
    if
    :: asleep[1] -> asleep[1] = false
    :: else -> asleep[0] = false
    fi
#else
    asleep[0] = false
#endif
  }
}

#ifdef NO_EPOCH_CHANGE
#define AFTER(seen) ((seen) - 1)
#else
#define AFTER(seen) (((seen) + 1) % (2 * EPOCHS))
#endif

inline wake() {
#ifdef WAKES_BEFORE_CHANGE
  futex_wake();
#endif
  do
  :: (seen & 1) == 0 -> break
  :: else ->
    /* The compare-and-swap. If it fails, it continues with the value that it found. */
    atomic {
      empty_buffer(self);
      if
      :: word == seen -> word = AFTER(seen); won = true
      :: else -> seen = word
      fi
    }
    if
    :: won ->
      won = false;
#ifndef WAKES_BEFORE_CHANGE
      futex_wake();
#endif
      break
    :: else
    fi
  od
}

inline publish() {
  d_step { buffered[self]++; outstanding[self]++ }
}

proctype Producer(byte self) {
  byte seen;
  bool won;
#ifdef ITEMS
  byte left = ITEMS;
#endif
  do
#ifdef ITEMS
  :: left > 0 && outstanding[self] < WINDOW ->
    left--;
#else
  :: outstanding[self] < WINDOW ->
#endif
#ifdef NOTIFIES_TOO_EARLY
    seen = word;
    publish();
#else
    publish();
    light_fence();
    seen = word;
#endif
    wake();
    seen = 0
  :: break
  od
}

/* The sleeper. */

#if PRODUCERS == 1
#define CONDITION (CONCERNS(0, self) && items[0] > 0)
#elif PRODUCERS == 2
#define CONDITION ((CONCERNS(0, self) && items[0] > 0) || (CONCERNS(1, self) && items[1] > 0))
#else
#define CONDITION                                                                                  \
  ((CONCERNS(0, self) && items[0] > 0) || (CONCERNS(1, self) && items[1] > 0) ||                   \
   (CONCERNS(2, self) && items[2] > 0))
#endif

/* Takes one item of each producer: whether a producer's item is taken must not depend on the other
 * producers. */
inline take(p) {
  if
  :: CONCERNS(p, self) && items[p] > 0 ->
    assert(outstanding[p] > 0);
    items[p]--;
    outstanding[p]--;
    taken[p] = 1 - taken[p]
  :: else
  fi
}

/* The kernel interrupts one processor after another. */
inline heavy_fence() {
#if !defined(SYMMETRIC) && !defined(NO_HEAVY_FENCE)
  d_step { empty_buffer(0) };
#if PRODUCERS > 1
  d_step { empty_buffer(1) };
#endif
#if PRODUCERS > 2
  d_step { empty_buffer(2) };
#endif
#endif
  skip
}

inline prepare() {
  d_step { word = word | 1; key = word };
#ifdef REFUSED
  if
  :: heavy_fence()
#ifdef SLEEPS_THOUGH_REFUSED
  :: skip
#else
  :: key = NO_KEY
#endif
  fi
#else
  heavy_fence()
#endif
}

/* FUTEX_WAIT: the comparison and falling asleep are one step. */
inline futex_wait() {
#ifdef NO_COMPARISON
  asleep[self] = true;
#else
  d_step {
    if
    :: word == key -> asleep[self] = true
    :: else
    fi;
    key = 0
  };
#endif
end_asleep:
  !asleep[self]
}

proctype Sleeper(byte self) {
  byte key;
  do
  :: CONDITION ->
    d_step {
      take(0);
#if PRODUCERS > 1
      take(1);
#endif
#if PRODUCERS > 2
      take(2)
#endif
    }
  :: else ->
    prepare();
#ifdef NO_RECHECK
    futex_wait()
#else
    if
    :: CONDITION -> key = 0
    :: else -> futex_wait()
    fi
#endif
  od
}

proctype Signals() {
  do
  :: d_step { asleep[0] -> asleep[0] = false }
#if SLEEPERS > 1
  :: d_step { asleep[1] -> asleep[1] = false }
#endif
  :: break
  od
}

init {
  atomic {
    run Producer(0);
    run StoreBuffer(0);
#if PRODUCERS > 1
    run Producer(1);
    run StoreBuffer(1);
#endif
#if PRODUCERS > 2
    run Producer(2);
    run StoreBuffer(2);
#endif
    run Sleeper(0);
#if SLEEPERS > 1
    run Sleeper(1);
#endif
    run Signals()
  }
}

/* Each item that was sent is taken. Items of one producer are taken one after the other, so none waits
 * forever if the next one does not. */
#define IS_DONE_LATER(p, b) ((outstanding[p] > 0 && taken[p] == b) -> (<> (taken[p] != b)))
ltl taken_at_last { [] (IS_DONE_LATER(WATCHED, 0) && IS_DONE_LATER(WATCHED, 1)) }
