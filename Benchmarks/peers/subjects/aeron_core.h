#ifndef AERON_CORE_H
#define AERON_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct aeron_core aeron_core;

aeron_core *aeron_core_create(unsigned capacity);
void aeron_core_destroy(aeron_core *core);
bool aeron_core_send(aeron_core *core, uint64_t item);
size_t aeron_core_receive(aeron_core *core, uint64_t *items, size_t most);

#ifdef __cplusplus
}
#endif

#endif
