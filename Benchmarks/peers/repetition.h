/* The workload: the same for every subject. */
#ifndef REPETITION_H
#define REPETITION_H

#include <atomic>
#include <sched.h>
#include <thread>
#include <time.h>

extern "C" bool bl_confine(const int *cpus, size_t count);

inline uint64_t now_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
}

inline void pause_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/* How a consumer waits that found nothing: it polls, then polls with pauses, then yields. */
class IdleWait {
  unsigned rounds = 0;

public:
  void reset() { rounds = 0; }
  void wait() {
    rounds++;
    if (rounds <= 64) return;
    if (rounds <= 64 + 256) return pause_cpu();
    sched_yield();
  }
};

/* How long a consumer that has caught up waits before it polls again: the rule of ReactorCore's
 * Pacer. */
class Pacer {
  unsigned pauses = 0;

public:
  void wait(size_t received) {
    if (received >= 16) {
      pauses = pauses * 2 + 8 < 128 ? pauses * 2 + 8 : 128;
    } else if (received <= 4) {
      pauses /= 2;
    }
    for (unsigned i = 0; i < pauses; i++) pause_cpu();
  }
};

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
    if (sent.running.load(std::memory_order_acquire) == 0 && count >= sent.items.load()) break;
    idle.wait();
  }
  return Outcome{count, now_ns() - start, misplaced, count == sent.items && sum == sent.sum};
}

template <class Peer> Outcome run_repetition(const Request &request) {
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

#endif
