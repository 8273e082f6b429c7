/* rr_trace.h: static tracepoints (USDT) of the reactor runtime, of the provider "reactor".
 *
 * They exist if RR_TRACEPOINTS is defined, which the package trait Tracepoints does; then
 * <sys/sdt.h> (systemtap-sdt-dev) is needed to compile rr_trace.c. Otherwise nothing is defined
 * here and nobody calls it. One that nobody traces is a call of a function with a nop in it.
 *
 *   start       reactor, name of its type      it takes its first action, or is first observed
 *   turn_begin  reactor
 *   turn_end    reactor, actions processed
 *   full        reactor                        a send found no room
 *   close       reactor                        it accepts nothing any more
 *   park        loop                           the loop's thread is about to sleep
 *   wake        loop                           it goes on
 *
 * A reactor is named by the address of its runtime, a loop by that of its state. Any thread.
 */
#ifndef RR_TRACE_H
#define RR_TRACE_H

#include <stdint.h>

void rr_trace_start(uintptr_t reactor, const char *type);
void rr_trace_turn_begin(uintptr_t reactor);
void rr_trace_turn_end(uintptr_t reactor, intptr_t actions);
void rr_trace_full(uintptr_t reactor);
void rr_trace_close(uintptr_t reactor);
void rr_trace_park(uintptr_t loop);
void rr_trace_wake(uintptr_t loop);

#endif
