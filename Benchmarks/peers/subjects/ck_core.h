#ifndef CK_CORE_H
#define CK_CORE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ck_core ck_core;

ck_core *ck_core_create(unsigned capacity);
void ck_core_destroy(ck_core *core);
bool ck_core_send(ck_core *core, uint64_t item);
bool ck_core_receive(ck_core *core, uint64_t *item);

#ifdef __cplusplus
}
#endif

#endif
