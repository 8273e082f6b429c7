#include "race.h"

#include <algorithm>
#include <cstdio>

static double median_of(const Group &group, const Cell &cell, Figure figure) {
  return median(cell.kept(figure, group.placement));
}

/* The better of a subject's two cells, with and without pacing; null if it was not measured. */
static const Cell *best_of(const Group &group, const std::string &name, Figure figure) {
  const Cell *best = nullptr;
  for (const auto &cell : group.cells) {
    if (cell.subject->name != name) continue;
    const double value = median_of(group, cell, figure);
    if (!best || median_of(group, *best, figure) == 0 ||
        (value > 0 && is_better(figure, value, median_of(group, *best, figure)))) {
      best = &cell;
    }
  }
  return best;
}

static std::string text_of(const Group &group, const std::string &name, Figure figure) {
  const Cell *best = best_of(group, name, figure);
  if (!best) return "–";
  Cell all = *best;
  for (const auto &cell : group.cells) {
    if (cell.subject->name != name) continue;
    all.stalls += cell.stalls;
    all.crashes += cell.crashes;
    all.lost_order = all.lost_order || cell.lost_order;
    all.is_wrong = all.is_wrong || cell.is_wrong;
  }
  const double value = median_of(group, *best, figure);
  if (value == 0) return "none" + all.problems();
  char text[64];
  std::snprintf(text, sizeof text, "%.0f%s", value, best->is_paced ? "p" : "");
  std::string result = text;
  const Cell *ours = best_of(group, "ours", figure);
  const double bar = ours ? median_of(group, *ours, figure) : 0;
  if (bar > 0 && name != "ours") {
    std::snprintf(text, sizeof text, " (%.2f)", value / bar);
    result += text;
  }
  return result + all.problems();
}

/* Pads by characters, not by bytes. */
static std::string padded(const std::string &text, size_t width) {
  const auto count = static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
  return std::string(count < width ? width - count : 0, ' ') + text;
}

static std::string title_of(const Workload &workload, Figure figure) {
  const char *which = figure == Figure::p50 ? "p50" : "p99";
  switch (workload.work) {
  case Work::throughput:
    return workload.burst == 1 ? "One item at a time, M items/s"
                               : "Bursts of " + std::to_string(workload.burst) + ", M items/s";
  case Work::ping_pong:
    return "There and back through two queues, " + std::string(which) + " in ns";
  case Work::latency:
    return "An item every " + std::to_string(LATENCY_INTERVAL_NS) + " ns, " + which +
           " in ns from when it was due";
  }
  return "";
}

/* The groups of one condition and one workload, which are the columns. */
static void print_table(const std::vector<const Group *> &columns, Figure figure) {
  const Group &first = *columns[0];
  std::printf("\n%s · %s\n  %-18s", title_of(first.workload, figure).c_str(),
              name_of(first.condition), "");
  for (const auto *group : columns) {
    const std::string head = "P=" + std::to_string(group->producers) + " " + group->placement;
    std::printf("  %s", padded(head, 22).c_str());
  }
  std::printf("\n");
  for (const auto &subject : subjects()) {
    if (!best_of(first, subject.name, figure)) continue;
    std::printf("  %-18s", subject.name.c_str());
    for (const auto *group : columns) {
      std::printf("  %s", padded(text_of(*group, subject.name, figure), 22).c_str());
    }
    std::printf("%s%s\n", subject.is_bounded ? "" : "  unbounded",
                subject.is_fifo ? "" : "  order of a producer only");
  }
}

void print_tables(const std::vector<Group> &groups) {
  for (size_t start = 0; start < groups.size();) {
    std::vector<const Group *> columns;
    size_t end = start;
    while (end < groups.size() && groups[end].condition == groups[start].condition &&
           groups[end].workload.name == groups[start].workload.name) {
      if (!groups[end].cells.empty()) columns.push_back(&groups[end]);
      end++;
    }
    for (const Figure figure : groups[start].workload.figures) {
      if (!columns.empty()) print_table(columns, figure);
    }
    start = end;
  }
  size_t measured = 0, discarded = 0;
  for (const auto &group : groups) measured += group.measured, discarded += group.discarded;
  std::printf("\nMedians, with their ratio to ours. p: faster with a consumer that paces itself. "
              "%zu of %zu repetitions were "
              "discarded because the cores had moved.\n",
              discarded, measured);
}
