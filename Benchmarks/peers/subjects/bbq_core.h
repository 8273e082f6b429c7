#ifndef BBQ_CORE_H
#define BBQ_CORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bbq_core bbq_core;

bbq_core *bbq_core_create(void);
void bbq_core_destroy(bbq_core *core);
/* Returns how many items there was room for. */
size_t bbq_core_send(bbq_core *core, const uint64_t *items, size_t count);
size_t bbq_core_receive(bbq_core *core, uint64_t *items, size_t most);

#ifdef __cplusplus
}
#endif

#endif
