#include "race.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <sys/utsname.h>
#include <thread>

static std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (const char byte : text) {
    if (byte == '"' || byte == '\\') result += '\\';
    if (static_cast<unsigned char>(byte) >= 0x20) result += byte;
  }
  return result + '"';
}

static const char *word(bool value) { return value ? "true" : "false"; }

static std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "unknown";
}

/* As in the benchmark: with its numbers if the name does not tell which one it is. */
static std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  std::map<std::string, std::string> values;
  for (std::string line; std::getline(file, line) && !line.empty();) {
    const size_t key = line.find_last_not_of(" \t", line.find(':') - 1);
    const size_t value = line.find_first_not_of(" \t", line.find(':') + 1);
    if (value != std::string::npos) values[line.substr(0, key + 1)] = line.substr(value);
  }
  const std::string name = values["model name"];
  if (name.empty()) return "unknown CPU";
  if (name.find_first_of("0123456789") != std::string::npos) return name;
  return name + " (family " + values["cpu family"] + ", model " + values["model"] + ")";
}

Begin begin_now() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  double load = 0;
  getloadavg(&load, 1);
  return {text, load};
}

/* The name of a case. That of the quiet machine is not in it. */
static std::string case_of(const Group &group, Figure figure) {
  std::string name = "peers.";
  if (group.condition != Condition::quiet) name += std::string(name_of(group.condition)) + ".";
  name += group.workload.name;
  return figure == Figure::rate ? name : name + (figure == Figure::p50 ? ".p50" : ".p99");
}

static void write_cell(std::ofstream &file, const Group &group, const Cell &cell, Figure figure) {
  const auto values = cell.kept(figure, group.placement);
  file << "{\"case\": " << quoted(case_of(group, figure))
       << ", \"variant\": " << quoted(cell.subject->name + (cell.is_paced ? " paced" : ""))
       << ", \"subject\": " << quoted(cell.subject->name)
       << ", \"isBounded\": " << word(cell.subject->is_bounded)
       << ", \"isFIFO\": " << word(cell.subject->is_fifo) << ", \"producers\": " << group.producers
       << ", \"unit\": " << (figure == Figure::rate ? "\"M/s\"" : "\"ns\"")
       << ", \"min\": " << *std::min_element(values.begin(), values.end())
       << ", \"median\": " << median(values)
       << ", \"max\": " << *std::max_element(values.begin(), values.end()) << ", \"samples\": [";
  for (size_t i = 0; i < values.size(); i++) file << (i ? ", " : "") << values[i];
  file << "], \"rounds\": [";
  const auto rounds = cell.kept_rounds(group.placement);
  for (size_t i = 0; i < rounds.size(); i++) file << (i ? ", " : "") << rounds[i];
  file << "], \"allocationsPerAction\": null, \"shareOfLimit\": null, \"placement\": "
       << quoted(group.placement) << ", \"verified\": " << word(cell.is_verified()) << "}";
}

/* The schema of the benchmark's own reports, so that 'bench compare' reads it. In addition it has
 * what is known of each queue, and what went wrong. */
bool write_json(const Settings &settings, const Begin &begin, const std::vector<Group> &groups) {
  std::ofstream file(new_name(settings));
  utsname system{};
  uname(&system);
  file << "{\"schema\": 1, \"reactors\": 0, \"compiler\": " << quoted("g++ " __VERSION__)
       << ", \"commit\": " << quoted(environment("REACTOR_BENCH_COMMIT"))
       << ", \"measuredAt\": " << quoted(begin.time)
       << ", \"seconds\": " << settings.seconds * settings.repetitions
       << ", \"repetitions\": " << settings.repetitions << ", \"placementAsked\": "
       << (settings.placement.empty() ? "null" : quoted(settings.placement))
       << ", \"machine\": {\"cpu\": " << quoted(processor())
       << ", \"cores\": " << std::thread::hardware_concurrency()
       << ", \"kernel\": " << quoted(std::string(system.sysname) + " " + system.release)
       << ", \"architecture\": " << quoted(system.machine) << ", \"loadAverage\": " << begin.load
       << "}, \"results\": [";
  const char *separator = "\n";
  for (const auto &group : groups) {
    for (const auto &cell : group.cells) {
      for (const Figure figure : group.workload.figures) {
        if (cell.kept(figure, group.placement).empty()) continue;
        file << separator;
        write_cell(file, group, cell, figure);
        separator = ",\n";
      }
    }
  }
  file << "\n], \"problems\": [";
  separator = "\n";
  for (const auto &group : groups) {
    for (const auto &cell : group.cells) {
      if (cell.is_verified()) continue;
      file << separator << "{\"case\": " << quoted(case_of(group, Figure::rate))
           << ", \"variant\": " << quoted(cell.subject->name + (cell.is_paced ? " paced" : ""))
           << ", \"producers\": " << group.producers
           << ", \"words\": " << quoted(cell.problems().substr(1))
           << ", \"stalls\": " << cell.stalls << "}";
      separator = ",\n";
    }
  }
  file << "\n]}\n";
  file.close();
  return file.good() && std::rename(new_name(settings).c_str(), settings.json.c_str()) == 0;
}
