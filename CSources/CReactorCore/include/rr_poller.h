/* rr_poller.h: what Swift's Glibc module does not offer for waiting on descriptors on Linux: epoll,
 * timerfd, eventfd. Descriptors are non-blocking and closed on exec; who makes one closes it.
 *
 * -1, or false, is failure, and errno says why. Any thread, unless it says otherwise.
 */
#ifndef RR_POLLER_H
#define RR_POLLER_H

#include <stdbool.h>
#include <stdint.h>

enum { RR_POLL_READABLE = 1, RR_POLL_WRITABLE = 2 };

typedef struct rr_poll_event {
  uint64_t tag;
  uint32_t ready; /* RR_POLL_…; both if the other side has hung up or failed */
} rr_poll_event;

/* A set of watched descriptors; readable itself while one of them is ready. */
int rr_poller_create(void);
/* Watches a descriptor that is not watched yet, until it is not ready any more. */
bool rr_poller_add(int poller, int descriptor, uint32_t interest, uint64_t tag);
/* For a descriptor that is watched already. */
bool rr_poller_change(int poller, int descriptor, uint32_t interest, uint64_t tag);
bool rr_poller_remove(int poller, int descriptor);
/* How many of the first `capacity` events are there, waiting at most so long (negative: for ever).
 * 0 also if a signal came. */
int rr_poller_wait(int poller, rr_poll_event *events, int capacity, int timeout_ms);

/* Becomes readable at its deadline. */
int rr_timer_create(void);
/* The deadline on rr_clock_ns; 0 is none, what has passed is at once. */
void rr_timer_set(int timer, int64_t deadline_ns);

/* Becomes readable when signalled. */
int rr_event_create(void);
void rr_event_signal(int event);

/* Makes a timer or an event unreadable again. */
void rr_descriptor_acknowledge(int descriptor);

/* Runs the main queue of Dispatch on the first thread, as Foundation's run loop does. Dispatch
 * exports two functions for that run loop. They are linked weakly, so a process without Dispatch,
 * or with one that lacks them, has no descriptor. */

/* Returns the descriptor that becomes readable when work waits in the main queue, or -1. It belongs
 * to Dispatch. */
int rr_main_queue_descriptor(void);
/* Makes the descriptor unreadable, and runs the work that waits. First thread only. */
void rr_main_queue_run(void);

#endif
