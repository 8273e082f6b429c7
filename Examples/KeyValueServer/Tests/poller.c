// A system that has no memory for watched descriptors while the file KV_POLLER begins with the
// number 1, or, with the number 2, for a change of what they are watched for: Dispatch, too, may
// watch descriptors just then, and ends the process if it cannot. And it ends a process that asks
// about a descriptor which it has closed: see test_network.py.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
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
  const long refused = state ? *state : 0;
  if (refused && (operation == EPOLL_CTL_MOD || (refused == 1 && operation == EPOLL_CTL_ADD))) {
    errno = ENOMEM;
    return -1;
  }
  return (int)syscall(SYS_epoll_ctl, poller, operation, descriptor, event);
}

int ioctl(int descriptor, unsigned long request, ...) {
  va_list arguments;
  va_start(arguments, request);
  void *argument = va_arg(arguments, void *);
  va_end(arguments);
  const int result = (int)syscall(SYS_ioctl, descriptor, request, argument);
  if (result < 0 && errno == EBADF) abort();
  return result;
}
