"""Compares servers under redis-benchmark: throughput, and processor time of the server per request; and by load.c, which sends at
half of the rate that the first of them reaches with it: how long replies take. All servers have all keys of load.c by then, and have
run it once at the rate that they reach themselves.

Each repetition visits all servers one after the other, so that what else the machine does meets all of them. Another one begins
after two repetitions, of which one goes backwards, so that none always follows the same one. Those that promises compare are
visited in further repetitions, so that the promises can be decided. The tables have the medians. Other programs on the machine
disturb throughput and latency much more than the processor time.
"""

import argparse
import contextlib
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

folder = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(folder, "../Tests"))

from servers import Process, encode  # noqa: E402

SERVERS = {
    "redis-server": [],
    "reactor, 1 thread": ["--threads", 1, "--shards", "reactor"],
    "mutex, 1 thread": ["--threads", 1, "--shards", "mutex", "--shard-count", 1],
    "actor, 1 thread": ["--threads", 1, "--shards", "actor", "--shard-count", 1],
    "reactor, 2 threads": ["--threads", 2, "--shards", "reactor"],
    "reactor on loops, 2 threads": ["--threads", 2, "--shards", "loop"],
    "mutex, 2 threads": ["--threads", 2, "--shards", "mutex", "--shard-count", 1],
    "reactor, 2 threads, 2 shards": ["--threads", 2, "--shards", "reactor", "--shard-count", 2],
    "mutex, 2 threads, 2 shards": ["--threads", 2, "--shards", "mutex", "--shard-count", 2],
    "actor, 2 threads": ["--threads", 2, "--shards", "actor", "--shard-count", 2],
}

# What promises compare: the first with each of the others.
PROMISED = "reactor, 2 threads", "mutex, 2 threads", "actor, 2 threads", "redis-server"

# With --data: what a write costs that is on the disk before its reply. DATA stands for a new folder.
DURABLE_SERVERS = {
    "redis-server, appendfsync always": ["--dir", "DATA", "--appendonly", "yes", "--appendfsync", "always"],
    "reactor, 1 thread, journal": ["--threads", 1, "--data", "DATA"],
    "reactor, 2 threads, journal": ["--threads", 2, "--data", "DATA"],
    "reactor, 2 threads, journal, early": ["--threads", 2, "--data", "DATA", "--acknowledge", "early"],
}


def coverage(count, out):
    """In how many of all cases the median is between the ends of `count` figures, without `out` of them at each end."""
    return 1 - 2 * sum(math.comb(count, index) for index in range(out + 1)) / 2**count


