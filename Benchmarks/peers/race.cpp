#include "race.h"

#include <algorithm>
#include <csignal>
#include <iterator>
#include <map>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
size_t bl_allowed_cpus(int *cpus, size_t capacity);
double bl_round_trip_ns(int first_cpu, int second_cpu, size_t batches, size_t batch_size);
void bl_end_with_parent(void);
double bl_ns_per_tick(void);
}

std::vector<Subject> &subjects() {
  static std::vector<Subject> all;
  return all;
}

const char *name_of(Condition condition) {
  switch (condition) {
  case Condition::quiet:
    return "quiet";
  case Condition::oversubscribed:
    return "oversubscribed";
  case Condition::pinned:
    return "pinned";
  }
  return "";
}

Repetition run_in_child(const Subject &subject, const Request &request) {
  int ends[2];
  if (pipe(ends) != 0) return {Ending::crashed, {}};
  const pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    return {Ending::crashed, {}};
  }
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

/* Where the first two cores are, by the round trip of a cache line between them. The same classes as
 * in CorePlacement.swift, and as little about other pairs of cores. */
static std::string placement_now(const std::vector<int> &cpus) {
  if (cpus.size() < 2) return "unknown";
  const double trip = bl_round_trip_ns(cpus[0], cpus[1], 20, 50);
  return trip <= 0 ? "unknown" : trip < 60 ? "sibling" : trip < 250 ? "near" : "far";
}

/* The order in which a round measures the cells of a group: see TakingTurns.swift. */
static std::vector<Cell *> in_order_of(unsigned round, std::vector<Cell> &cells) {
  std::vector<Cell *> order;
  for (auto &cell : cells) order.push_back(&cell);
  if (order.empty()) return order;
  const auto first = order.begin() + round % order.size();
  std::rotate(order.begin(), first, order.end());
  // The first one stays it.
  if (round % 2 != 0) std::reverse(order.begin() + 1, order.end());
  return order;
}

double value_of(Figure figure, const Outcome &outcome) {
  switch (figure) {
  case Figure::rate:
    return static_cast<double>(outcome.items) / static_cast<double>(outcome.nanoseconds) * 1e3;
  case Figure::p50:
    return outcome.p50;
  case Figure::p99:
    return outcome.p99;
  }
  return 0;
}

std::vector<double> Cell::kept(Figure figure, const std::string &placement) const {
  std::vector<double> values;
  for (const auto &[outcome, where, _] : samples) {
    if (where == placement) values.push_back(value_of(figure, outcome));
  }
  return values;
}

std::vector<unsigned> Cell::kept_rounds(const std::string &placement) const {
  std::vector<unsigned> rounds;
  for (const auto &[_, where, round] : samples) {
    if (where == placement) rounds.push_back(round);
  }
  return rounds;
}

/* In how many rounds both cells have a sample that is kept: their ratio is made of these. */
static size_t rounds_in_common(const Cell &one, const Cell &other, const std::string &placement) {
  const auto left = one.kept_rounds(placement), right = other.kept_rounds(placement);
  std::vector<unsigned> both;
  std::set_intersection(left.begin(), left.end(), right.begin(), right.end(),
                        std::back_inserter(both));
  return both.size();
}

