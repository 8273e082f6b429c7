#include "simulated_disk.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILES = 4, SECTOR = 512 };

// The contents of a file; none if it does not exist.
typedef struct {
  bool exists;
  uint8_t *bytes;
  uint64_t size;
} contents;

typedef struct {
  char *name;
  contents now;
  contents durable;
} file;

typedef enum { CREATED, WRITTEN, TRUNCATED, DELETED } change_kind;

// What was done to a file since it was synchronised.
typedef struct {
  change_kind kind;
  int file;
  uint64_t offset;
  uint64_t size;
  uint8_t *bytes;
} change;

struct sd_disk {
  sqlite3_vfs vfs;
  char *name;
  file files[MAX_FILES];
  change *changes;
  uint32_t change_count;
  uint64_t calls;
  uint64_t failing_call;
  sd_fault fault;
  int damaged_file;
  uint64_t damaged_offset;
  uint64_t damaged_size;
  uint64_t capacity;
  void (*before_sync)(void *context);
  void *context;
};

// What SQLite calls a file: an open one.
typedef struct {
  sqlite3_file base;
  sd_disk *disk;
  int index;
  bool deletes;
} open_file;

static void *allocate(void *old, uint64_t size) {
  void *memory = realloc(old, size ? size : 1);
  if (memory == NULL) abort();
  return memory;
}

static void resize(contents *contents, uint64_t size) {
  if (size > contents->size) {
    contents->bytes = allocate(contents->bytes, size);
    memset(contents->bytes + contents->size, 0, size - contents->size);
  }
  contents->size = size;
}

static void apply(contents *contents, const change *change, uint32_t part) {
  if (part == 0) return;
  switch (change->kind) {
  case CREATED:
    contents->exists = true;
    break;
  case TRUNCATED:
    resize(contents, change->offset);
    break;
  case DELETED:
    contents->exists = false;
    resize(contents, 0);
    break;
  case WRITTEN:
    for (uint64_t done = 0; done < change->size;) {
      uint64_t offset = change->offset + done;
      uint64_t size = SECTOR - offset % SECTOR;
      if (size > change->size - done) size = change->size - done;
      uint32_t sector = (uint32_t)(offset / SECTOR - change->offset / SECTOR);
      if (part == 1 || (part >> (1 + sector % 31) & 1)) {
        if (offset + size > contents->size) resize(contents, offset + size);
        memcpy(contents->bytes + offset, change->bytes + done, size);
      }
      done += size;
    }
    break;
  }
}

// Does it now, and remembers it until the file is synchronised.
static void record(sd_disk *disk, change_kind kind, int index, uint64_t offset, const void *bytes,
                   uint64_t size) {
  disk->changes = allocate(disk->changes, (disk->change_count + 1) * sizeof(change));
  change *new = &disk->changes[disk->change_count++];
  *new = (change){.kind = kind, .file = index, .offset = offset, .size = size, .bytes = NULL};
  if (bytes != NULL) {
    new->bytes = allocate(NULL, size);
    memcpy(new->bytes, bytes, size);
  }
  apply(&disk->files[index].now, new, 1);
}

// Makes the changes of a file durable, or forgets them.
static void settle(sd_disk *disk, int index, bool keeps) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < disk->change_count; i++) {
    change *change = &disk->changes[i];
    if (change->file != index) {
      disk->changes[kept++] = *change;
      continue;
    }
    if (keeps) apply(&disk->files[index].durable, change, 1);
    free(change->bytes);
  }
  disk->change_count = kept;
}

static int find(sd_disk *disk, const char *path, bool adds) {
  const char *slash = strrchr(path, '/');
  const char *name = slash == NULL ? path : slash + 1;
  for (int i = 0; i < MAX_FILES; i++) {
    file *file = &disk->files[i];
    if (file->name == NULL && adds) file->name = strcpy(allocate(NULL, strlen(name) + 1), name);
    if (file->name != NULL && strcmp(file->name, name) == 0) return i;
  }
  return -1;
}

// Counts a call. Returns whether it fails.
static bool fails(sd_disk *disk) {
  uint64_t call = disk->calls++;
  return call == disk->failing_call || (disk->fault == SD_POWER_CUT && call > disk->failing_call);
}

static int close_file(sqlite3_file *base) {
  open_file *file = (open_file *)base;
  if (file->deletes) record(file->disk, DELETED, file->index, 0, NULL, 0);
  return SQLITE_OK;
}

static bool needs_damaged(const open_file *file, uint64_t start, uint64_t size) {
  const sd_disk *disk = file->disk;
  return file->index == disk->damaged_file && start < disk->damaged_offset + disk->damaged_size &&
         disk->damaged_offset < start + size;
}

