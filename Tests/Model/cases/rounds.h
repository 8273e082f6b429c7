/* rounds.h: a loop that is closed: its inbox, the rounds that run what comes, and its end. As
 * LoopState, LoopInbox, LoopRounds and LoopStepper do (Sources/ReactorRuntime/Placement/Rounds),
 * with a turn limit of one: each round runs one of the items that were taken in.
 *
 * An item is a reactor that is handed to the loop for one turn, or a job. There is one loop at a
 * time: a case makes it, its threads use it, and the case finishes it. (loop.h is a loop that is
 * never closed, and runs a mailbox.)
 */
#ifndef MODEL_ROUNDS_H
#define MODEL_ROUNDS_H

#include "loop_lifecycle.h"

/* Makes a loop. Its inbox has a ring of `capacity` slots. Each item that is accepted is passed to
 * `run`, in a turn or a job of the loop. */
void rounds_make(uint64_t capacity, void (*run)(uint64_t item));
/* At the end: checks that the loop was sealed once and has ended once, that nothing was left in it,
 * and that it refuses everything. Then destroys it. */
void rounds_finish(void);

/* MARK: any thread */

/* As LoopState.submit, for a reactor that another thread has scheduled. Returns false once the loop
 * is closed. */
bool rounds_submit(uint64_t item);
/* As Loop.execute, for a job from outside. Returns false once the loop is closed. */
bool rounds_post(uint64_t item);
/* As LoopState.post, for a piece of a task. Returns false once the loop is sealed: the item must be
 * run after the end. */
bool rounds_post_piece(uint64_t item);
/* As LoopState.close. */
void rounds_close(void);
/* The same; the thread may stop permanently before it has closed the inbox. */
void rounds_close_fragile(void);

bool rounds_is_closed(void);
bool rounds_has_ended(void);
/* As LoopState.whenEnded. */
void rounds_when_ended(void (*action)(void));
/* As LoopLifecycle.wait: runs `action` once the actions for the end have returned. */
void rounds_when_completed(void (*action)(void));
/* What the turns have written: how many items they have run. Only the thread that runs the rounds
 * may read it, and any thread that knows that the loop has ended. */
int rounds_count(void);

/* MARK: in a turn or a job of the loop */

/* As LoopState.runsTurnsHere: whether the calling thread is in a round of the loop, which has not
 * ended. */
bool rounds_is_current(void);

/* As LoopState.submit, for a reactor that a turn has scheduled. */
void rounds_submit_from_turn(uint64_t item);
/* As Loop.execute, for a job that a turn or a job posts. Returns false once the loop is sealed. */
bool rounds_post_from_turn(uint64_t item);

/* MARK: the threads that run the rounds */

/* As LoopState.run: the loop's own thread. It parks while nothing is there, and returns when the
 * loop has ended. */
void rounds_run(void);
/* As LoopStepper.shutdown, of a loop without a thread: closes it and runs rounds until it has
 * ended. Several threads may do so at the same time. */
void rounds_shut_down(void);
/* As LoopStepper.step, of a loop without a thread; the thread may stop permanently after the round,
 * before it ends the loop. */
void rounds_step_fragile(void);
/* As HostedLoop.run, called by a foreign loop whenever the descriptor is readable; here the foreign
 * loop sleeps on the futex. Returns when the loop has ended. */
void rounds_host(void);

#endif
