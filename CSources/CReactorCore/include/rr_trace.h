/* rr_trace.h: static tracepoints (USDT) of the reactor runtime, of the provider "reactor".
 *
 * They exist if RR_TRACEPOINTS is defined, which the package trait Tracepoints does. Then
 * rr_trace.c needs <sys/sdt.h> (systemtap-sdt-dev). Otherwise these functions are not defined, and
 * no caller is compiled. A tracepoint that is not traced costs a call of a function that contains a
 * nop.
 *
 *  start       reactor, name of its type      it takes its first action, or is first observed
 *  turn_begin  reactor
 *  turn_end    reactor, actions processed
 *  full        reactor                        a send found no room
 *  close       reactor                        it accepts no more actions
 *  park        loop                           the loop's thread is about to sleep
 *  wake        loop                           the loop's thread continues
 *
 * A reactor is identified by the address of its runtime, a loop by the address of its state. Any
 * thread.
 */
#ifndef RR_TRACE_H
#define RR_TRACE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void rr_trace_start(uintptr_t reactor, const char *type);
void rr_trace_turn_begin(uintptr_t reactor);
void rr_trace_turn_end(uintptr_t reactor, intptr_t actions);
void rr_trace_full(uintptr_t reactor);
void rr_trace_close(uintptr_t reactor);
void rr_trace_park(uintptr_t loop);
void rr_trace_wake(uintptr_t loop);

#ifdef __cplusplus
}
#endif

#endif
