/* liburcu, flavour memb (membarrier): the system library's own headers. */
#include <urcu/urcu-memb.h>
#include <urcu/wfcqueue.h>
