/* rr_thread.h: the calling thread's name, which Swift's Glibc module does not offer. */
#ifndef RR_THREAD_H
#define RR_THREAD_H

/* Names the calling thread; the kernel keeps the first 15 bytes. */
void rr_thread_set_name(const char *name);

#endif
