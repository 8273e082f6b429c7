/* loop.h: a loop that runs the mailbox (mailbox.h): the queue of schedules, in their order, and the
 * thread or threads that run them. */
#ifndef MODEL_LOOP_H
#define MODEL_LOOP_H

#include "mailbox.h"

/* Puts the mailbox on a loop. */
void loop_make(void);
/* Called at the end, before the mailbox is finished. */
void loop_finish(void);

/* The thread of a loop. It parks while nothing is scheduled, and returns after `count` items were
 * processed. */
void loop_serve(int count);
/* One of two threads, 0 and 1, that run the rounds of a loop in turn. Each continues with what the
 * other has returned to the schedule; a reactor that had something to do is run for one more round.
 * Returns after `count` items were processed. */
void loop_host(unsigned number, int count);

#endif
