/* core.h: what the sources of the core need besides their atomic operations, and what belongs to
 * the process or the thread in them and must be as new in each execution. */
#ifndef MODEL_CORE_H
#define MODEL_CORE_H

#include "model.h"

/* core_fence.c: before the first execution of rr_fence_setup(), or after it. */
void model_fence_reset(bool is_set_up, bool is_symmetric);
/* core_readers.c: the calling thread's habits, and the registry. */
void model_readers_reset(void);
void model_readers_switch(int from, int to);
/* As the end of a thread does. */
void model_readers_end_thread(void);
/* As the end of another thread, from the end of the case. */
void model_readers_end_of(int thread);
/* Whether that thread's pin is kept, and marked as revoked. */
bool model_readers_is_marked(int thread);

int model_mutex_lock(void *which);
int model_mutex_unlock(void *which);
int model_yield(void);

#endif
