/*
 * A snapshot that one thread publishes and others read through liburcu (flavour memb), as its users
 * write it: each publication is a node of its own, freed by call_rcu. The read side is liburcu's
 * inlined one (_LGPL_SOURCE); only the copy of the two words is a function call.
 */
#ifndef BL_RCU_H
#define BL_RCU_H

#include <stdbool.h>
#include <stdint.h>

typedef struct bl_rcu bl_rcu;

typedef struct bl_snapshot {
  uint64_t count;
  uint64_t sum;
} bl_snapshot;

/* NULL when memory is short. */
bl_rcu *bl_rcu_create(bl_snapshot first);

/* Waits until all that was published is freed. No other thread may use it any more. */
void bl_rcu_destroy(bl_rcu *rcu);

/* Around a thread's use of the functions below. */
void bl_rcu_enter_thread(void);
void bl_rcu_leave_thread(void);

/* Any thread. */
bl_snapshot bl_rcu_read(const bl_rcu *rcu);

/* One thread; false when memory is short. */
bool bl_rcu_publish(bl_rcu *rcu, bl_snapshot snapshot);

#endif
