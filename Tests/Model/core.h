/* core.h: what the core's sources need besides their atomic operations, and the state of the
 * process and of its threads that must be reset before each execution. */
#ifndef MODEL_CORE_H
#define MODEL_CORE_H

#include "model.h"

/* core_fence.c: as before the first run of rr_fence_setup(), or as after it. */
void model_fence_reset(bool is_set_up, bool is_symmetric);
/* core_readers.c: the calling thread's habits, and the registry. */
void model_readers_reset(void);
void model_readers_switch(int from, int to);
/* Does what the end of a thread does. */
void model_readers_end_thread(void);
/* Does the same for another thread, from the end of the case. */
void model_readers_end_of(int thread);
/* Whether the pin that this thread keeps is marked as revoked. */
bool model_readers_is_marked(int thread);

int model_mutex_lock(void *which);
int model_mutex_unlock(void *which);
int model_yield(void);

#endif
