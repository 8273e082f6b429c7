/*
 * A strong reference to a Swift object that one thread exchanges and other threads retain. Swift
 * has no strong reference that is atomic and mutable. A reader must not retain an object that is
 * being released at that moment, so the lowest bit of the word is a spin lock. It is held for the
 * few instructions that load and retain, or exchange, as in libstdc++'s
 * std::atomic<std::shared_ptr>.
 *
 * Written in C because Swift's optimiser would pair the retain with its release and remove both,
 * although the unlock is in between.
 */
#ifndef BL_REFERENCE_H
#define BL_REFERENCE_H

typedef struct bl_reference bl_reference;

/* Takes over a reference that the caller has retained. Returns NULL if there is no memory. */
bl_reference *bl_reference_create(void *object);
/* Releases the object. */
void bl_reference_destroy(bl_reference *reference);

/* Returns the object, retained for the caller. Any thread. */
void *bl_reference_load(bl_reference *reference);

/* Takes over a reference that the caller has retained, and releases the old one. Any thread. */
void bl_reference_exchange(bl_reference *reference, void *object);

/* Releases an object that bl_reference_load() returned. */
void bl_reference_release(void *object);

#endif
