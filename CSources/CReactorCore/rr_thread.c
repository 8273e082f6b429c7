#include "rr_thread.h"

#include <sys/prctl.h>

void rr_thread_set_name(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
