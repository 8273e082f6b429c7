/* trampoline.pml: "run here if idle, else hand over". The ownership word of rr_trampoline.h between a
 * mailbox and those who use it, for liveness: every action that was accepted is processed at some time.
 *
 *   here                 mirrors
 *   ────                 ───────
 *   Thread               a thread that sends, RuntimeOn.send; on placement .caller it runs turns, too
 *   Loop                 the thread of a loop: LoopHosting.accept and runTurns, RuntimeOn.leaveLoop
 *   try_start()          rr_trampoline_try_initialize, and the publish that ends NEW
 *   try_take()           rr_trampoline_try_acquire, rr_trampoline_try_schedule
 *   leave()              rr_trampoline_release
 *   claim(), publish()   rr_ring_try_claim, rr_ring_publish
 *   is_empty(), …        RingOn.isEmpty, isReady, wasReady
 *   run_turns()          RuntimeOn.runTurns, turn and finish; choose(): MailboxOn.drain, drainReentrant
 *   process()            RuntimeOn.process, of an action that may send another one here: deliverAsOwner
 *   reenters()           RuntimeOn.reenters; MEMORY_MODEL.md, "Claim and leave"
 *   run_or_schedule()    RuntimeOn.runOrSchedule, of a loop
 *   heavy_fence()        rr_fence_heavy, by membarrier; light_fence(): rr_fence_light
 *   StoreBuffer          the processor of a thread: its stores reach memory late
 *
 * Memory is that of x86 (TSO). A publication waits in the thread's store buffer while the thread goes on
 * and loads; a read-modify-write (claim, enter, schedule, leave) empties the buffer first. What an owner
 * stores is in memory once it has left, by that exchange, so it is stored there at once; and so is SCHEDULED
 * turning into the loop's token (rr_trampoline_acquire_scheduled), between which nobody else makes a difference. A
 * slot is cleared when it is released, where the ring's words say which lap they are of.
 *
 * Threads go on for ever or stop at any moment: an action that only the next send would bring to light is
 * lost. Weak fairness: what can always go on goes on at some time, store buffers too. The owner may leave
 * after any action, as at the turn's limit, unless its own actions wait.
 *
 * Checked besides: one owner at a time in a turn, nothing processed twice, each sender's order, and that what
 * the owner sends itself comes before what is claimed later.
 *
 * Not covered: the ring itself (it has room for all that may be on its way, so nobody waits for room),
 * batches, abandoned claims, overflow, closing, the snapshot slots and their readers, the loop's own ring and
 * its sleep (a channel here; see parking.pml), loops that are stepped, reactors that nest on one stack,
 * memory weaker than TSO, and what the compiler may reorder.
 *
 * -D…   LOOP           turns are run by a loop, else by who sends (placement .caller)
 *       JOBS           the loop's thread also sends while it does not own the reactor
 *       SYMMETRIC      no membarrier: full fences on both sides
 *       NO_FENCES      the pure-Swift core: no fences, the owner waits for a publication
 *       WINDOW         how many actions of thread 0 are on their way at most (2, at most 2)
 *       OTHER_WINDOW   the same of thread 1 (1)
 *       OWN            how many the owner has sent itself (1)
 *       WATCHED        whose actions the liveness is about
 * Defects: see Scripts/spin.
 */
#define THREADS 2
#ifndef WINDOW
#define WINDOW 2
#endif
#ifndef OTHER_WINDOW
#define OTHER_WINDOW 1
#endif
#ifndef OWN
#define OWN 1
#endif
/* Thread 0, or SELF: what the owner sends. Thread 1 is like thread 0. */
#ifndef WATCHED
#define WATCHED 0
#endif
/* How often the owner enters again in vain before it asks for the fence: 32 looks in the library. More of
 * them are repetitions. */
#define LOOKS 2

/* Room for all that may be on its way, and one more, so that full is not empty. */
#define CURSORS (WINDOW + OTHER_WINDOW + 1)

/* The word: the owner's number, and NEW. */
#define IDLE 0
#define SCHEDULED 7
#define NEW 8
#define TOKEN(thread) ((thread) + 1)

#define EMPTY 255
#define NOTHING 254
#define ACTION(thread, number) (2 * (thread) + (number))
/* Who sends what the owner sends. */
#define SELF THREADS
#define LOOP_THREAD THREADS

byte word = NEW;
/* The ring. */
byte tail = 0;
byte head = 0;
byte slots[CURSORS] = EMPTY;
/* Of each thread: the publication that is not in memory yet. A claim empties the buffer, so there is one. */
byte buffered[THREADS + 1] = NOTHING;
byte buffered_cursor[THREADS + 1];
#ifdef LEAVES_BY_STORE
bool leaving[THREADS + 1];
#endif
/* The owner's queue: the action, and the ring's tail when it was sent. */
chan own = [OWN + CURSORS] of { byte, byte };
#ifdef LOOP
/* The loop's ring. A runtime is in it once at most. */
chan intake = [1] of { bit };
#endif

