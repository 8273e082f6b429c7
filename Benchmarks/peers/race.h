/* Repetitions in children, and what they were worth. */
#ifndef RACE_H
#define RACE_H

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

inline bool is_ours(const Subject &subject) { return subject.name.rfind("ours", 0) == 0; }

/* One figure of a repetition, which has a table of its own. */
enum class Figure { rate, p50, p99 };

/* The figure in million items per second, or in nanoseconds. */
double value_of(Figure figure, const Outcome &outcome);
inline bool is_better(Figure figure, double value, double than) {
  return figure == Figure::rate ? value > than : value < than;
}

/* What all subjects do, in one part of the race. */
struct Workload {
  std::string name; /* as in the report */
  Work work;
  unsigned burst;
  std::vector<Figure> figures;
};

/* Where the threads run, and beside what. */
enum class Condition {
  /* A core for the consumer while there is one for each thread; otherwise all threads float. */
  quiet,
  /* All threads float, and another thread computes on each core. */
  oversubscribed,
  /* The consumer has a core, and the producers share the others, however many they are. */
  pinned
};
const char *name_of(Condition condition);

/* A repetition that ended. The round is its number in the whole race. */
struct Sample {
  Outcome outcome;
  std::string placement;
  unsigned round;
};

/* One row of one table in one column. */
struct Cell {
  const Subject *subject;
  bool is_paced;
  std::vector<Sample> samples;
  unsigned stalls = 0, crashes = 0;
  bool lost_order = false, is_wrong = false;

  std::vector<double> kept(Figure figure, const std::string &placement) const;
  std::vector<unsigned> kept_rounds(const std::string &placement) const;
  bool is_verified() const { return stalls == 0 && crashes == 0 && !lost_order && !is_wrong; }
  /* What was wrong, each word once and after a space; empty if nothing was. */
  std::string problems() const;
};

struct Settings {
  std::vector<unsigned> producers{1, 2, 4, 8};
  std::vector<Workload> workloads;
  std::vector<Condition> conditions{Condition::quiet, Condition::oversubscribed, Condition::pinned};
  std::vector<std::string> subjects; /* beginnings of names; none: all */
  unsigned repetitions = 5;
  double seconds = 0.05;
  /* The placement that is waited for, and for how long in all; empty: whatever there is. */
  std::string placement;
  double patience = 60;
  std::string json;
};

/* When the race began, and the load of the machine in the minute before: afterwards it would be
 * that of the race itself. */
struct Begin {
  std::string time; /* ISO 8601 */
  double load;
};
Begin begin_now();

/* The cells of one condition, workload and number of producers, which took turns. */
struct Group {
  Condition condition;
  Workload workload;
  unsigned producers;
  std::vector<Cell> cells;
  std::string placement;
  size_t measured = 0, discarded = 0;
};

/* Measures groups on the CPUs of this process. */
class Race {
  const Settings &settings;
  std::vector<int> cpus;
  double ns_per_tick;
  double patience;     /* seconds of waiting for a placement that are left */
  unsigned rounds = 0; /* of all groups */

  Request request_of(const Group &group, const Cell &cell) const;
  std::string placement_when_asked();
  void measure(const Group &group, Cell &cell);
  std::string prevailing(const std::vector<Cell> &cells) const;

public:
  explicit Race(const Settings &settings);
  Group run(Condition condition, const Workload &workload, unsigned producers);
  bool has_lost_patience() const { return patience <= 0; }
};

/* Whether the race finds out what is wrong with queues that have defects. */
bool passes_self_test();

double median(std::vector<double> values);
void print_tables(const std::vector<Group> &groups);
/* Where the report is written at first. It takes the place of an earlier one when it is whole. */
inline std::string new_name(const Settings &settings) { return settings.json + ".new"; }
bool write_json(const Settings &settings, const Begin &begin, const std::vector<Group> &groups);

#endif
