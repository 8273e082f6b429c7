// A disk that keeps its writers waiting while the file KV_DISK begins with the number 1, and fails
// while it is 2: see test_durability.py.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile long *state;

__attribute__((constructor)) static void map(void) {
  const char *path = getenv("KV_DISK");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  void *memory = mmap(NULL, sizeof *state, PROT_READ, MAP_SHARED, file, 0);
  if (memory != MAP_FAILED) state = memory;
  close(file);
}

/* Waits while the disk does; returns whether it works. */
static bool await(void) {
  while (state && *state == 1) usleep(1000);
  if (!state || *state == 0) return true;
  errno = EIO;
  return false;
}

int fsync(int file) { return await() ? (int)syscall(SYS_fsync, file) : -1; }

int fdatasync(int file) { return await() ? (int)syscall(SYS_fdatasync, file) : -1; }
