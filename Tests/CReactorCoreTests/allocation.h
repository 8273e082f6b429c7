/* allocation.h: counts the allocations of the code under test, and fails one on demand.
 *
 * The program is linked with -Wl,--wrap=aligned_alloc and so on for each of them, so that
 * every call in the C core comes here first. */
#ifndef ALLOCATION_H
#define ALLOCATION_H

/* Lets `count` allocations succeed and fails the one after; negative: none fails. */
void fail_allocation_after(int count);
/* Blocks that were allocated and not freed. */
long allocations_alive(void);

#endif
