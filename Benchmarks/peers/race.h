/* Repetitions in children, and what they were worth. */
#ifndef RACE_H
#define RACE_H

#include <optional>

#include "peer.h"

/* What became of one repetition. */
enum class Ending { measured, stalled, crashed };

struct Repetition {
  Ending ending;
  Outcome outcome; /* if it was measured */
};

/*
 * Runs one repetition in a forked child, and kills it if it takes far longer than its time: a queue
 * that loses an item, or whose producers wait for one that is not running, costs seconds and not
 * the race.
 */
Repetition run_in_child(const Subject &subject, const Request &request);

/* Where the two cores are, by the round trip of a cache line between them. The same classes as in
 * CorePlacement.swift. */
std::string placement_now(const std::vector<int> &cpus);

/* One row of one table in one column. */
struct Cell {
  const Subject *subject;
  bool is_paced;
  unsigned burst;
  unsigned producers;
  std::vector<std::pair<double, std::string>> samples; /* M/s, and the placement */
  unsigned stalls = 0, crashes = 0;
  bool lost_order = false, is_wrong = false;

  std::vector<double> kept(const std::string &placement) const;
  bool is_verified() const { return stalls == 0 && crashes == 0 && !lost_order && !is_wrong; }
};

struct Settings {
  std::vector<unsigned> producers{1, 2, 4, 8};
  std::vector<unsigned> bursts{1, 16, 32};
  std::vector<std::string> subjects; /* beginnings of names; none: all */
  unsigned repetitions = 5;
  double seconds = 0.05;
  bool is_floating = false;
  std::string json;
};

/* The cells of one burst and one number of producers, which took turns. */
struct Group {
  std::vector<Cell> cells;
  std::string placement;
  size_t measured = 0, discarded = 0;
};

Group run_group(const Settings &settings, const std::vector<int> &cpus, unsigned burst,
                unsigned producers);

/* Whether the race finds out what is wrong with queues that have defects. */
bool passes_self_test();

double median(std::vector<double> values);
void print_tables(const Settings &settings, const std::vector<Group> &groups);
bool write_json(const Settings &settings, const std::vector<Group> &groups);

#endif
