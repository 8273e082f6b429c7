// A disk that keeps its writers waiting while the file KV_DISK begins with a number other than 0:
// see test_durability.py.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile long *held;

__attribute__((constructor)) static void map(void) {
  const char *path = getenv("KV_DISK");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  void *memory = mmap(NULL, sizeof *held, PROT_READ, MAP_SHARED, file, 0);
  if (memory != MAP_FAILED) held = memory;
  close(file);
}

static void await(void) {
  while (held && *held) usleep(1000);
}

int fsync(int file) {
  await();
  return (int)syscall(SYS_fsync, file);
}

int fdatasync(int file) {
  await();
  return (int)syscall(SYS_fdatasync, file);
}
