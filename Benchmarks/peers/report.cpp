#include "race.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sys/utsname.h>
#include <thread>

/* The faster of a subject's two cells, with and without pacing; null if it was not measured. */
static const Cell *best_of(const Group &group, const std::string &name) {
  const Cell *best = nullptr;
  for (const auto &cell : group.cells) {
    if (cell.subject->name != name) continue;
    if (!best || median(cell.kept(group.placement)) > median(best->kept(group.placement)))
      best = &cell;
  }
  return best;
}

static std::string text_of(const Group &group, const std::string &name, double ours) {
  const Cell *best = best_of(group, name);
  if (!best) return "–";
  std::string problems;
  for (const auto &cell : group.cells) {
    if (cell.subject->name != name) continue;
    const auto add = [&](bool is_so, const char *word) {
      if (is_so && problems.find(word) == std::string::npos) problems += std::string(" ") + word;
    };
    add(cell.stalls > 0, "STALLED");
    add(cell.crashes > 0, "CRASHED");
    add(cell.lost_order, "LOST-ORDER");
    add(cell.is_wrong, "WRONG");
  }
  const double value = median(best->kept(group.placement));
  if (value == 0) return "none" + problems;
  char text[64];
  std::snprintf(text, sizeof text, "%.0f%s", value, best->is_paced ? "p" : "");
  std::string result = text;
  if (ours > 0 && name != "ours") {
    std::snprintf(text, sizeof text, " (%.2f)", value / ours);
    result += text;
  }
  return result + problems;
}

/* Pads by characters, not by bytes. */
static std::string padded(const std::string &text, size_t width) {
  const auto count = static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
  return std::string(count < width ? width - count : 0, ' ') + text;
}

static void print_bar(const Group &group, unsigned producers) {
  const Cell *ours = best_of(group, "ours");
  const Cell *best = nullptr;
  for (const auto &subject : subjects()) {
    const Cell *cell = best_of(group, subject.name);
    if (!cell || subject.name == "ours" || !subject.is_bounded || !subject.is_fifo) continue;
    if (cell->lost_order || cell->is_wrong) continue;
    if (!best || median(cell->kept(group.placement)) > median(best->kept(group.placement)))
      best = cell;
  }
  if (!ours || !best || median(best->kept(group.placement)) == 0) return;
  std::printf("  P=%u: ours has %.2f times the speed of the best bounded FIFO peer, %s\n",
              producers, median(ours->kept(group.placement)) / median(best->kept(group.placement)),
              best->subject->name.c_str());
}

void print_tables(const Settings &settings, const std::vector<Group> &groups) {
  for (const unsigned burst : settings.bursts) {
    std::vector<const Group *> columns;
    for (const auto &group : groups) {
      if (!group.cells.empty() && group.cells[0].burst == burst) columns.push_back(&group);
    }
    if (columns.empty()) continue;
    std::printf("\n%s\n  %-16s",
                burst == 1 ? "One item at a time, M items/s"
                           : ("Bursts of " + std::to_string(burst) + ", M items/s").c_str(),
                "");
    for (const auto *group : columns) {
      std::printf("  %s",
                  padded("P=" + std::to_string(group->cells[0].producers) + " " + group->placement,
                         22)
                      .c_str());
    }
    std::printf("\n");
    for (const auto &subject : subjects()) {
      if (!best_of(*columns[0], subject.name)) continue;
      std::printf("  %-16s", subject.name.c_str());
      for (const auto *group : columns) {
        const Cell *ours = best_of(*group, "ours");
        const double bar = ours ? median(ours->kept(group->placement)) : 0;
        std::printf("  %s", padded(text_of(*group, subject.name, bar), 22).c_str());
      }
      std::printf("%s\n", subject.is_fifo ? subject.is_bounded ? "" : "  unbounded"
                                          : "  order of a producer only");
    }
    for (const auto *group : columns) print_bar(*group, group->cells[0].producers);
  }
  size_t measured = 0, discarded = 0;
  for (const auto &group : groups) measured += group.measured, discarded += group.discarded;
  std::printf("\nMedians, with their ratio to ours. p: faster with a consumer that paces itself. "
              "%zu of %zu repetitions were "
              "discarded because the cores had moved.\n",
              discarded, measured);
}

static std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (const char byte : text) {
    if (byte == '"' || byte == '\\') result += '\\';
    if (static_cast<unsigned char>(byte) >= 0x20) result += byte;
  }
  return result + '"';
}

static std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "unknown";
}

static std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown CPU";
}

/* The schema of the benchmark's own reports, so that 'bench compare' reads it. */
bool write_json(const Settings &settings, const std::vector<Group> &groups) {
  std::ofstream file(settings.json);
  utsname system{};
  uname(&system);
  double load = 0;
  getloadavg(&load, 1);
  file << "{\"schema\": 1, \"reactors\": 0, \"compiler\": " << quoted("g++ " __VERSION__)
       << ", \"commit\": " << quoted(environment("REACTOR_BENCH_COMMIT"))
       << ", \"machine\": {\"cpu\": " << quoted(processor())
       << ", \"cores\": " << std::thread::hardware_concurrency()
       << ", \"kernel\": " << quoted(std::string(system.sysname) + " " + system.release)
       << ", \"architecture\": " << quoted(system.machine) << ", \"loadAverage\": " << load
       << "}, \"results\": [";
  const char *separator = "\n";
  for (const auto &group : groups) {
    for (const auto &cell : group.cells) {
      auto values = cell.kept(group.placement);
      if (values.empty()) continue;
      file << separator << "{\"case\": "
           << quoted(cell.burst == 1 ? "peers.single" : "peers.burst" + std::to_string(cell.burst))
           << ", \"variant\": " << quoted(cell.subject->name + (cell.is_paced ? " paced" : ""))
           << ", \"producers\": " << cell.producers
           << ", \"unit\": \"M/s\", \"min\": " << *std::min_element(values.begin(), values.end())
           << ", \"median\": " << median(values)
           << ", \"max\": " << *std::max_element(values.begin(), values.end())
           << ", \"samples\": [";
      for (size_t i = 0; i < values.size(); i++) file << (i ? ", " : "") << values[i];
      file << "], \"allocationsPerAction\": null, \"shareOfLimit\": null, \"placement\": "
           << quoted(group.placement)
           << ", \"verified\": " << (cell.is_verified() ? "true" : "false")
           << ", \"stalls\": " << cell.stalls << "}";
      separator = ",\n";
    }
  }
  file << "\n]}\n";
  return file.flush().good();
}
