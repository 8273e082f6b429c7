// A disk in memory below SQLite, for tests: its calls can fail, and its power can be cut.
//
// What a program writes is lost by a power cut unless the file was synchronised afterwards: of the
// writes since then any may have reached the disk, in part or not at all, in any order. A new file
// is there for sure after its first synchronisation, and a deleted one is gone for sure if SQLite
// asked for the folder to be synchronised.
//
// It has no folders: only the last part of a path counts.
//
// A disk is for one thread at a time. Each has a VFS of its own, so tests can run side by side.
#ifndef SIMULATED_DISK_H
#define SIMULATED_DISK_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sd_disk sd_disk;

// What a call that fails does.
typedef enum {
  SD_ERROR,      // returns EIO, and has no effect
  SD_FULL,       // a write finds no space, and has no effect; other calls fail as with SD_ERROR
  SD_SHORT,      // a write finds space for a half of its bytes; other calls fail as with SD_ERROR
  SD_QUOTA,      // a write exceeds a quota by a half of its bytes; other calls as SD_ERROR
  SD_ERROR_LATE, // has its effect, and returns EIO nevertheless; a sync loses what it should write
  SD_POWER_CUT,  // this and all later calls fail, and have no effect
} sd_fault;

// An empty disk, whose VFS has this name until it is freed. Null if memory is short.
sd_disk *sd_create(const char *name);
void sd_free(sd_disk *disk);

// How many calls there were: opening, reading, writing, truncating, synchronising, deleting, asking
// for a size.
uint64_t sd_calls(const sd_disk *disk);

// Lets the call with this number fail, counted from 0; and that one only, but for SD_POWER_CUT.
void sd_fail_at(sd_disk *disk, uint64_t call, sd_fault fault);

// Lets each read fail with EIO that needs one of these bytes of a file, and no other read any
// longer. The name is the last part of the file's path.
void sd_damage(sd_disk *disk, const char *name, uint64_t offset, uint64_t size);

// How many bytes a file has.
uint64_t sd_size(sd_disk *disk, const char *name);

// Copies bytes of a file that are not beyond its end.
void sd_copy(sd_disk *disk, const char *name, uint64_t offset, void *into, uint64_t size);

// Calls `function` before each synchronisation of a file; null for nothing. It may wait: then the
// file is not synchronised.
void sd_before_sync(sd_disk *disk, void (*function)(void *context), void *context);

// Limits the bytes of all files; writes beyond fail as those to a full disk do.
void sd_set_capacity(sd_disk *disk, uint64_t bytes);

// How many changes no synchronisation has followed.
uint32_t sd_unsynced(const sd_disk *disk);

// The disk after its power was cut: a new one with this name. `parts` says for each unsynced
// change, in their order, what is left of it: 0 nothing, 1 all, otherwise the sectors of 512 bytes
// whose bits are 1, counted from bit 1 and again from there after 31 of them.
sd_disk *sd_after_power_cut(const sd_disk *disk, const char *name, const uint32_t *parts);

#endif