/* What nobody of them can see: how many actions were accepted and not processed, the number of the next one
 * to be processed, and of the next one to be sent. Numbers are modulo 2, which is enough to tell one from
 * the next; and only the watched ones have any, which leaves fewer states. */
#define AFTER(t, number) ((t) == WATCHED -> 1 - (number) : 0)
byte outstanding[THREADS + 1];
bit expected[THREADS + 1];
bit sent[THREADS + 1];
bool in_turn = false;

inline empty_buffer(t) {
  if
  :: buffered[t] != NOTHING ->
    slots[buffered_cursor[t]] = buffered[t];
    buffered[t] = NOTHING;
    buffered_cursor[t] = 0
  :: else
  fi;
#ifdef LEAVES_BY_STORE
  if
  :: leaving[t] -> leaving[t] = false; word = IDLE
  :: else
  fi
#endif
}

#ifdef LEAVES_BY_STORE
#define HOLDS_BACK(t) (buffered[t] != NOTHING || leaving[t])
#else
#define HOLDS_BACK(t) (buffered[t] != NOTHING)
#endif

proctype StoreBuffer(byte t) {
end:
  do
  :: d_step { HOLDS_BACK(t) -> empty_buffer(t) }
  od
}

/* Fences. */

inline light_fence() {
#if defined(SYMMETRIC) && !defined(NO_LIGHT_FENCE)
  d_step { empty_buffer(self) }
#else
  skip
#endif
}

/* The kernel interrupts one processor after another. */
inline heavy_fence() {
#if !defined(SYMMETRIC) && !defined(NO_HEAVY_FENCE)
  d_step { empty_buffer(0) };
  d_step { empty_buffer(1) };
#endif
  skip
}

/* The word. */

inline try_take(state) {
#ifdef TAKES_IN_TWO_STEPS
  got = (word == IDLE);
  if
  :: got -> word = state
  :: else
  fi
#else
  d_step {
    if
    :: word == IDLE -> empty_buffer(self); word = state; got = true
    :: else -> got = false
    fi
  }
#endif
}

inline try_start() {
  d_step {
    if
    :: word == NEW -> empty_buffer(self); word = NEW + TOKEN(self); got = true
    :: else -> got = false
    fi
  };
  if
  :: got -> word = TOKEN(self)
  :: else
  fi
}

inline leave() {
#ifdef LEAVES_BY_STORE
  leaving[self] = true
#else
  d_step { empty_buffer(self); word = IDLE }
#endif
}

#define IS_BUSY (word != IDLE && word != NEW)

/* The ring. */

inline claim() {
  d_step {
    empty_buffer(self);
    cursor = tail;
    tail = (tail + 1) % CURSORS
  }
}

inline publish() {
  d_step {
    buffered[self] = action;
    buffered_cursor[self] = cursor;
    cursor = 0
  }
}

/* The two ends are read one after the other. */
inline is_empty() {
  seen = tail;
  d_step { got = (seen == head); seen = 0 }
}

#define IS_READY (slots[head] != EMPTY)

inline was_ready() {
  seen = head;
  d_step { got = (slots[seen] != EMPTY); seen = 0 }
}

/* Actions. */

inline accept(t) {
  d_step {
    action = ACTION(t, sent[t]);
    sent[t] = AFTER(t, sent[t]);
    outstanding[t]++
  }
}

/* mutate and reduce, in which the reactor may send itself something. */
inline process() {
  d_step {
    assert(!in_turn);
    in_turn = true;
    assert(outstanding[action / 2] > 0);
    assert(expected[action / 2] == action % 2)
  };
progress_processing:
  if
  :: outstanding[SELF] < OWN -> send_self()
  :: true
  fi;
  d_step {
    expected[action / 2] = AFTER(action / 2, expected[action / 2]);
    outstanding[action / 2]--;
    in_turn = false;
    action = NOTHING
  }
}

inline send_self() {
  d_step {
    own ! ACTION(SELF, sent[SELF]), tail;
#ifdef OWN_NEWEST_FIRST
    /* Those that were there go behind it. */
    if
    :: len(own) == 2 -> own ? other, stamp; own ! other, stamp; other = 0; stamp = 0
    :: else
    fi;
#endif
    sent[SELF] = AFTER(SELF, sent[SELF]);
    outstanding[SELF]++
  }
}

/* Whether the first of the owner's queue stands before the slot at the head. */
#define IS_DUE (len(own) > 0 && stamp == head)

/* What comes next, or NOTHING. */
inline choose() {
  d_step {
    if
    :: len(own) > 0 -> own ? <action, stamp>
    :: else
    fi;
    action = NOTHING;
    if
#ifdef OWN_LAST
    :: IS_DUE && !IS_READY -> own ? action, stamp
    :: IS_READY ->
#else
    :: IS_DUE -> own ? action, stamp
    :: !IS_DUE && IS_READY ->
#endif
      assert(!IS_DUE);
      action = slots[head];
      slots[head] = EMPTY;
      head = (head + 1) % CURSORS
    :: else
    fi;
    stamp = 0
  }
}

