/* controlled_platform.h: lets the C core call the system under control of the scheduler: futex and
 * membarrier. It is enough to link this, since a constructor replaces rr_platform_in_use. The clock
 * and mutexes, which not only the core uses, are replaced in the scheduler itself. */
