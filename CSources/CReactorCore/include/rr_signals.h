/* rr_signals.h: signals as something to read, instead of a handler that interrupts.
 *
 * They are blocked in the calling thread and read there from a signalfd. Other threads may have
 * been started before, and do not block them: to these a handler is given that only passes the
 * signal on to the calling thread. Everything is as before after rr_signals_restore.
 *
 * One thread at a time in the process, and the same one for all calls; it must be the first thread.
 */
#ifndef RR_SIGNALS_H
#define RR_SIGNALS_H

typedef struct rr_signals rr_signals;

/* NULL if a number is no signal that can be caught, if there is no memory, or no descriptor. */
rr_signals *rr_signals_catch(const int *numbers, int count);
/* Becomes readable when one of them came. -1 if the list is empty. */
int rr_signals_descriptor(const rr_signals *signals);
/* The next one that came, or 0. */
int rr_signals_take(rr_signals *signals);
/* What came and was not taken has its usual effect then. NULL is allowed. */
void rr_signals_restore(rr_signals *signals);

#endif
