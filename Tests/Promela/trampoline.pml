/* trampoline.pml: "run here if idle, else hand over". The protocol between the ownership word of
 * rr_trampoline.h, a mailbox and the threads that use them, checked for liveness: every accepted action is
 * eventually processed.
 *
 *  here                 repeats
 *  ────                 ───────
 *  Thread               a thread that sends, Runtime.send; on placement .caller it also runs turns
 *  Loop                 the thread of a loop: OwnedReactors.accept and runTurns, Runtime.tryLeaveLoop
 *  try_initialize()     rr_trampoline_try_initialize, and the publish that ends NEW
 *  try_set_owner()      rr_trampoline_try_acquire, rr_trampoline_try_schedule
 *  release()            rr_trampoline_release
 *  release_after()      rr_trampoline_try_release_lightly or _heavily, with LIGHT; otherwise release()
 *  find_busy()          rr_trampoline_is_busy
 *  claim(), publish()   rr_ring_try_claim, rr_ring_publish
 *  is_empty(), …        Ring.isEmpty, isReady, isHeadPublished
 *  run_turns()          Runtime.runTurns and releaseOrContinue; choose(): Mailbox.drain, drainReentrant
 *  process()            Runtime.process, for an action that may send another one here: enqueueReentrant
 *  try_reacquire()      Runtime.tryReacquire; MEMORY_MODEL.md, "Claim and release"
 *  run_or_schedule()    Runtime.acquireAndRunOrSchedule, with a loop
 *  heavy_fence()        rr_fence_heavy, by membarrier; light_fence(): rr_fence_light
 *  StoreBuffer          the processor of a thread: its stores reach memory late
 *
 * The memory is that of x86 (TSO). A publication waits in the thread's store buffer while the thread
 * continues and loads. A read-modify-write (claim, acquire, release, schedule) empties the buffer first.
 * What an owner stores is in memory once it has released, because of that exchange; so the model stores it
 * there at once. The same holds for SCHEDULED changing into the loop's token
 * (rr_trampoline_acquire_scheduled), because no other thread acts differently between the two. Here a slot
 * is cleared when it is released; in the ring, the words say instead to which lap they belong.
 *
 * Threads continue forever or stop at any moment, so an action that only the next send would make visible
 * counts as lost. Fairness is weak: a step that stays possible is eventually taken, also by store buffers.
 * The owner may release after any action, as at the turn's limit, unless its own actions wait.
 *
 * Checked as well: there is one owner at a time in a turn, no action is processed twice, each sender's
 * order is kept, and what the owner sends to itself is processed before what is claimed later.
 *
 * Not covered: the ring itself (it has room for all actions that may be on their way, so no thread waits
 * for room), batches, abandoned claims, overflow, closing, the snapshot slots and their readers, the loop's
 * own ring and its sleep (a channel here; see parking.pml), loops that are stepped, reactors that nest on
 * one stack, memory weaker than TSO, and what the compiler may reorder.
 *
 * -D…   LOOP           a loop runs the turns; otherwise the thread that sends does (placement .caller)
 *       JOBS           the loop's thread also sends while it does not own the reactor
 *       SYMMETRIC      no membarrier: full fences on both sides
 *       LIGHT          the word becomes light at any release, and heavy at any exchange
 *       NO_FENCES      the pure-Swift core: no fences, the owner waits for a publication
 *       WINDOW         how many actions of thread 0 are on their way at most (2, at most 2)
 *       OTHER_WINDOW   the same for thread 1 (1)
 *       OWN            how many actions the owner has sent to itself at most (1)
 *       WATCHED        the sender whose actions the liveness formula is about
 * The defects are listed in Scripts/spin.
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
/* How many unsuccessful attempts the owner makes before it runs the fence: 32 in the library. More attempts
 * only repeat the same steps. */
#define ATTEMPTS 2

/* Room for all actions that may be on their way, and one slot more, so that full differs from empty. */
#define CURSORS (WINDOW + OTHER_WINDOW + 1)

