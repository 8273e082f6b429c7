/* The workload of throughput: the same for every subject. */
#ifndef REPETITION_H
#define REPETITION_H

#include <type_traits>

#include "waiting.h"

/* Whether the consumer of a queue sleeps, and so must be woken. */
template <class Peer, class = void> struct Sleeps : std::false_type {};
template <class Peer>
struct Sleeps<Peer, std::void_t<decltype(std::declval<Peer &>().wake())>> : std::true_type {};

/* What the producers have sent. */
struct Sent {
  std::atomic<uint64_t> items{0};
  std::atomic<uint64_t> sum{0};
  std::atomic<unsigned> running;
  explicit Sent(unsigned producers) : running(producers) {}
};

/* Sends bursts until the time is over. A producer that finds the queue full yields its core at
 * once. */
template <class Peer>
void produce(Peer &peer, unsigned producer, const Request &request, uint64_t until, Sent &sent) {
  constexpr unsigned CHUNK = 1024;
  const Item first = static_cast<Item>(producer + 1) << NUMBER_BITS;
  Item burst[64];
  uint64_t number = 0;
  while (now_ns() < until) {
    for (unsigned end = 0; end < CHUNK; end += request.burst) {
      for (unsigned i = 0; i < request.burst; i++) burst[i] = first + number + i;
      size_t done = 0;
      while ((done += peer.send(producer, burst + done, request.burst - done)) < request.burst) {
        sched_yield();
      }
      number += request.burst;
    }
  }
  sent.items += number;
  sent.sum += number * first + (number == 0 ? 0 : number * (number - 1) / 2);
  sent.running.fetch_sub(1, std::memory_order_acq_rel);
  if constexpr (Sleeps<Peer>::value) peer.wake();
}

/* Receives until everything has come that was sent. Loops forever if an item is lost: the watchdog
 * ends it. */
template <bool CHECKS, class Peer>
Outcome consume(Peer &peer, const Request &request, const Sent &sent, uint64_t start) {
  constexpr size_t MOST = 64;
  Item items[MOST];
  std::vector<uint64_t> expected(request.producers + 1, 0);
  uint64_t count = 0, sum = 0, misplaced = 0;
  size_t since_empty = 0;
  IdleWait idle;
  Pacer pacer;
  for (;;) {
    const size_t received = peer.receive(items, MOST);
    for (size_t i = 0; i < received; i++) {
      sum += items[i];
      if (CHECKS) {
        const uint64_t producer = items[i] >> NUMBER_BITS;
        const uint64_t number = items[i] & ((uint64_t(1) << NUMBER_BITS) - 1);
        if (producer == 0 || producer > request.producers || number != expected[producer])
          misplaced++;
        if (producer <= request.producers) expected[producer] = number + 1;
      }
    }
    count += received;
    since_empty += received;
    if (received > 0) idle.reset();
    if (received == MOST) continue;
    if (received > 0 && request.is_paced) pacer.wait(since_empty);
    since_empty = 0;
    if (received > 0) continue;
    const auto has_all = [&] {
      return sent.running.load(std::memory_order_acquire) == 0 && count >= sent.items.load();
    };
    if (has_all()) break;
    if (!idle.wait()) continue;
    if constexpr (Sleeps<Peer>::value) {
      /* Announces the sleep before it looks for the last time: an item, or the end of a producer,
       * that comes after the look wakes it. */
      const auto key = peer.prepare();
      if (!peer.has_items() && !has_all()) peer.sleep(key);
      idle.reset();
    } else {
      sched_yield();
    }
  }
  return Outcome{count, now_ns() - start, misplaced, count == sent.items && sum == sent.sum, 0, 0};
}

template <class Peer> Outcome run_throughput(const Request &request) {
  const auto peer = std::make_unique<Peer>(request.producers);
  Sent sent(request.producers);
  std::atomic<unsigned> arrived{0};
  std::atomic<uint64_t> begin{0};
  std::vector<std::thread> threads;
  for (unsigned producer = 0; producer < request.producers; producer++) {
    threads.emplace_back([&, producer] {
      if (!request.producer_cpus.empty()) {
        bl_confine(request.producer_cpus.data(), request.producer_cpus.size());
      }
      arrived++;
      uint64_t start;
      while ((start = begin.load(std::memory_order_acquire)) == 0) sched_yield();
      produce(*peer, producer, request, start + request.duration, sent);
    });
  }
  if (request.consumer_cpu >= 0) bl_confine(&request.consumer_cpu, 1);
  while (arrived < request.producers) sched_yield();
  const uint64_t start = now_ns();
  begin.store(start, std::memory_order_release);
  const Outcome outcome = request.checks_items ? consume<true>(*peer, request, sent, start)
                                               : consume<false>(*peer, request, sent, start);
  for (auto &thread : threads) thread.join();
  return outcome;
}

#include "latency.h"

template <class Peer> Outcome run_repetition(const Request &request) {
  const OtherWork other(request.other_cpus);
  switch (request.work) {
  case Work::throughput:
    return run_throughput<Peer>(request);
  case Work::ping_pong:
    return run_ping_pong<Peer>(request);
  case Work::latency:
    return run_latency<Peer>(request);
  }
  return {};
}

#endif
