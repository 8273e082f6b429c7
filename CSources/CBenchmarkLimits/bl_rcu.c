/* The read side is inlined, as liburcu's licence allows for functions of this size. */
#define _LGPL_SOURCE

#include "bl_rcu.h"

#include <stdlib.h>
#include <urcu/urcu-memb.h>

#include "bl_spsc.h" /* BL_LINE */

typedef struct published {
  bl_snapshot snapshot;
  struct rcu_head head;
} published;

struct bl_rcu {
  _Alignas(BL_LINE) published *newest;
};

static void reclaim(struct rcu_head *head) { free(caa_container_of(head, published, head)); }

static published *make(bl_snapshot snapshot) {
  published *made = malloc(sizeof *made);
  if (made != NULL) made->snapshot = snapshot;
  return made;
}

bl_rcu *bl_rcu_create(bl_snapshot first) {
  bl_rcu *rcu = aligned_alloc(BL_LINE, sizeof *rcu);
  if (rcu == NULL) return NULL;
  rcu->newest = make(first);
  if (rcu->newest != NULL) return rcu;
  free(rcu);
  return NULL;
}

void bl_rcu_destroy(bl_rcu *rcu) {
  urcu_memb_barrier();
  free(rcu->newest);
  free(rcu);
}

void bl_rcu_enter_thread(void) { urcu_memb_register_thread(); }

void bl_rcu_leave_thread(void) { urcu_memb_unregister_thread(); }

bl_snapshot bl_rcu_read(const bl_rcu *rcu) {
  urcu_memb_read_lock();
  bl_snapshot snapshot = rcu_dereference(rcu->newest)->snapshot;
  urcu_memb_read_unlock();
  return snapshot;
}

bool bl_rcu_publish(bl_rcu *rcu, bl_snapshot snapshot) {
  published *made = make(snapshot);
  if (made == NULL) return false;
  published *old = rcu_xchg_pointer(&rcu->newest, made);
  urcu_memb_call_rcu(&old->head, reclaim);
  return true;
}
