/* loop.h: a loop that serves the mailbox (mailbox.h): who is scheduled, in the order of the
 * scheduling, and the thread or threads that serve. */
#ifndef MODEL_LOOP_H
#define MODEL_LOOP_H

#include "mailbox.h"

/* Puts the mailbox on a loop. */
void loop_make(void);
/* At the end, before the mailbox is finished. */
void loop_finish(void);

/* The thread of a loop, which parks while nobody is scheduled. Until so many were processed. */
void loop_serve(int count);
/* One of two threads, 0 and 1, that run a loop's rounds in turn, and go on with what the other has
 * given back: what has had something to do is served for one more round. Until so many were
 * processed. */
void loop_host(unsigned number, int count);

#endif
