#include "bl_rcu.h"

#include <stdlib.h>

#include "bl_spsc.h" /* BL_LINE */

static void reclaim(struct rcu_head *head) { free(caa_container_of(head, bl_published, head)); }

static bl_published *make(bl_snapshot snapshot) {
  bl_published *made = malloc(sizeof *made);
  if (made != NULL) made->snapshot = snapshot;
  return made;
}

bl_rcu *bl_rcu_create(bl_snapshot first) {
  bl_rcu *rcu = aligned_alloc(BL_LINE, BL_LINE);
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

bool bl_rcu_publish(bl_rcu *rcu, bl_snapshot snapshot) {
  bl_published *made = make(snapshot);
  if (made == NULL) return false;
  bl_published *old = rcu_xchg_pointer(&rcu->newest, made);
  urcu_memb_call_rcu(&old->head, reclaim);
  return true;
}
