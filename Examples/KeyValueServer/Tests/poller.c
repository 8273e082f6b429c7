// A system that has no memory for watched descriptors while the file KV_POLLER begins with the
// number 1: see test_network.py.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile long *state;

__attribute__((constructor)) static void map(void) {
  const char *path = getenv("KV_POLLER");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  void *memory = mmap(NULL, sizeof *state, PROT_READ, MAP_SHARED, file, 0);
  if (memory != MAP_FAILED) state = memory;
  close(file);
}

int epoll_ctl(int poller, int operation, int descriptor, struct epoll_event *event) {
  if (state && *state && operation != EPOLL_CTL_DEL) {
    errno = ENOMEM;
    return -1;
  }
  return (int)syscall(SYS_epoll_ctl, poller, operation, descriptor, event);
}
