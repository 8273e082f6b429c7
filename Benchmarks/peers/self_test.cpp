/* Queues with one defect each, and what the race must find out about them. They take part in no
 * table. */
#include "race.h"

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>

namespace {
enum class Defect { none, loses, swaps, alters, duplicates, crashes };

template <Defect DEFECT> class Faulty {
  std::mutex mutex;
  std::deque<Item> items;
  uint64_t sent = 0;

public:
  explicit Faulty(unsigned) {}
  size_t send(unsigned, const Item *added, size_t count) {
    const std::lock_guard<std::mutex> guard(mutex);
    for (size_t i = 0; i < count; i++) {
      const bool is_due = ++sent == 20;
      if (is_due && DEFECT == Defect::loses) continue;
      if (is_due && DEFECT == Defect::crashes) std::abort();
      items.push_back(added[i] + (is_due && DEFECT == Defect::alters ? Item(1) << 40 : 0));
      if (is_due && DEFECT == Defect::duplicates) items.push_back(added[i]);
    }
    return count;
  }
  size_t receive(Item *found, size_t most) {
    const std::lock_guard<std::mutex> guard(mutex);
    size_t count = 0;
    for (; count < most && !items.empty(); count++) {
      found[count] = items.front();
      items.pop_front();
    }
    if (DEFECT == Defect::swaps && count > 1) std::swap(found[0], found[1]);
    return count;
  }
};

struct Expectation {
  const char *name;
  Outcome (*run)(const Request &);
  Work work;
  bool checks_items;
  Ending ending;
  bool is_ordered, is_complete;
};
} // namespace

bool passes_self_test() {
  using D = Defect;
  const auto all_items = Work::throughput;
  const Expectation all[] = {
      {"a sound queue", run_repetition<Faulty<D::none>>, all_items, true, Ending::measured, true,
       true},
      {"a queue that loses an item", run_repetition<Faulty<D::loses>>, all_items, false,
       Ending::stalled, true, true},
      {"a queue that swaps items", run_repetition<Faulty<D::swaps>>, all_items, true,
       Ending::measured, false, true},
      {"a queue that alters an item", run_repetition<Faulty<D::alters>>, all_items, false,
       Ending::measured, true, false},
      {"a queue that has an item twice", run_repetition<Faulty<D::duplicates>>, all_items, false,
       Ending::measured, true, false},
      {"a queue that crashes", run_repetition<Faulty<D::crashes>>, all_items, false,
       Ending::crashed, true, true},
      {"a sound queue, there and back", run_repetition<Faulty<D::none>>, Work::ping_pong, false,
       Ending::measured, true, true},
      {"an item altered on its way", run_repetition<Faulty<D::alters>>, Work::ping_pong, false,
       Ending::measured, false, true},
      {"a sound queue, at fixed times", run_repetition<Faulty<D::none>>, Work::latency, false,
       Ending::measured, true, true},
      {"an item altered, at fixed times", run_repetition<Faulty<D::alters>>, Work::latency, false,
       Ending::measured, false, false},
      {"an item lost, at fixed times", run_repetition<Faulty<D::loses>>, Work::latency, false,
       Ending::stalled, true, true},
  };
  bool passes = true;
  for (const auto &expected : all) {
    const Subject subject{expected.name, false, true, true, expected.run};
    Request request;
    request.work = expected.work;
    request.producers = expected.work == Work::throughput ? 2 : 1;
    request.checks_items = expected.checks_items;
    // Long enough for the item that has the defect, also if other work has the cores for some of
    // it.
    request.duration = 50000000;
    const Repetition found = run_in_child(subject, request);
    const bool is_right = found.ending == expected.ending &&
                          (found.ending != Ending::measured ||
                           ((found.outcome.misplaced == 0) == expected.is_ordered &&
                            found.outcome.is_complete == expected.is_complete));
    std::printf("%s: %s\n", expected.name, is_right ? "found out" : "NOT found out");
    passes = passes && is_right;
  }
  return passes;
}
