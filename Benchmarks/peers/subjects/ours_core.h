#ifndef OURS_CORE_H
#define OURS_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rr_ring rr_ring;

rr_ring *ours_ring_create(uint64_t capacity);
void ours_ring_destroy(rr_ring *ring);
/* All items or none. Any thread. */
bool ours_ring_send(rr_ring *ring, const uint64_t *items, uint64_t count);
/* One consumer. */
size_t ours_ring_receive(rr_ring *ring, uint64_t *items, size_t most);

#ifdef __cplusplus
}
#endif

#endif
