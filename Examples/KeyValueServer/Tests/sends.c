// Counts the calls of send() in the file KV_SENDS: see test_channels.py.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static long *sends;

__attribute__((constructor)) static void map(void) {
  const char *path = getenv("KV_SENDS");
  int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  void *memory = mmap(NULL, sizeof *sends, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory != MAP_FAILED) sends = memory;
  close(file);
}

ssize_t send(int descriptor, const void *bytes, size_t count, int flags) {
  if (sends) __atomic_fetch_add(sends, 1, __ATOMIC_RELAXED);
  return syscall(SYS_sendto, descriptor, bytes, count, flags, NULL, 0);
}
