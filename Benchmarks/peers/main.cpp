/* Our ring beside the queues of others. See Benchmarks/README.md. */
#include "race.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" size_t bl_allowed_cpus(int *cpus, size_t capacity);

static const char *HELP = R"(Our ring of the C core beside the queues of others.

USAGE: ./Scripts/bench-peers [options]

  --producers LIST    numbers of producer threads (default 1,2,4,8)
  --bursts LIST       items that a producer hands over at once (default 1,16,32)
  --only LIST         only the queues whose names begin so, such as ours,rte
  --repetitions N     repetitions of each cell (default 5)
  --seconds S         seconds of each repetition (default 0.05)
  --floating          no thread has a core of its own, whatever the number of threads
  --json FILE         also write the results to FILE, in the format of Scripts/bench
  --self-test         only check that defects of a queue are found out
  --list              print the queues that were built in
  --help              print this

EXIT STATUS: 0 our own results are verified · 1 one was wrong, stalled, or could not be written · 2 the command line was wrong
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

static std::vector<unsigned> numbers(const std::string &option, const std::string &text,
                                     unsigned most) {
  std::vector<unsigned> result;
  for (const auto &part : parts(text)) {
    char *end = nullptr;
    const unsigned long number = std::strtoul(part.c_str(), &end, 10);
    if (part.empty() || *end != 0 || number < 1 || number > most) {
      refuse(option + " takes numbers from 1 to " + std::to_string(most));
    }
    result.push_back(static_cast<unsigned>(number));
  }
  return result;
}

static Settings parse(int count, char **arguments) {
  Settings settings;
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
    if (option == "--floating") {
      settings.is_floating = true;
      continue;
    }
    const char *known[] = {"--producers",   "--bursts",  "--only",
                           "--repetitions", "--seconds", "--json"};
    if (std::find(std::begin(known), std::end(known), option) == std::end(known))
      refuse("unknown option " + option);
    if (++i == count) refuse(option + " needs a value");
    const std::string value = arguments[i];
    if (option == "--producers") settings.producers = numbers(option, value, 1024);
    if (option == "--bursts") settings.bursts = numbers(option, value, 64);
    if (option == "--only") settings.subjects = parts(value);
    if (option == "--repetitions") settings.repetitions = numbers(option, value, 1000)[0];
    if (option == "--seconds") settings.seconds = std::atof(value.c_str());
    if (option == "--json") settings.json = value;
  }
  if (!(settings.seconds > 0 && settings.seconds <= 60))
    refuse("--seconds takes a number above 0 and up to 60");
  return settings;
}

int main(int count, char **arguments) {
  // The order of the table, whatever the order in which the subjects were linked: ours first.
  std::stable_partition(subjects().begin(), subjects().end(),
                        [](const Subject &one) { return one.name == "ours"; });
  const Settings settings = parse(count, arguments);
  std::vector<int> cpus(1024);
  cpus.resize(std::min(bl_allowed_cpus(cpus.data(), cpus.size()), cpus.size()));
  std::vector<Group> groups;
  for (const unsigned burst : settings.bursts) {
    for (const unsigned producers : settings.producers) {
      std::fprintf(stderr, "bench-peers: bursts of %u, P=%u\n", burst, producers);
      groups.push_back(run_group(settings, cpus, burst, producers));
    }
  }
  print_tables(settings, groups);
  bool is_right = settings.json.empty() || write_json(settings, groups);
  if (!is_right) std::fprintf(stderr, "bench-peers: cannot write to %s\n", settings.json.c_str());
  for (const auto &group : groups) {
    for (const auto &cell : group.cells) {
      if (cell.subject->name == "ours" && !cell.is_verified()) is_right = false;
    }
  }
  return is_right ? 0 : 1;
}