/* The values of the word: the owner's number, and NEW. */
#define IDLE 0
#define SCHEDULED 7
#define NEW 8
#define TOKEN(thread) ((thread) + 1)

#define EMPTY 255
#define NOTHING 254
#define ACTION(thread, number) (2 * (thread) + (number))
/* The sender number of the actions that the owner sends to itself. */
#define SELF THREADS
#define LOOP_THREAD THREADS

byte word = NEW;
/* The ring. */
byte tail = 0;
byte head = 0;
byte slots[CURSORS] = EMPTY;
/* For each thread: the publication that is not in memory yet. A claim empties the buffer, so there is at
 * most one. */
byte buffered[THREADS + 1] = NOTHING;
byte buffered_cursor[THREADS + 1];
#if defined(RELEASES_BY_STORE) || defined(LIGHT)
#define RELEASES_LATE
bool releasing[THREADS + 1];
#endif
#ifdef LIGHT
/* A bit of the word. */
bool is_light = false;
#endif
/* The owner's queue: the action, and the ring's tail when it was sent. */
chan own = [OWN + CURSORS] of { byte, byte };
#ifdef LOOP
/* The loop's ring. It contains a runtime at most once. */
chan intake = [1] of { bit };
#endif

/* What no thread can see: how many actions were accepted and not processed, the number of the next action
 * to be processed, and of the next one to be sent. Numbers are modulo 2, which is enough to tell one action
 * from the next. Only the watched sender has numbers, which keeps the number of states small. */
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
#ifdef RELEASES_LATE
  if
  :: releasing[t] -> releasing[t] = false; word = IDLE
  :: else
  fi
#endif
}

#ifdef RELEASES_LATE
#define HAS_BUFFERED(t) (buffered[t] != NOTHING || releasing[t])
#else
#define HAS_BUFFERED(t) (buffered[t] != NOTHING)
#endif

proctype StoreBuffer(byte t) {
end:
  do
  :: d_step { HAS_BUFFERED(t) -> empty_buffer(t) }
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

/* A thread finds its own store, also before that is in memory. */
inline see_own_release() {
#ifdef RELEASES_LATE
  if
  :: releasing[self] -> empty_buffer(self)
  :: else
  fi
#else
  skip
#endif
}

inline try_set_owner(state) {
#ifdef TAKES_IN_TWO_STEPS
  got = (word == IDLE);
  if
  :: got -> word = state
  :: else
  fi
#else
  d_step {
    see_own_release();
    if
    :: word == IDLE -> empty_buffer(self); word = state; got = true
    :: else -> got = false
    fi
  }
#endif
}

inline try_initialize() {
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

inline release() {
#ifdef RELEASES_BY_STORE
  releasing[self] = true
#else
  d_step { empty_buffer(self); word = IDLE }
#endif
}

/* The exchange of a release may make the word light, and that of a light word heavy. */
inline release_after() {
#ifdef LIGHT
  if
  :: is_light -> releasing[self] = true
  :: d_step { empty_buffer(self); word = IDLE; is_light = false }
  :: d_step { empty_buffer(self); word = IDLE; is_light = true }
  fi
#else
  release()
#endif
}

#define IS_BUSY (word != IDLE && word != NEW)

inline find_busy() {
#ifdef LIGHT
  /* `seen`: whether the word is light and owned. */
  d_step { see_own_release(); got = IS_BUSY; seen = (got && is_light) };
#ifndef NO_HEAVY_FENCE_AT_SEND
  if
  :: seen -> heavy_fence(); got = IS_BUSY
  :: else
  fi;
#endif
  seen = 0
#else
  got = IS_BUSY
#endif
}

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

/* The two cursors are loaded one after the other. */
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

/* mutate and reduce, in which the reactor may send itself an action. */
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
    /* The actions that were in the queue before go behind it. */
    if
    :: len(own) == 2 -> own ? other, stamp; own ! other, stamp; other = 0; stamp = 0
    :: else
    fi;
#endif
    sent[SELF] = AFTER(SELF, sent[SELF]);
    outstanding[SELF]++
  }
}

