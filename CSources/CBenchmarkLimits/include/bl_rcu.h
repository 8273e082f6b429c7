/*
 * A snapshot that one thread publishes and other threads read through liburcu (flavour memb), in
 * the usual way: each publication is a node of its own, freed by call_rcu. The read side is inlined
 * into the reader, as liburcu's licence allows for functions of this size (_LGPL_SOURCE).
 */
#ifndef BL_RCU_H
#define BL_RCU_H

#define _LGPL_SOURCE

#include <stdbool.h>
#include <stdint.h>
#include <urcu/urcu-memb.h>

typedef struct bl_snapshot {
  uint64_t count;
  uint64_t sum;
} bl_snapshot;

typedef struct bl_published {
  bl_snapshot snapshot;
  struct rcu_head head;
} bl_published;

/* Alone in its cache lines. */
typedef struct bl_rcu {
  bl_published *newest;
} bl_rcu;

/* Returns NULL if there is no memory. */
bl_rcu *bl_rcu_create(bl_snapshot first);

/* Waits until all publications are freed. No other thread may use the snapshot any more. */
void bl_rcu_destroy(bl_rcu *rcu);

/* Each thread that calls the functions below calls these two before and after. */
void bl_rcu_enter_thread(void);
void bl_rcu_leave_thread(void);

/* Any thread. */
static inline bl_snapshot bl_rcu_read(const bl_rcu *rcu) {
  urcu_memb_read_lock();
  bl_snapshot snapshot = rcu_dereference(rcu->newest)->snapshot;
  urcu_memb_read_unlock();
  return snapshot;
}

/* One thread. Returns false if there is no memory. */
bool bl_rcu_publish(bl_rcu *rcu, bl_snapshot snapshot);

#endif
