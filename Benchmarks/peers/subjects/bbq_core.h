#ifndef BBQ_CORE_H
#define BBQ_CORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bbq_core bbq_core;

/* The queue with 1 << LOG blocks, whose number is compiled in. `send` returns how many items there
 * was room for. */
#define BBQ_CORE(LOG)                                                                              \
  bbq_core *bbq_core_create_##LOG(void);                                                           \
  void bbq_core_destroy_##LOG(bbq_core *core);                                                     \
  size_t bbq_core_send_##LOG(bbq_core *core, const uint64_t *items, size_t count);                 \
  size_t bbq_core_receive_##LOG(bbq_core *core, uint64_t *items, size_t most);
BBQ_CORE(4)
BBQ_CORE(6)
BBQ_CORE(8)

#ifdef __cplusplus
}
#endif

#endif
