/* chain.h: a mailbox's ring that grows: stages, closed in order to put a larger one behind. As
 * GrowingRing does (Sources/ReactorRuntime/Mailbox/GrowingRing.swift), each twice as large as the
 * one before.
 *
 * There is one at a time: a case makes it, its threads use it, and it is freed. */
#ifndef MODEL_CHAIN_H
#define MODEL_CHAIN_H

#include "cases.h"

/* Without a stage yet; the first one will be of that capacity, the last one of the other. */
void chain_make(uint64_t first, uint64_t most);
/* At the end. */
void chain_free(void);

/* MARK: any thread */

/* RR_OK, RR_FULL, RR_CLOSED or RR_OUT_OF_MEMORY. */
rr_status chain_offer(uint64_t item);
void chain_close(void);
/* Whether nothing is accepted any more. */
bool chain_was_sealed(void);
uint64_t chain_tail(void);
/* Nothing is inside or on its way in. */
bool chain_is_empty(void);
/* If it is full: the cursors of the oldest item and of the next one. */
bool chain_was_full(uint64_t *head, uint64_t *tail);

/* MARK: the consumer */

uint64_t chain_head(void);
bool chain_is_ready(void);
/* Calls `body` with what is there, unless `look` answers false; how many that were. */
int chain_drain(bool (*look)(void), void (*body)(uint64_t item, uint64_t cursor));

#endif
