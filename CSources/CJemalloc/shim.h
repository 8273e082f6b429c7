/* jemalloc: allocator of the executables, and their allocation statistics. */
#include <jemalloc/jemalloc.h>
