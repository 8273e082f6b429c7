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

enum class Work {
  /* The producers send as fast as they can. */
  throughput,
  /* One item goes to another thread and back, through two queues. */
  ping_pong,
  /* One producer sends an item every LATENCY_INTERVAL_NS, whatever the consumer does. */
  latency
};

constexpr uint64_t LATENCY_INTERVAL_NS = 2000;

/* What one repetition of a subject does. */
struct Request {
  Work work = Work::throughput;
  unsigned producers = 1;
  /* Items that a producer hands over with one call. */
  unsigned burst = 1;
  /* Whether the consumer waits a little while items come, so that whole cache lines fill. */
  bool is_paced = false;
  /* Checks the order and the content of each item, which is slower. Otherwise only count and sum.
   */
  bool checks_items = false;
  /* Nanoseconds for which the producers send. */
  uint64_t duration = 0;
  double ns_per_tick = 1;
  /* The CPU of the consumer, and those of the producers; -1 and none: all threads float. */
  int consumer_cpu = -1;
  std::vector<int> producer_cpus;
  /* The CPUs on which other work runs meanwhile, a thread on each. */
  std::vector<int> other_cpus;
};

/* What a repetition found out. Plain bytes: a child writes it into a pipe. */
struct Outcome {
  uint64_t items;
  uint64_t nanoseconds;
  /* Items that came before an earlier one of the same producer, or that nobody had sent. */
  uint64_t misplaced;
  bool is_complete; /* count and sum are what was sent */
  /* Nanoseconds: of the round trips, or from when an item was due until it was received. */
  double p50, p99;
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
 *                                                                     first one on
 *   size_t receive(Item *items, size_t most);                         one consumer
 * A queue whose consumer sleeps has in addition what consume() calls: prepare, has_items, sleep
 * and wake.
 */
#define PEER(Class, NAME, BOUNDED, FIFO, BURSTS)                                                   \
  static const bool added_##Class = [] {                                                           \
    subjects().push_back({NAME, BOUNDED, FIFO, BURSTS, run_repetition<Class>});                    \
    return true;                                                                                   \
  }();

#endif
