/* rr_poller.h: the functions for waiting on descriptors on Linux that Swift's Glibc module does not
 * offer: epoll, timerfd, eventfd, and the main queue of Dispatch. Descriptors are non-blocking and
 * closed on exec; the caller that creates one closes it.
 *
 * -1 or false is a failure, and errno says why. Any thread, unless documented otherwise.
 */
#ifndef RR_POLLER_H
#define RR_POLLER_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { RR_POLL_READABLE = 1, RR_POLL_WRITABLE = 2 };

typedef struct rr_poll_event {
  uint64_t tag;
  uint32_t ready; /* RR_POLL_…; both flags if the other side has hung up or failed */
} rr_poll_event;

/* Creates a set of watched descriptors. The set's own descriptor is readable while one of them is
 * ready. */
int rr_poller_create(void);
/* Watches a descriptor that is not watched yet. Level-triggered: the descriptor is reported until
 * it is no longer ready. */
bool rr_poller_add(int poller, int descriptor, uint32_t interest, uint64_t tag);
/* Changes the interest or the tag of a watched descriptor. */
bool rr_poller_change(int poller, int descriptor, uint32_t interest, uint64_t tag);
bool rr_poller_remove(int poller, int descriptor);
/* Waits at most `timeout_ms` (negative: forever) and writes at most `capacity` events. Returns
 * their number; 0 also if a signal interrupted the wait. */
int rr_poller_wait(int poller, rr_poll_event *events, int capacity, int timeout_ms);

/* Creates a descriptor that becomes readable at its deadline. */
int rr_timer_create(void);
/* Sets the deadline, as a time of rr_clock_ns. 0 removes it; a deadline in the past expires at
 * once. */
void rr_timer_set(int timer, int64_t deadline_ns);

/* Creates a descriptor that becomes readable when it is signalled. */
int rr_event_create(void);
void rr_event_signal(int event);

/* Makes a timer or an event unreadable again. */
void rr_descriptor_acknowledge(int descriptor);
/* Closes a descriptor that one of these functions made. */
void rr_descriptor_close(int descriptor);

/* Runs the main queue of Dispatch on the first thread, as Foundation's run loop does. Dispatch
 * exports two functions for that run loop. They are linked weakly, so a process without Dispatch,
 * or with one that lacks them, has no descriptor. */

/* Returns the descriptor that becomes readable when work waits in the main queue, or -1. It belongs
 * to Dispatch. */
int rr_main_queue_descriptor(void);
/* Makes the descriptor unreadable, and runs the work that waits. First thread only. */
void rr_main_queue_run(void);

#ifdef __cplusplus
}
#endif

#endif
