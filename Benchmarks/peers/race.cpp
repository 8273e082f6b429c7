#include "race.h"

#include <algorithm>
#include <csignal>
#include <map>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
double bl_round_trip_ns(int first_cpu, int second_cpu, size_t batches, size_t batch_size);
void bl_end_with_parent(void);
}

std::vector<Subject> &subjects() {
  static std::vector<Subject> all;
  return all;
}

Repetition run_in_child(const Subject &subject, const Request &request) {
  int ends[2];
  if (pipe(ends) != 0) return {Ending::crashed, {}};
  const pid_t child = fork();
  if (child < 0) return {Ending::crashed, {}};
  if (child == 0) {
    bl_end_with_parent();
    const Outcome outcome = subject.run(request);
    _exit(write(ends[1], &outcome, sizeof outcome) == sizeof outcome ? 0 : 1);
  }
  close(ends[1]);
  pollfd watched{ends[0], POLLIN, 0};
  const int patience_ms = 3000 + static_cast<int>(request.duration / 1000000) * 10;
  Repetition result{Ending::stalled, {}};
  if (poll(&watched, 1, patience_ms) > 0) {
    const bool is_whole =
        read(ends[0], &result.outcome, sizeof result.outcome) == sizeof result.outcome;
    result.ending = is_whole ? Ending::measured : Ending::crashed;
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ends[0]);
  return result;
}

std::string placement_now(const std::vector<int> &cpus) {
  if (cpus.size() < 2) return "unknown";
  const double trip = bl_round_trip_ns(cpus[0], cpus[1], 20, 50);
  return trip <= 0 ? "unknown" : trip < 60 ? "sibling" : trip < 250 ? "near" : "far";
}

std::vector<double> Cell::kept(const std::string &placement) const {
  std::vector<double> values;
  for (const auto &[value, where] : samples) {
    if (where == placement) values.push_back(value);
  }
  return values;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

static Request request_of(const Cell &cell, const Settings &settings,
                          const std::vector<int> &cpus) {
  Request request{cell.producers,
                  cell.burst,
                  cell.is_paced,
                  false,
                  static_cast<uint64_t>(settings.seconds * 1e9),
                  -1,
                  {}};
  // As in the benchmark: a core for the consumer while there is one for each thread.
  if (!settings.is_floating && cell.producers < cpus.size()) {
    request.consumer_cpu = cpus[1];
    for (const int cpu : cpus) {
      if (cpu != cpus[1]) request.producer_cpus.push_back(cpu);
    }
  }
  return request;
}

static void note(Cell &cell, const Repetition &repetition) {
  if (repetition.ending == Ending::stalled) cell.stalls++;
  if (repetition.ending == Ending::crashed) cell.crashes++;
  if (repetition.ending != Ending::measured) return;
  if (repetition.outcome.misplaced > 0) cell.lost_order = true;
  if (!repetition.outcome.is_complete) cell.is_wrong = true;
}

static void measure(Cell &cell, const Settings &settings, const std::vector<int> &cpus) {
  const std::string before = placement_now(cpus);
  const Repetition repetition = run_in_child(*cell.subject, request_of(cell, settings, cpus));
  note(cell, repetition);
  if (repetition.ending != Ending::measured) return;
  const auto &outcome = repetition.outcome;
  const double rate =
      static_cast<double>(outcome.items) / static_cast<double>(outcome.nanoseconds) * 1e3;
  cell.samples.push_back({rate, before == placement_now(cpus) ? before : "unknown"});
}

/* The known class that most repetitions have. */
static std::string prevailing(const std::vector<Cell> &cells) {
  std::map<std::string, size_t> votes;
  for (const auto &cell : cells) {
    for (const auto &[_, where] : cell.samples) {
      if (where != "unknown") votes[where]++;
    }
  }
  std::string best = "unknown";
  for (const auto &[where, count] : votes) {
    if (best == "unknown" || count > votes[best]) best = where;
  }
  return best;
}

Group run_group(const Settings &settings, const std::vector<int> &cpus, unsigned burst,
                unsigned producers) {
  Group group;
  for (const auto &subject : subjects()) {
    const auto is_asked = [&](const std::string &name) { return subject.name.rfind(name, 0) == 0; };
    const auto &asked = settings.subjects;
    if (!asked.empty() && std::none_of(asked.begin(), asked.end(), is_asked)) continue;
    if (burst > 1 && !subject.has_bursts) continue;
    for (const bool is_paced : {false, true}) {
      group.cells.push_back(Cell{&subject, is_paced, burst, producers, {}, 0, 0, false, false});
    }
  }
  // Count, order and content of every item, before anything is timed.
  for (auto &cell : group.cells) {
    Request request = request_of(cell, settings, cpus);
    request.checks_items = true;
    note(cell, run_in_child(*cell.subject, request));
  }
  // A subject that stalls twice is not tried again: each time costs seconds.
  const auto is_open = [](const Cell &cell) { return cell.stalls + cell.crashes < 2; };
  for (unsigned round = 0; round < settings.repetitions; round++) {
    for (auto &cell : group.cells) {
      if (is_open(cell)) measure(cell, settings, cpus);
    }
  }
  for (unsigned round = 0; round < settings.repetitions; round++) {
    group.placement = prevailing(group.cells);
    if (group.placement == "unknown") break;
    for (auto &cell : group.cells) {
      const bool is_complete = cell.kept(group.placement).size() >= settings.repetitions;
      if (!is_complete && is_open(cell)) measure(cell, settings, cpus);
    }
  }
  group.placement = prevailing(group.cells);
  for (const auto &cell : group.cells) {
    group.measured += cell.samples.size();
    group.discarded += cell.samples.size() - cell.kept(group.placement).size();
  }
  return group;
}
