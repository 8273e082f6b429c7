/* rr_signals.h: receives signals from a descriptor instead of in a handler that interrupts.
 *
 * The signals are blocked in the calling thread, which reads them from a signalfd. Threads that
 * were started before do not block them; for these threads a handler is installed that only
 * forwards the signal to the calling thread. rr_signals_restore undoes everything.
 *
 * One thread at a time in the process, and the same thread for all calls, which must not end before
 * it has restored.
 */
#ifndef RR_SIGNALS_H
#define RR_SIGNALS_H

typedef struct rr_signals rr_signals;

/* Returns NULL if a number is not a signal that can be caught, or if there is no memory or no
 * descriptor. */
rr_signals *rr_signals_catch(const int *numbers, int count);
/* The descriptor that becomes readable when one of the signals arrives. -1 if the list is empty. */
int rr_signals_descriptor(const rr_signals *signals);
/* Returns the number of the next signal that arrived, or 0. */
int rr_signals_take(rr_signals *signals);
/* Restores the handlers and the signal mask. Signals that arrived and were not taken have their
 * usual effect then. NULL is allowed. */
void rr_signals_restore(rr_signals *signals);

#endif
