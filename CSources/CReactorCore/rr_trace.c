#include "rr_trace.h"

#ifdef RR_TRACEPOINTS

#include <sys/sdt.h>

void rr_trace_start(uintptr_t reactor, const char *type) {
  STAP_PROBE2(reactor, start, reactor, type);
}

void rr_trace_turn_begin(uintptr_t reactor) { STAP_PROBE1(reactor, turn_begin, reactor); }

void rr_trace_turn_end(uintptr_t reactor, intptr_t actions) {
  STAP_PROBE2(reactor, turn_end, reactor, actions);
}

void rr_trace_full(uintptr_t reactor) { STAP_PROBE1(reactor, full, reactor); }

void rr_trace_close(uintptr_t reactor) { STAP_PROBE1(reactor, close, reactor); }

void rr_trace_park(uintptr_t loop) { STAP_PROBE1(reactor, park, loop); }

void rr_trace_wake(uintptr_t loop) { STAP_PROBE1(reactor, wake, loop); }

#endif
