/* mailbox.h: the ownership word with a mailbox: "run here if idle, else hand over". As RuntimeOn
 * does (Sources/ReactorRuntime/Reactor/Runtime+Send.swift, Runtime+Turn.swift,
 * Runtime+LoopHosted.swift), with 1 look for its 31 before the heavy fence.
 *
 * There is one at a time: a case makes it, its threads use it, and it is finished. */
#ifndef MODEL_MAILBOX_H
#define MODEL_MAILBOX_H

#include "cases.h"

/* Not yet started: the first one who sends starts it. */
void mailbox_make(void);
/* Started, and idle. */
void mailbox_make_idle(void);
/* The first so many items 1x send item 3x from inside. */
void mailbox_resend(uint64_t count);

/* Processes it here if nobody is there and nothing waits, or else hands it over. RR_OK, or
 * RR_CLOSED. */
rr_status mailbox_send(uint64_t item);
/* Past that shortest way, so that claims and ownership meet more often. RR_OK, or RR_CLOSED. */
rr_status mailbox_send_through_ring(uint64_t item);
/* As that, but the look is the attempt to enter. */
void mailbox_send_and_enter(uint64_t item);
/* As RuntimeOn.close: refuses what comes, and makes the owner look once more. */
void mailbox_close(void);
/* The owner found it closed, and nothing left to do. */
bool mailbox_has_ended(void);
/* At the end. Just so many were processed, each producer's in order, and what was sent before
 * another one's sending began, before it; nobody is there. Destroys all. */
void mailbox_finish(int count);

/* MARK: for a loop: see loop.h */

/* Who takes the schedule calls that, which must see to it that somebody begins. */
void mailbox_put_on_loop(void (*submit_to_loop)(void));
void mailbox_begin(void);
/* How many were processed. The owner. */
int mailbox_turn(void);
/* False if there is more to do, and the thread is still the owner. */
bool mailbox_leave(void);
/* To the schedule, for another thread to begin. The owner. */
void mailbox_give_back(void);
int mailbox_processed(void);
bool mailbox_is_scheduled(void);

#endif
