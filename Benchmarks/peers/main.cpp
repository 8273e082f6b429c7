/* Our queues beside those of others. See Benchmarks/README.md. */
#include "race.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

static const char *HELP = R"(Our queues of the C core beside those of others.

USAGE: ./Scripts/bench-peers [options]

  --producers LIST    numbers of producer threads (default 1,2,4,8)
  --workloads LIST    what they do: single, burst2 to burst64, pingpong, latency (default
                      single,burst16,burst32,pingpong,latency)
  --conditions LIST   quiet, oversubscribed (other work on each core) and pinned (the consumer has a core
                      to itself); default all three
  --only LIST         only the queues whose names begin so, such as ours,rte
  --repetitions N     repetitions of each cell (default 5)
  --seconds S         seconds of each repetition (default 0.05)
  --placement P       waits until the cores are placed so: sibling, near or far
  --patience S        for how many seconds in all (default 60); then it measures in the placement it finds;
                      only with --placement
  --json FILE         also write the results to FILE, in the format of Scripts/bench
  --report FILE       also write FILE, a page of HTML (an option of Scripts/bench-peers)
  --self-test         only check that defects of a queue are found out
  --list              print the queues that were built in
  --help              print this

EXIT STATUS: 0 our own results are verified · 1 one was wrong, or stalled · 2 the command line was wrong · 3 the
results could not be written to FILE
)";

[[noreturn]] static void refuse(const std::string &message) {
  std::fprintf(stderr, "bench-peers: %s; --help lists all options.\n", message.c_str());
  std::exit(2);
}

static std::vector<std::string> parts(const std::string &text) {
  std::vector<std::string> result;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(',', start), text.size());
    result.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return result;
}

static unsigned number(const std::string &option, const std::string &text, unsigned most) {
  char *end = nullptr;
  const unsigned long found = std::strtoul(text.c_str(), &end, 10);
  if (text.empty() || *end != 0 || found < 1 || found > most) {
    refuse(option + " takes numbers from 1 to " + std::to_string(most));
  }
  return static_cast<unsigned>(found);
}

static double seconds(const std::string &option, const std::string &text, double most) {
  char *end = nullptr;
  const double found = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != 0 || !(found > 0 && found <= most)) {
    refuse(option + " takes a number above 0 and up to " + std::to_string(static_cast<int>(most)));
  }
  return found;
}

static Workload workload(const std::string &name) {
  if (name == "single") return {name, Work::throughput, 1, {Figure::rate}};
  if (name == "pingpong") return {name, Work::ping_pong, 1, {Figure::p50, Figure::p99}};
  if (name == "latency") return {name, Work::latency, 1, {Figure::p50, Figure::p99}};
  if (name.rfind("burst", 0) == 0) {
    const unsigned burst = number("burst", name.substr(5), 64);
    if (burst > 1) return {name, Work::throughput, burst, {Figure::rate}};
  }
  refuse("there is no workload '" + name + "'");
}

static Condition condition(const std::string &name) {
  for (const Condition one : {Condition::quiet, Condition::oversubscribed, Condition::pinned}) {
    if (name == name_of(one)) return one;
  }
  refuse("there is no condition '" + name + "'");
}

static void apply(const std::string &option, const std::string &value, Settings &settings) {
  if (option == "--producers") {
    settings.producers.clear();
    for (const auto &part : parts(value)) settings.producers.push_back(number(option, part, 1024));
  } else if (option == "--workloads") {
    settings.workloads.clear();
    for (const auto &part : parts(value)) settings.workloads.push_back(workload(part));
  } else if (option == "--conditions") {
    settings.conditions.clear();
    for (const auto &part : parts(value)) settings.conditions.push_back(condition(part));
  } else if (option == "--only") {
    settings.subjects = parts(value);
  } else if (option == "--repetitions") {
    settings.repetitions = number(option, value, 1000);
  } else if (option == "--seconds") {
    settings.seconds = seconds(option, value, 60);
  } else if (option == "--patience") {
    settings.patience = seconds(option, value, 3600);
  } else if (option == "--placement") {
    if (value != "sibling" && value != "near" && value != "far")
      refuse("--placement takes sibling, near or far");
    settings.placement = value;
  } else if (option == "--json") {
    settings.json = value;
  } else {
    refuse("unknown option " + option);
  }
}

/* Before minutes are spent on measuring. */
static void check(const Settings &settings, bool has_patience) {
  if (has_patience && settings.placement.empty()) refuse("--patience is for --placement");
  for (const auto &name : settings.subjects) {
    const auto begins_so = [&](const Subject &one) { return one.name.rfind(name, 0) == 0; };
    if (name.empty() || std::none_of(subjects().begin(), subjects().end(), begins_so))
      refuse("no queue that was built in begins with '" + name + "'");
  }
  if (settings.json.empty()) return;
  if (!std::ofstream(new_name(settings))) refuse("--json cannot write to " + new_name(settings));
  std::remove(new_name(settings).c_str());
}

static Settings parse(int count, char **arguments) {
  Settings settings;
  bool has_patience = false;
  apply("--workloads", "single,burst16,burst32,pingpong,latency", settings);
  for (int i = 1; i < count; i++) {
    const std::string option = arguments[i];
    if (option == "--help") {
      std::fputs(HELP, stdout);
      std::exit(0);
    }
    if (option == "--list") {
      for (const auto &subject : subjects()) std::puts(subject.name.c_str());
      std::exit(0);
    }
    if (option == "--self-test") std::exit(passes_self_test() ? 0 : 1);
    if (++i == count) refuse(option + " needs a value");
    apply(option, arguments[i], settings);
    has_patience = has_patience || option == "--patience";
  }
  check(settings, has_patience);
  return settings;
}

static std::vector<Group> measure(const Settings &settings) {
  Race race(settings);
  std::vector<Group> groups;
  for (const Condition condition : settings.conditions) {
    for (const auto &workload : settings.workloads) {
      for (const unsigned producers : settings.producers) {
        // The other workloads have one producer, whatever was asked for.
        if (workload.work != Work::throughput && producers != settings.producers[0]) continue;
        const unsigned threads = workload.work == Work::throughput ? producers : 1;
        std::fprintf(stderr, "bench-peers: %s, %s, P=%u\n", name_of(condition),
                     workload.name.c_str(), threads);
        groups.push_back(race.run(condition, workload, threads));
      }
    }
  }
  if (race.has_lost_patience()) {
    std::fprintf(stderr, "bench-peers: the cores were not placed '%s' for long enough.\n",
                 settings.placement.c_str());
  }
  return groups;
}

int main(int count, char **arguments) {
  const Begin begin = begin_now();
  // The order of the table, whatever the order in which the subjects were linked: ours first.
  const auto rank = [](const Subject &one) {
    return one.name == "ours" ? 0 : is_ours(one) ? 1 : 2;
  };
  std::stable_sort(subjects().begin(), subjects().end(),
                   [&](const Subject &a, const Subject &b) { return rank(a) < rank(b); });
  const Settings settings = parse(count, arguments);
  const std::vector<Group> groups = measure(settings);
  print_tables(groups);
  if (!settings.json.empty() && !write_json(settings, begin, groups)) {
    std::fprintf(stderr, "bench-peers: cannot write to %s\n", settings.json.c_str());
    // Not 1, with which Scripts/bench-peers judges the report: it would be one of an earlier race.
    return 3;
  }
  bool is_right = true;
  for (const auto &group : groups) {
    for (const auto &cell : group.cells) {
      if (is_ours(*cell.subject) && !cell.is_verified()) is_right = false;
    }
  }
  return is_right ? 0 : 1;
}