/* Whether the first action of the owner's queue comes before the slot at the head. */
#define IS_DUE (len(own) > 0 && stamp == head)

/* Takes the next action, or NOTHING. */
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
#define MAY_RELEASE true
#else
#define MAY_RELEASE (len(own) == 0)
#endif

/* Run by the owner, with or without an action taken already. Afterwards another thread may be the owner. */
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
    :: MAY_RELEASE -> break
    :: true
    fi
  od;
#ifdef CHECKS_BEFORE_RELEASE
  is_empty();
  release();
  if
  :: got -> got = false; goto done
  :: else
  fi;
#else
  release_after();
#endif
#ifdef RELEASES_WITHOUT_CHECK
  goto done;
#endif
  try_reacquire();
done:
  attempts = 0
}

inline try_reacquire() {
  do
  :: true ->
    is_empty();
    if
    :: got -> got = false; break
    :: else
    fi;
    try_set_owner(TOKEN(self));
    if
    :: got -> got = false
    :: else -> break
    fi;
    if
    :: IS_READY -> attempts = 0; goto again
    :: else -> release()
    fi;
#ifdef GIVES_UP_AT_ONCE
    break;
#endif
    if
    :: attempts < ATTEMPTS -> attempts++
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
/* If this thread has initialized the runtime, it releases it at once, so that changes nothing. */
inline run_or_schedule() {
  if
  :: word == NEW ->
    try_initialize();
    if
    :: got -> release()
    :: else
    fi
  :: else
  fi;
  try_set_owner(SCHEDULED);
  if
  :: got ->
    got = false;
    assert(nfull(intake));
    intake ! 1
  :: else
  fi
}
#else
inline acquire_or_initialize() {
  try_set_owner(TOKEN(self));
  if
  :: !got && word == NEW -> try_initialize()
  :: else
  fi
}
#endif

proctype Thread(byte self) {
  byte action = NOTHING;
  byte cursor, seen, attempts, stamp;
#ifdef OWN_NEWEST_FIRST
  byte other;
#endif
  bool got;
  do
  :: outstanding[self] < (self == 0 -> WINDOW : OTHER_WINDOW) ->
    accept(self);
#ifndef LOOP
    acquire_or_initialize();
    if
    :: got ->
      got = false;
#ifndef DOES_NOT_CHECK_FIRST
      if
      :: tail == head -> assert(len(own) == 0)
      /* Other actions were first. */
      :: else -> d_step { own ! action, tail; action = NOTHING }
      fi;
#endif
      goto turns
    :: else
    fi;
#endif
    claim();
#ifdef CHECKS_TOO_EARLY
    got = IS_BUSY;
    publish();
#else
    publish();
    light_fence();
    find_busy();
#endif
    action = NOTHING;
    if
    :: got -> got = false
    :: else ->
#ifdef LOOP
      run_or_schedule()
#else
      /* It is initialized by now. */
      try_set_owner(TOKEN(self));
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
  byte seen, attempts, stamp;
#ifdef OWN_NEWEST_FIRST
  byte other;
#endif
  bool got;
end:
  do
  :: intake ? _ ->
    /* rr_trampoline_acquire_scheduled: a store, since no other thread writes while it is SCHEDULED. */
    d_step { assert(word == SCHEDULED); word = TOKEN(self) };
    run_turns()
#ifdef JOBS
  /* A job, or another reactor's turn, sends: not as the owner, but on the thread that runs the turns. */
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

/* Each accepted action is processed. Actions of one sender are processed one after the other, so none waits
 * forever if the next one does not. */
#define IS_DONE_LATER(t, n) ((outstanding[t] > 0 && expected[t] == n) -> (<> (expected[t] != n)))
ltl processed_at_last { [] (IS_DONE_LATER(WATCHED, 0) && IS_DONE_LATER(WATCHED, 1)) }