def left_out(count):
    """How many figures at each end do not belong to the interval, so that it still has the median in three of four cases."""
    return max((out for out in range((count + 1) // 2) if coverage(count, out) >= 0.75), default=0)


def processor_seconds(pid):
    """The processor time of all threads of a process."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat") as file:
            total += int(file.read().split()[0])
    return total / 1e9


def resident_megabytes(pid):
    """What of the process is in memory."""
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20


def request_count(depth, clients):
    """About half a second to a second; and so many that each client sends ten pipelines, and two hundred requests."""
    return max(50_000 if depth == 1 else 400_000, clients * max(10 * depth, 200))


def measure(server, command, depth, clients, count):
    """Returns requests per second, and microseconds of the server's processors per request."""
    before = processor_seconds(server.process.pid)
    output = subprocess.check_output(
        ["redis-benchmark", "-p", str(server.port), "-t", command, "-c", str(clients), "-P", str(depth),
         "-n", str(count), "-r", "100000", "-q"], text=True, stderr=subprocess.STDOUT)
    if "rror" in output:
        sys.exit(f"bench: {output[-500:]}")
    used = processor_seconds(server.process.pid) - before
    rate = float(re.findall(r"([0-9.]+) requests per second", output)[-1])
    return rate, used / count * 1e6


# As in load.c.
LOAD_KEYS, LOAD_VALUE = 100_000, "xyz"


def store_keys(connection):
    """Stores what load.c reads. It ends with an error if one of them is missing."""
    for first in range(0, LOAD_KEYS, 1000):
        connection.write(b"".join(encode("SET", f"key:{index:06}", LOAD_VALUE) for index in range(first, first + 1000)))
        if {connection.reply() for _ in range(1000)} != {"+OK"}:
            sys.exit("bench: a key was not stored")


def build_load(directory):
    """Returns the path of the program that sends at a steady rate."""
    program = os.path.join(directory, "load")
    subprocess.check_call([shutil.which("clang") or shutil.which("cc"), "-std=c11", "-O2",
                           os.path.join(folder, "load.c"), "-o", program])
    return program


def run_load(program, server, clients, rate):
    """Returns requests per second, and the 50th and the 99th percentile of the time of a reply in microseconds. A rate of 0 means
    that each client sends its next request when it has its reply."""
    words = subprocess.check_output([program, str(server.port), str(clients), "2", str(rate)], text=True).split()
    return float(words[0]), float(words[1]), float(words[3])


class Comparison:
    """What was measured with one number of clients: by server, and by command and depth."""

    def __init__(self, clients, names, cells):
        self.clients, self.names, self.cells = clients, names, cells
        self.rates_and_costs, self.latencies, self.memory = {}, {}, {}
        # Half of what the first server reaches.
        self.half = None

    def measure_half(self, server, load):
        store_keys(server.connect())
        self.half = run_load(load, server, self.clients, 0)[0] / 2

    def visit(self, name, server, load):
        for command, depth in self.cells:
            count = request_count(depth, self.clients)
            self.rates_and_costs.setdefault((name, command, depth), []).append(
                measure(server, command, depth, self.clients, count))
        store_keys(server.connect())
        # On each server, so that the run that counts finds all of them equally warm.
        run_load(load, server, self.clients, 0)
        self.latencies.setdefault(name, []).append(run_load(load, server, self.clients, self.half)[1:])
        self.memory.setdefault(name, []).append(resident_megabytes(server.process.pid))

    def rate(self, name, command, depth):
        return statistics.median(rate for rate, _ in self.rates_and_costs[name, command, depth])

    def cost(self, name, command, depth):
        return statistics.median(cost for _, cost in self.rates_and_costs[name, command, depth])

    def percentile(self, name, index):
        return statistics.median(latency[index] for latency in self.latencies[name])

    def table(self):
        heads = [f"{command.upper()} -P {depth}" for command, depth in self.cells]
        yield f"| {self.clients} clients | " + " | ".join(heads) + " | p50 | p99 | RSS |"
        yield "|---" * (len(self.cells) + 4) + "|"
        for name in self.names:
            texts = [f"{self.rate(name, *cell) / 1000:.0f} · {self.cost(name, *cell):.2f}" for cell in self.cells]
            texts += [f"{self.percentile(name, index):.0f}" for index in (0, 1)]
            yield f"| {name} | " + " | ".join(texts) + f" | {statistics.median(self.memory[name]):.0f} |"

    def ratio(self, text, bar, is_met, figures, others):
        """A promise on the ratio of two servers, each repetition's by its own: both were visited in the same one. It is decided if
        there are three, and both ends of the interval are on one side of the bar."""
        ratios = sorted(figure / other for figure, other in zip(figures, others))
        low, high = ratios[left_out(len(ratios))], ratios[-1 - left_out(len(ratios))]
        decision = "undecided" if len(ratios) < 3 or is_met(low) != is_met(high) else "met" if is_met(low) else "NOT MET"
        return text, f"{statistics.median(ratios):.2f} × ({low:.2f}–{high:.2f})", bar, decision

    def bars(self):
        """What is promised, if the servers are there: the text, the figure, the bar, and whether the promise is kept."""
        ours, mutex, actor, redis = PROMISED
        if not set(PROMISED) <= set(self.names):
            return
        for command, depth in self.cells:
            what = f"{self.clients} clients, {command.upper()} -P {depth}"
            rates, costs = ({name: [pair[index] for pair in self.rates_and_costs[name, command, depth]] for name in
                             (ours, mutex, actor, redis)} for index in (0, 1))
            yield self.ratio(f"{what}: processor time, against mutexes", "at most 1.10", lambda ratio: ratio <= 1.10,
                             costs[ours], costs[mutex])
            yield self.ratio(f"{what}: processor time, against actors", "below 1.00", lambda ratio: ratio < 1,
                             costs[ours], costs[actor])
            if depth == 16:
                yield self.ratio(f"{what}: throughput, against redis-server", "at least 1.00", lambda ratio: ratio >= 1,
                                 rates[ours], rates[redis])
        tails = {name: [latency[1] for latency in self.latencies[name]] for name in (ours, redis)}
        yield self.ratio(f"{self.clients} clients, half load: p99, against redis-server", "at most 2.00",
                         lambda ratio: ratio <= 2, tails[ours], tails[redis])


def processor():
    """Returns the name of the processor. Hypervisors hide which one of a line it is: then with its numbers."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        fields = dict((part.strip() for part in line.split(":", 1)) for line in file if ":" in line)
    name = fields.get("model name", "unknown processor")
    if re.search(r"\d", name) or "cpu family" not in fields:
        return name
    return f"{name} (family {fields['cpu family']}, model {fields['model']})"


def report(comparisons, repetitions, more, loads):
    """Yields the lines of the report, after `more` repetitions of those that promises compare."""
    first = comparisons[0].names[0]
    further = f" ({repetitions + more} of those that promises compare)" if more else ""
    yield (f"Medians of {repetitions} repetitions{further}: thousand requests per second · processor time of the server per request in µs; "
           f"then percentiles of the time of a reply in µs at half of the load that {first} carries without pipelining, and "
           "resident memory afterwards in MB.")
    commit = subprocess.check_output([os.path.join(folder, "../../../Scripts/commit-name")], text=True).strip()
    yield f"{processor()}, {os.cpu_count()} processors, load average {min(loads):.1f} to {max(loads):.1f}, commit {commit}."
    for comparison in comparisons:
        yield ""
        yield from comparison.table()
    bars = [bar for comparison in comparisons for bar in comparison.bars()]
    if bars:
        yield ""
        repetitions += more
        out = left_out(repetitions)
        yield ("A promise is met, or not met, if the whole interval of its ratio is on that side of the bar, and there are three "
               f"repetitions; otherwise it is undecided. The interval is that of {repetitions} repetitions without {out} at each end, "
               f"which contains the median in {coverage(repetitions, out):.0%} of all cases.")
        yield ""
        yield "| promise | measured: median and interval of the repetitions | bar | |"
        yield "|---|--:|--:|---|"
        for text, ratio, bar, decision in bars:
            yield f"| {text} | {ratio} | {bar} × | {decision} |"


def write_results(lines):
    """Replaces the part of Benchmarks/RESULTS.md that is about servers."""
    path = os.path.join(folder, "../../../Benchmarks/RESULTS.md")
    begin, end = "<!-- begin of Scripts/bench-service -->\n", "<!-- end of Scripts/bench-service -->\n"
    with open(path) as file:
        before, rest = file.read().split(begin)
    with open(path, "w") as file:
        file.write(before + begin + "\n".join(lines) + "\n" + end + rest.split(end)[1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repetitions", type=int, default=6)
    parser.add_argument("--more", type=int, default=0, metavar="REPETITIONS",
                        help="further repetitions, of the servers that promises compare")
    parser.add_argument("--depths", default="1,16,64")
    parser.add_argument("--clients", default="50", help="one or more numbers of clients, by commas")
    parser.add_argument("--commands", default="set,get")
    parser.add_argument("--servers", default="", help="only those whose name contains one of these words, by commas")
    parser.add_argument("--data", metavar="DIR",
                        help="also servers that keep their data, in this folder; it belongs on a disk, not in memory")
    parser.add_argument("--write-results", action="store_true",
                        help="write the tables to Benchmarks/RESULTS.md; not with --servers")
    options = parser.parse_args()
    if options.write_results and options.servers:
        parser.error("--write-results needs all servers")
    words = [word for word in options.servers.split(",") if word]
    servers = {**SERVERS, **DURABLE_SERVERS} if options.data else SERVERS
    names = [name for name in servers if not words or any(word in name for word in words)]
    if options.more and not set(PROMISED) <= set(names):
        parser.error("--more needs the servers that promises compare: " + ", ".join(PROMISED))
    cells = [(command, int(depth)) for depth in options.depths.split(",") for command in options.commands.split(",")]
    comparisons = [Comparison(int(clients), names, cells) for clients in options.clients.split(",")]
    loads = []

    @contextlib.contextmanager
    def started(name):
        with tempfile.TemporaryDirectory(dir=options.data) as data, \
                Process(*(data if argument == "DATA" else argument for argument in servers[name]),
                        reference=name.startswith("redis-server")) as server:
            yield server

    with tempfile.TemporaryDirectory() as directory:
        load = build_load(directory)
        for repetition in range(options.repetitions + options.more):
            if repetition == options.repetitions:
                names = [name for name in names if name in PROMISED]
            for comparison in comparisons:
                with started(names[0]) as server:
                    comparison.measure_half(server, load)
                # Each begins once forwards and once backwards; the further repetitions begin anew.
                number = repetition if repetition < options.repetitions else repetition - options.repetitions
                turn = number // 2 % len(names)
                for name in (names[turn:] + names[:turn])[::-1 if repetition % 2 else 1]:
                    loads.append(os.getloadavg()[0])
                    with started(name) as server:
                        comparison.visit(name, server, load)
    lines = list(report(comparisons, options.repetitions, options.more, loads))
    print("\n".join(lines))
    if options.write_results:
        write_results(lines)


if __name__ == "__main__":
    main()
