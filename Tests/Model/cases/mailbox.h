/* mailbox.h: the ownership word with a mailbox: "run here if idle, else hand over". As Runtime does
 * (Sources/ReactorRuntime/Reactor/Runtime+Send.swift, Runtime+Turn.swift,
 * Runtime+Close.swift), with 1 attempt instead of 31 before the heavy fence.
 *
 * There is one mailbox at a time: a case makes it, its threads use it, and the case finishes it.
 */
#ifndef MODEL_MAILBOX_H
#define MODEL_MAILBOX_H

#include "lifecycle.h"

/* Makes a mailbox that is not initialized: the first send initializes it. */
void mailbox_make(void);
/* Makes a mailbox that is initialized and idle. */
void mailbox_make_idle(void);
/* Makes one that is idle, and whose word is light. */
void mailbox_make_light(void);
/* Each of the first `count` items 1x sends item 3x while it is processed. */
void mailbox_resend(uint64_t count);

/* Processes the item here if the mailbox is idle and empty, or else hands it over. Returns RR_OK or
 * RR_CLOSED. */
rr_status mailbox_send(uint64_t item);
/* The same without that fast path, so that claims and ownership meet more often. Returns RR_OK or
 * RR_CLOSED. */
rr_status mailbox_send_through_ring(uint64_t item);
/* The same, but it tries to acquire instead of loading the word first. */
void mailbox_send_and_acquire(uint64_t item);
/* The same; if it cannot acquire, it makes sure that the owner finds the item. */
void mailbox_send_and_acquire_or_rely(uint64_t item);
/* As Runtime.close: refuses later sends, and makes the owner check once more. */
void mailbox_close(closer by);
/* The same of a mailbox that is busy; the thread may stop permanently before it has sealed the
 * mailbox. */
void mailbox_close_fragile(closer by);
/* As Runtime.closeByLoop: refuses later sends, but the mailbox does not end because of it. */
void mailbox_close_by_loop(void);
lifecycle *mailbox_lifecycle(void);
/* At the end: checks that exactly `count` items were processed, each producer's in order, that an
 * item whose send returned before another send began was processed first, and that the mailbox is
 * idle. Then destroys it. */
void mailbox_finish(int count);

/* MARK: for a loop: see loop.h */

/* The thread that schedules calls `submit_to_loop`, which must make a thread call
 * mailbox_acquire_scheduled. */
void mailbox_put_on_loop(void (*submit_to_loop)(void));
/* The same, for a loop that may end while the mailbox is in use. */
void mailbox_put_on_loop_that_ends(void (*submit_to_loop)(void), bool (*has_ended)(void),
                                   void (*when_ended)(void (*action)(void)));
/* Sends from another turn of the loop. Returns RR_OK or RR_CLOSED. The thread that runs the rounds.
 */
rr_status mailbox_send_from_turn(uint64_t item);
void mailbox_acquire_scheduled(void);
/* Returns how many items were processed. The owner. */
int mailbox_turn(void);
/* Returns false if there is more to do; then the thread is still the owner. */
bool mailbox_try_release(void);
/* As Runtime.discardMailbox: takes everything out; while the loop has not ended, only what is in
 * the ring, and the rest after the end. The thread that scheduled, and was refused by the loop. */
void mailbox_discard(void);
/* Returns the ownership to the schedule, for another thread to acquire. The owner. */
void mailbox_reschedule(void);
int mailbox_processed(void);
bool mailbox_is_scheduled(void);

#endif
