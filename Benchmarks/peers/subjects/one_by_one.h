/* Queues that take and give one item at a time. */
#ifndef ONE_BY_ONE_H
#define ONE_BY_ONE_H

#include "peer.h"

template <class Push> size_t send_each(const Item *items, size_t count, Push push) {
  size_t done = 0;
  while (done < count && push(items[done])) done++;
  return done;
}

template <class Pop> size_t receive_each(Item *items, size_t most, Pop pop) {
  size_t count = 0;
  while (count < most && pop(items[count])) count++;
  return count;
}

#endif