std::string Cell::problems() const {
  return std::string(stalls > 0 ? " STALLED" : "") + (crashes > 0 ? " CRASHED" : "") +
         (lost_order ? " LOST-ORDER" : "") + (is_wrong ? " WRONG" : "");
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Race::Race(const Settings &settings)
    : settings(settings), cpus(1024), ns_per_tick(bl_ns_per_tick()), patience(settings.patience) {
  cpus.resize(std::min(bl_allowed_cpus(cpus.data(), cpus.size()), cpus.size()));
}

Request Race::request_of(const Group &group, const Cell &cell) const {
  Request request;
  request.work = group.workload.work;
  request.producers = group.producers;
  request.burst = group.workload.burst;
  request.is_paced = cell.is_paced;
  request.duration = static_cast<uint64_t>(settings.seconds * 1e9);
  request.ns_per_tick = ns_per_tick;
  if (group.condition == Condition::oversubscribed) {
    request.other_cpus = cpus;
    return request;
  }
  // As in the benchmark: a core for the consumer while there is one for each thread.
  const bool is_pinned = group.condition == Condition::pinned && cpus.size() > 1;
  if (is_pinned || group.producers < cpus.size()) {
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

/* Waits for the placement that was asked for, while there is patience left over all groups. */
std::string Race::placement_when_asked() {
  std::string found = placement_now(cpus);
  while (!settings.placement.empty() && found != settings.placement && patience > 0) {
    const uint64_t start = now_ns();
    usleep(2000);
    found = placement_now(cpus);
    patience -= static_cast<double>(now_ns() - start) / 1e9;
  }
  return found;
}

void Race::measure(const Group &group, Cell &cell) {
  const std::string before = placement_when_asked();
  const Repetition repetition = run_in_child(*cell.subject, request_of(group, cell));
  note(cell, repetition);
  if (repetition.ending != Ending::measured) return;
  const std::string after = placement_now(cpus);
  cell.samples.push_back({repetition.outcome, before == after ? before : "unknown", rounds});
}

/* The placement that was asked for if any repetition has it; otherwise the known class that most
 * repetitions have, and the nearest one if several have as many. */
std::string Race::prevailing(const std::vector<Cell> &cells) const {
  std::map<std::string, size_t> votes;
  for (const auto &cell : cells) {
    for (const auto &sample : cell.samples) {
      if (sample.placement != "unknown") votes[sample.placement]++;
    }
  }
  if (votes.count(settings.placement) > 0) return settings.placement;
  std::string best = "unknown";
  for (const char *where : {"sibling", "near", "far"}) {
    if (votes[where] > (best == "unknown" ? 0 : votes[best])) best = where;
  }
  return best;
}

Group Race::run(Condition condition, const Workload &workload, unsigned producers) {
  Group group{condition, workload, producers, {}, "", 0, 0};
  for (const auto &subject : subjects()) {
    const auto is_asked = [&](const std::string &name) { return subject.name.rfind(name, 0) == 0; };
    const auto &asked = settings.subjects;
    if (!asked.empty() && std::none_of(asked.begin(), asked.end(), is_asked)) continue;
    if (workload.burst > 1 && !subject.has_bursts) continue;
    group.cells.push_back(Cell{&subject, false, {}});
    // A consumer that waits for more would delay the only item.
    if (workload.work == Work::throughput) group.cells.push_back(Cell{&subject, true, {}});
  }
  // Count, order and content of every item, before anything is timed. The other workloads check
  // them in each repetition.
  for (auto &cell : group.cells) {
    if (workload.work != Work::throughput) break;
    Request request = request_of(group, cell);
    request.checks_items = true;
    note(cell, run_in_child(*cell.subject, request));
  }
  // A subject that stalls twice is not tried again: each time costs seconds.
  const auto is_open = [](const Cell &cell) { return cell.stalls + cell.crashes < 2; };
  for (unsigned round = 0; round < settings.repetitions; round++) {
    rounds++;
    for (Cell *cell : in_order_of(rounds, group.cells)) {
      if (is_open(*cell)) measure(group, *cell);
    }
  }
  const Figure any = workload.figures[0];
  for (unsigned round = 0; round < settings.repetitions; round++) {
    group.placement = prevailing(group.cells);
    if (group.placement == "unknown") break;
    // A bar compares a queue with one of ours in the rounds that both have. So if one of ours lacks
    // a round, all cells do.
    const auto lacks_one = [&](const Cell &cell) {
      return is_open(cell) &&
             std::any_of(group.cells.begin(), group.cells.end(), [&](const Cell &other) {
               const bool is_partner =
                   &other == &cell || (is_open(other) && is_ours(*other.subject));
               return is_partner &&
                      rounds_in_common(cell, other, group.placement) < settings.repetitions;
             });
    };
    if (std::none_of(group.cells.begin(), group.cells.end(), lacks_one)) break;
    // Ours each time, so that what another one is measured again for has its partner.
    rounds++;
    for (Cell *cell : in_order_of(rounds, group.cells)) {
      if (lacks_one(*cell) || (is_open(*cell) && is_ours(*cell->subject))) measure(group, *cell);
    }
  }
  group.placement = prevailing(group.cells);
  for (const auto &cell : group.cells) {
    group.measured += cell.samples.size();
    group.discarded += cell.samples.size() - cell.kept(any, group.placement).size();
  }
  return group;
}
