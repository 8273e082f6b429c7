/* chain.h: the ring of a mailbox that grows. It consists of segments; a segment is closed in order
 * to put a larger one behind it. As GrowingRing does
 * (Sources/ReactorRuntime/Mailbox/GrowingRing.swift), with segments that are each twice as large as
 * the one before.
 *
 * There is one chain at a time: a case makes it, its threads use it, and the case frees it.
 */
#ifndef MODEL_CHAIN_H
#define MODEL_CHAIN_H

#include "lifecycle.h"

/* Makes a chain without segments. `first` is the capacity of the first segment, `most` that of the
 * last. */
void chain_make(uint64_t first, uint64_t most);
/* Called at the end. */
void chain_free(void);

/* MARK: any thread */

/* Sends an item. Returns RR_OK, RR_FULL, RR_CLOSED or RR_OUT_OF_MEMORY. */
rr_status chain_offer(uint64_t item);
/* As Runtime.beginClosing and Runtime.closeByLoop, without what follows: this makes nobody check.
 */
void chain_close(closer by);
/* As GrowingRing.seal. */
void chain_seal(void);
lifecycle *chain_lifecycle(void);
uint64_t chain_tail(void);
/* Whether no item is inside or claimed. */
bool chain_is_empty(void);
/* Returns whether the chain is full, with the cursors of the oldest item and of the next one. */
bool chain_was_full(uint64_t *head, uint64_t *tail);

/* MARK: the consumer */

uint64_t chain_head(void);
bool chain_is_ready(void);
/* Calls `check` first, and stops if it returns false. Then calls `body` with each item that is
 * ready, until `condition` returns false for the cursor of the next one. Returns the number of
 * items. */
int chain_drain(bool (*check)(void), bool (*condition)(uint64_t cursor),
                void (*body)(uint64_t item, uint64_t cursor));
/* A condition that stops at no item. */
bool chain_any(uint64_t cursor);

#endif
