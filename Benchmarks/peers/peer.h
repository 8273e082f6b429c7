/* What every queue of the race provides. Items are 8 bytes. */
#ifndef PEER_H
#define PEER_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

/* The number of the producer, from 1, above its running number, from 0. Never 0: some queues
 * reserve that. */
using Item = uint64_t;
constexpr unsigned NUMBER_BITS = 44;

constexpr size_t CAPACITY = 65536;

/* What one repetition of a subject does. */
struct Request {
  unsigned producers;
  /* Items that a producer hands over with one call. */
  unsigned burst;
  /* Whether the consumer waits a little while items come, so that whole cache lines fill. */
  bool is_paced;
  /* Checks the order and the content of each item, which is slower. Otherwise only count and sum.
   */
  bool checks_items;
  /* Nanoseconds for which the producers send. */
  uint64_t duration;
  /* The CPU of the consumer, and those of the producers; -1 and none: all threads float. */
  int consumer_cpu;
  std::vector<int> producer_cpus;
};

/* What a repetition found out. Plain bytes: a child writes it into a pipe. */
struct Outcome {
  uint64_t items;
  uint64_t nanoseconds;
  /* Items that came before an earlier one of the same producer, or that nobody had sent. */
  uint64_t misplaced;
  bool is_complete; /* count and sum are what was sent */
};

struct Subject {
  std::string name;
  /* Whether it refuses items beyond its capacity. */
  bool is_bounded;
  /* Whether items of different producers come out in the order in which they were accepted. */
  bool is_fifo;
  bool has_bursts;
  Outcome (*run)(const Request &);
};

/* All subjects that were built in, in the order of the table. */
std::vector<Subject> &subjects();

#include "repetition.h"

/*
 * Adds a class to the race. It has
 *   Peer(unsigned producers);
 *   size_t send(unsigned producer, const Item *items, size_t count);  how many it took, from the
 * first one on size_t receive(Item *items, size_t most);                         one consumer
 */
#define PEER(Class, NAME, BOUNDED, FIFO, BURSTS)                                                   \
  static const bool added_##Class = [] {                                                           \
    subjects().push_back({NAME, BOUNDED, FIFO, BURSTS, run_repetition<Class>});                    \
    return true;                                                                                   \
  }();

#endif
