/*
 * A strong reference to a Swift object that one thread exchanges and others retain. Swift has none
 * that is atomic and can change, and a reader must not retain what is just being released; so the
 * lowest bit of the word is a spin lock for the few instructions of loading and retaining, or of
 * exchanging, as in libstdc++'s std::atomic<std::shared_ptr>.
 *
 * In C, since Swift's optimiser pairs a retain with its release and removes both: to it the
 * unlocking in between is no reason not to.
 */
#ifndef BL_REFERENCE_H
#define BL_REFERENCE_H

typedef struct bl_reference bl_reference;

/* NULL when memory is short. Takes a reference over that the caller has retained. */
bl_reference *bl_reference_create(void *object);
/* Releases the object. */
void bl_reference_destroy(bl_reference *reference);

/* The object, retained for the caller. Any thread. */
void *bl_reference_load(bl_reference *reference);

/* Takes over what the caller has retained, and releases what was there. Any thread. */
void bl_reference_exchange(bl_reference *reference, void *object);

/* Any thread that has loaded it. */
void bl_reference_release(void *object);

#endif
