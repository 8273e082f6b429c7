/* rr_signals.h: receives signals from a descriptor instead of in a handler that interrupts.
 *
 * The signals are blocked in the calling thread, which reads them from a signalfd. Threads that
 * were started before do not block them; for these threads a handler is installed that only
 * forwards the signal to the calling thread. rr_signals_restore restores the handlers and the mask
 * of that thread. Threads, and programs beyond exec, that it has started meanwhile have inherited
 * its mask and keep it: so it should be a thread that does nothing else.
 *
 * One thread at a time in the process, and the same thread for all calls, which must not end before
 * it has restored.
 */
#ifndef RR_SIGNALS_H
#define RR_SIGNALS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rr_signals rr_signals;

/* Returns NULL if a number is not a signal that can be caught (then errno is EINVAL), or if there
 * is no memory (ENOMEM) or no descriptor. */
rr_signals *rr_signals_catch(const int *numbers, int count);
/* The descriptor that becomes readable when one of the signals arrives. -1 if the list is empty. */
int rr_signals_descriptor(const rr_signals *signals);
/* Returns the number of the next signal that arrived, or 0. */
int rr_signals_take(rr_signals *signals);
/* Restores the handlers and the thread's signal mask. Signals that arrived and were not taken have
 * their usual effect then. NULL is allowed. */
void rr_signals_restore(rr_signals *signals);

#ifdef __cplusplus
}
#endif

#endif
