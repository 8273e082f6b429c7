/*
 * The cheapest way to wake a thread: room for one item, a futex, and a consumer that sleeps
 * whenever there is no item. Every item is sent with one FUTEX_WAKE.
 */
#ifndef BL_SLEEPER_H
#define BL_SLEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "bl_item.h"

typedef struct bl_sleeper bl_sleeper;

/* Returns NULL if there is no memory. */
bl_sleeper *bl_sleeper_create(void);
void bl_sleeper_destroy(bl_sleeper *sleeper);

/* One producer. Returns false, and sends nothing, if the item before is still there. */
bool bl_sleeper_send(bl_sleeper *sleeper, bl_item item);

/* One consumer. Returns false if no item came within a second. */
bool bl_sleeper_receive(bl_sleeper *sleeper, bl_item *item);

/* Voluntary context switches of the process so far. Each sleep of a thread is one. */
uint64_t bl_sleeps_of_process(void);

#endif
