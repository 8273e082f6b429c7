/* The 16 bytes that every queue of the benchmark transports. */
#ifndef BL_ITEM_H
#define BL_ITEM_H

#include <stdint.h>

typedef struct bl_item {
  uint64_t producer;
  uint64_t value;
} bl_item;

#endif
