/* liburcu, flavour memb: the peer that the benchmark compares the ring with. */
#ifndef CURCU_SHIM_H
#define CURCU_SHIM_H

#include <urcu/urcu-memb.h>
#include <urcu/wfcqueue.h>

#endif
