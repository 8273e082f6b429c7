/* How the threads of every subject wait: the same rules for all. */
#ifndef WAITING_H
#define WAITING_H

#include <algorithm>
#include <atomic>
#include <sched.h>
#include <thread>
#include <time.h>
#include <vector>

extern "C" bool bl_confine(const int *cpus, size_t count);

inline uint64_t now_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
}

/* The clock of bl_ticks. */
inline uint64_t ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return now_ns();
#endif
}

inline void pause_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/* How a consumer waits that found nothing: it polls, then polls with pauses, then gives up its
 * core. */
class IdleWait {
  unsigned rounds = 0;

public:
  void reset() { rounds = 0; }
  /* Returns whether the time has come to yield, or to sleep. */
  bool wait() {
    rounds++;
    if (rounds > 64 + 256) return true;
    if (rounds > 64) pause_cpu();
    return false;
  }
};

/* How a thread waits that must not miss an item: without pauses. It yields after several
 * microseconds only, for the case that the other thread needs its core. */
class BusyWait {
  unsigned rounds = 0;

public:
  void reset() { rounds = 0; }
  void wait() {
    if (++rounds % 4096 == 0) sched_yield();
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

/* Threads that compute until they are no longer wanted: what else runs on a machine that is not
 * quiet. */
class OtherWork {
  std::atomic<bool> is_wanted{true};
  std::vector<std::thread> threads;

public:
  explicit OtherWork(const std::vector<int> &cpus) {
    for (const int cpu : cpus) {
      threads.emplace_back([this, cpu] {
        bl_confine(&cpu, 1);
        while (is_wanted.load(std::memory_order_relaxed)) {
        }
      });
    }
  }
  ~OtherWork() {
    is_wanted.store(false, std::memory_order_relaxed);
    for (auto &thread : threads) thread.join();
  }
};

#endif
