/*
 * The least that can wake a thread: one place for an item, a futex, and a consumer that sleeps
 * whenever the place is empty. Every item is sent with one FUTEX_WAKE.
 */
#ifndef BL_SLEEPER_H
#define BL_SLEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "bl_item.h"

typedef struct bl_sleeper bl_sleeper;

/* NULL when memory is short. */
bl_sleeper *bl_sleeper_create(void);
void bl_sleeper_destroy(bl_sleeper *sleeper);

/* One producer; false, with nothing sent, if the item before is still there. */
bool bl_sleeper_send(bl_sleeper *sleeper, bl_item item);

/* One consumer; false if nothing came within a second. */
bool bl_sleeper_receive(bl_sleeper *sleeper, bl_item *item);

/* Voluntary context switches of the process so far: each sleep of each of its threads is one. */
uint64_t bl_sleeps_of_process(void);

#endif