#ifdef FORGETS_OWN
#define MAY_LEAVE true
#else
#define MAY_LEAVE (len(own) == 0)
#endif

/* The owner, with an action at hand or without; afterwards somebody else may be the owner. */
inline run_turns() {
again:
  do
  :: action == NOTHING ->
    choose();
    if
    :: action == NOTHING -> break
    :: else
    fi
  :: else ->
    process();
    if
    :: MAY_LEAVE -> break
    :: true
    fi
  od;
#ifdef LOOKS_BEFORE_LEAVING
  is_empty();
  leave();
  if
  :: got -> got = false; goto done
  :: else
  fi;
#else
  leave();
#endif
#ifdef LEAVES_WITHOUT_LOOK
  goto done;
#endif
  reenters();
done:
  looks = 0
}

inline reenters() {
  do
  :: true ->
    is_empty();
    if
    :: got -> got = false; break
    :: else
    fi;
    try_take(TOKEN(self));
    if
    :: got -> got = false
    :: else -> break
    fi;
    if
    :: IS_READY -> looks = 0; goto again
    :: else -> leave()
    fi;
#ifdef GIVES_UP_AT_ONCE
    break;
#endif
    if
    :: looks < LOOKS -> looks++
    :: else ->
#ifndef NO_FENCES
      heavy_fence();
      was_ready();
      if
      :: got -> got = false
      :: else -> break
      fi
#elif defined(DOES_NOT_WAIT)
      break
#else
      skip
#endif
    fi
  od
}

#ifdef LOOP
/* Whether a runtime was started here does not matter: it is left at once. */
inline run_or_schedule() {
  if
  :: word == NEW ->
    try_start();
    if
    :: got -> leave()
    :: else
    fi
  :: else
  fi;
  try_take(SCHEDULED);
  if
  :: got ->
    got = false;
    assert(nfull(intake));
    intake ! 1
  :: else
  fi
}
#else
inline enter_or_start() {
  try_take(TOKEN(self));
  if
  :: !got && word == NEW -> try_start()
  :: else
  fi
}
#endif

proctype Thread(byte self) {
  byte action = NOTHING;
  byte cursor, seen, looks, stamp;
#ifdef OWN_NEWEST_FIRST
  byte other;
#endif
  bool got;
  do
  :: outstanding[self] < (self == 0 -> WINDOW : OTHER_WINDOW) ->
    accept(self);
#ifndef LOOP
    enter_or_start();
    if
    :: got ->
      got = false;
#ifndef DOES_NOT_LOOK_FIRST
      if
      :: tail == head -> assert(len(own) == 0)
      /* Others were first. */
      :: else -> d_step { own ! action, tail; action = NOTHING }
      fi;
#endif
      goto turns
    :: else
    fi;
#endif
    claim();
#ifdef LOOKS_TOO_EARLY
    got = IS_BUSY;
    publish();
#else
    publish();
    light_fence();
    got = IS_BUSY;
#endif
    action = NOTHING;
    if
    :: got -> got = false
    :: else ->
#ifdef LOOP
      run_or_schedule()
#else
      /* Started it is by now. */
      try_take(TOKEN(self));
      if
      :: got -> got = false; goto turns
      :: else
      fi
#endif
    fi;
    goto sent_it;
#ifndef LOOP
turns:
    run_turns();
#endif
sent_it:
    skip
  :: break
  od
}

#ifdef LOOP
proctype Loop() {
  byte self = LOOP_THREAD;
  byte action = NOTHING;
  byte seen, looks, stamp;
#ifdef OWN_NEWEST_FIRST
  byte other;
#endif
  bool got;
end:
  do
  :: intake ? _ ->
    /* rr_trampoline_acquire_scheduled: a store, since nobody else writes SCHEDULED. */
    d_step { assert(word == SCHEDULED); word = TOKEN(self) };
    run_turns()
#ifdef JOBS
  /* A job, or another reactor's turn, sends: not the owner, but the thread that runs the turns. */
  :: outstanding[SELF] < OWN ->
    send_self();
    if
    :: IS_BUSY
    :: else -> run_or_schedule()
    fi
#endif
  od
}
#endif

init {
  atomic {
    run Thread(0);
    run StoreBuffer(0);
    run Thread(1);
    run StoreBuffer(1);
#ifdef LOOP
    run Loop();
#endif
  }
}

/* Each action that was accepted is processed. Those of one sender are processed one after the other, so none
 * waits for ever if the next one does not. */
#define LEAVES(t, n) ((outstanding[t] > 0 && expected[t] == n) -> (<> (expected[t] != n)))
ltl processed_at_last { [] (LEAVES(WATCHED, 0) && LEAVES(WATCHED, 1)) }
