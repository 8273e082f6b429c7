#include "rr_main_queue.h"

#include "rr_poller.h"

#include <stddef.h>

extern int _dispatch_get_main_queue_handle_4CF(void) __attribute__((weak));
extern void _dispatch_main_queue_callback_4CF(void *message) __attribute__((weak));

int rr_main_queue_descriptor(void) {
  if (_dispatch_get_main_queue_handle_4CF == NULL || _dispatch_main_queue_callback_4CF == NULL)
    return -1;
  return _dispatch_get_main_queue_handle_4CF();
}

void rr_main_queue_run(void) {
  const int descriptor = rr_main_queue_descriptor();
  if (descriptor < 0) return;
  rr_descriptor_acknowledge(descriptor);
  _dispatch_main_queue_callback_4CF(NULL);
}
