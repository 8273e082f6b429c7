/* rr_main_queue.h: running Dispatch's main queue, as Foundation's run loop does, on the first
 * thread.
 *
 * The two functions of Dispatch behind this are exported for that run loop. They are looked for
 * weakly: who does not link Dispatch, or links one without them, finds that there is no descriptor.
 */
#ifndef RR_MAIN_QUEUE_H
#define RR_MAIN_QUEUE_H

/* Becomes readable when something waits in the main queue. Dispatch's own; -1 if there is none. */
int rr_main_queue_descriptor(void);
/* Makes that unreadable, and runs what waits. The first thread. */
void rr_main_queue_run(void);

#endif