static int read_file(sqlite3_file *base, void *into, int size, sqlite3_int64 offset) {
  open_file *file = (open_file *)base;
  if (fails(file->disk)) return SQLITE_IOERR_READ;
  contents *contents = &file->disk->files[file->index].now;
  uint64_t start = (uint64_t)offset;
  if (needs_damaged(file, start, (uint64_t)size)) return SQLITE_IOERR_READ;
  uint64_t available = start < contents->size ? contents->size - start : 0;
  if (available > (uint64_t)size) available = (uint64_t)size;
  if (available > 0) memcpy(into, contents->bytes + start, available);
  memset((uint8_t *)into + available, 0, (uint64_t)size - available);
  return available == (uint64_t)size ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static uint64_t used(const sd_disk *disk) {
  uint64_t bytes = 0;
  for (int i = 0; i < MAX_FILES; i++) bytes += disk->files[i].now.size;
  return bytes;
}

static int write_file(sqlite3_file *base, const void *from, int size, sqlite3_int64 offset) {
  open_file *file = (open_file *)base;
  sd_disk *disk = file->disk;
  uint64_t start = (uint64_t)offset;
  if (fails(disk)) {
    if (disk->fault == SD_SHORT || disk->fault == SD_QUOTA)
      record(disk, WRITTEN, file->index, start, from, (uint64_t)size / 2);
    if (disk->fault == SD_ERROR_LATE)
      record(disk, WRITTEN, file->index, start, from, (uint64_t)size);
    // What SQLite's usual VFS leaves, and is asked for.
    errno = disk->fault == SD_QUOTA ? EDQUOT : EIO;
    return disk->fault == SD_FULL || disk->fault == SD_SHORT ? SQLITE_FULL : SQLITE_IOERR_WRITE;
  }
  uint64_t end = start + (uint64_t)size;
  uint64_t old = disk->files[file->index].now.size;
  if (end > old && used(disk) + end - old > disk->capacity) return SQLITE_FULL;
  record(disk, WRITTEN, file->index, start, from, (uint64_t)size);
  return SQLITE_OK;
}

static int truncate_file(sqlite3_file *base, sqlite3_int64 size) {
  open_file *file = (open_file *)base;
  bool failed = fails(file->disk);
  if (!failed || file->disk->fault == SD_ERROR_LATE) {
    record(file->disk, TRUNCATED, file->index, (uint64_t)size, NULL, 0);
  }
  return failed ? SQLITE_IOERR_TRUNCATE : SQLITE_OK;
}

static int sync_file(sqlite3_file *base, int flags) {
  (void)flags;
  open_file *file = (open_file *)base;
  if (file->disk->before_sync != NULL) file->disk->before_sync(file->disk->context);
  if (fails(file->disk)) {
    // The system drops what it could not write, and the next synchronisation succeeds.
    if (file->disk->fault == SD_ERROR_LATE) settle(file->disk, file->index, false);
    return SQLITE_IOERR_FSYNC;
  }
  settle(file->disk, file->index, true);
  return SQLITE_OK;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size) {
  open_file *file = (open_file *)base;
  if (fails(file->disk)) return SQLITE_IOERR_FSTAT;
  *size = (sqlite3_int64)file->disk->files[file->index].now.size;
  return SQLITE_OK;
}

static int lock_file(sqlite3_file *base, int level) {
  (void)base, (void)level;
  return SQLITE_OK;
}

static int check_reserved_lock(sqlite3_file *base, int *is_locked) {
  (void)base;
  *is_locked = 0;
  return SQLITE_OK;
}

static int control_file(sqlite3_file *base, int operation, void *argument) {
  (void)base, (void)operation, (void)argument;
  return SQLITE_NOTFOUND;
}

static int sector_size(sqlite3_file *base) {
  (void)base;
  return 4096;
}

// The same as that of SQLite's usual VFS on Linux.
static int characteristics(sqlite3_file *base) {
  (void)base;
  return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = file_size,
    .xLock = lock_file,
    .xUnlock = lock_file,
    .xCheckReservedLock = check_reserved_lock,
    .xFileControl = control_file,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
};

static int open_in(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags,
                   int *out_flags) {
  sd_disk *disk = vfs->pAppData;
  base->pMethods = NULL;
  if (fails(disk)) return SQLITE_IOERR;
  int index = find(disk, name == NULL ? "temporary" : name, true);
  if (index < 0) return SQLITE_CANTOPEN;
  if (!disk->files[index].now.exists) {
    if (!(flags & SQLITE_OPEN_CREATE)) return SQLITE_CANTOPEN;
    record(disk, CREATED, index, 0, NULL, 0);
  }
  open_file *file = (open_file *)base;
  *file = (open_file){{&methods}, disk, index, (flags & SQLITE_OPEN_DELETEONCLOSE) != 0};
  if (out_flags != NULL) *out_flags = flags;
  return SQLITE_OK;
}

static int delete_in(sqlite3_vfs *vfs, const char *name, int syncs_folder) {
  sd_disk *disk = vfs->pAppData;
  if (fails(disk)) return SQLITE_IOERR_DELETE;
  int index = find(disk, name, false);
  if (index < 0 || !disk->files[index].now.exists) return SQLITE_IOERR_DELETE_NOENT;
  record(disk, DELETED, index, 0, NULL, 0);
  if (syncs_folder) settle(disk, index, true);
  return SQLITE_OK;
}

static int access_in(sqlite3_vfs *vfs, const char *name, int flags, int *result) {
  (void)flags;
  sd_disk *disk = vfs->pAppData;
  if (fails(disk)) return SQLITE_IOERR_ACCESS;
  int index = find(disk, name, false);
  *result = index >= 0 && disk->files[index].now.exists;
  return SQLITE_OK;
}

static int full_name(sqlite3_vfs *vfs, const char *name, int size, char *into) {
  (void)vfs;
  if ((int)strlen(name) >= size) return SQLITE_CANTOPEN;
  strcpy(into, name);
  return SQLITE_OK;
}

sd_disk *sd_create(const char *name) {
  sqlite3_initialize();
  sd_disk *disk = calloc(1, sizeof(sd_disk));
  if (disk == NULL) return NULL;
  disk->name = strcpy(allocate(NULL, strlen(name) + 1), name);
  disk->failing_call = UINT64_MAX;
  disk->capacity = UINT64_MAX;
  // Time and random numbers are the system's.
  disk->vfs = *sqlite3_vfs_find(NULL);
  disk->vfs.pNext = NULL;
  disk->vfs.zName = disk->name;
  disk->vfs.pAppData = disk;
  disk->vfs.szOsFile = sizeof(open_file);
  disk->vfs.xOpen = open_in;
  disk->vfs.xDelete = delete_in;
  disk->vfs.xAccess = access_in;
  disk->vfs.xFullPathname = full_name;
  sqlite3_vfs_register(&disk->vfs, 0);
  return disk;
}

void sd_free(sd_disk *disk) {
  sqlite3_vfs_unregister(&disk->vfs);
  for (int i = 0; i < MAX_FILES; i++) {
    free(disk->files[i].name);
    free(disk->files[i].now.bytes);
    free(disk->files[i].durable.bytes);
  }
  for (uint32_t i = 0; i < disk->change_count; i++) free(disk->changes[i].bytes);
  free(disk->changes);
  free(disk->name);
  free(disk);
}

uint64_t sd_calls(const sd_disk *disk) { return disk->calls; }

void sd_fail_at(sd_disk *disk, uint64_t call, sd_fault fault) {
  disk->failing_call = call;
  disk->fault = fault;
}

void sd_damage(sd_disk *disk, const char *name, uint64_t offset, uint64_t size) {
  disk->damaged_file = find(disk, name, false);
  disk->damaged_offset = offset;
  disk->damaged_size = size;
}

uint64_t sd_size(sd_disk *disk, const char *name) {
  int index = find(disk, name, false);
  return index < 0 ? 0 : disk->files[index].now.size;
}

void sd_copy(sd_disk *disk, const char *name, uint64_t offset, void *into, uint64_t size) {
  memcpy(into, disk->files[find(disk, name, false)].now.bytes + offset, size);
}

void sd_before_sync(sd_disk *disk, void (*function)(void *context), void *context) {
  disk->before_sync = function;
  disk->context = context;
}

void sd_set_capacity(sd_disk *disk, uint64_t bytes) { disk->capacity = bytes; }

uint32_t sd_unsynced(const sd_disk *disk) { return disk->change_count; }

static void copy(contents *to, const contents *from) {
  to->exists = from->exists;
  resize(to, from->size);
  if (from->size > 0) memcpy(to->bytes, from->bytes, from->size);
}

sd_disk *sd_after_power_cut(const sd_disk *disk, const char *name, const uint32_t *parts) {
  sd_disk *after = sd_create(name);
  if (after == NULL) return NULL;
  for (int i = 0; i < MAX_FILES; i++) {
    const file *old = &disk->files[i];
    if (old->name == NULL) continue;
    file *new = &after->files[find(after, old->name, true)];
    copy(&new->durable, &old->durable);
  }
  for (uint32_t i = 0; i < disk->change_count; i++) {
    const change *change = &disk->changes[i];
    apply(&after->files[change->file].durable, change, parts[i]);
  }
  for (int i = 0; i < MAX_FILES; i++) copy(&after->files[i].now, &after->files[i].durable);
  return after;
}
