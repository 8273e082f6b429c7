"""Compares servers under redis-benchmark: throughput, and processor time of the server per request.

Each repetition visits all servers one after the other, so that what else the machine does meets all of them. The table has the
medians. Other programs on the machine disturb the throughput much more than the processor time.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys

folder = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(folder, "../Tests"))

from servers import Process  # noqa: E402

SERVERS = {
    "redis-server": None,
    "reactor, 1 thread": ["--threads", 1, "--shards", "reactor"],
    "mutex, 1 thread": ["--threads", 1, "--shards", "mutex", "--shard-count", 1],
    "actor, 1 thread": ["--threads", 1, "--shards", "actor", "--shard-count", 1],
    "reactor, 2 threads": ["--threads", 2, "--shards", "reactor"],
    "mutex, 2 threads": ["--threads", 2, "--shards", "mutex", "--shard-count", 2],
    "mutex, 2 threads, 32 shards": ["--threads", 2, "--shards", "mutex", "--shard-count", 32],
    "actor, 2 threads": ["--threads", 2, "--shards", "actor", "--shard-count", 2],
}


def processor_seconds(pid):
    """The processor time of all threads of a process."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat") as file:
            total += int(file.read().split()[0])
    return total / 1e9


def measure(server, command, depth, clients, count):
    """Returns requests per second, and microseconds of the server's processors per request."""
    before = processor_seconds(server.process.pid)
    output = subprocess.check_output(
        ["redis-benchmark", "-p", str(server.port), "-t", command, "-c", str(clients), "-P", str(depth),
         "-n", str(count), "-r", "100000", "-q"], text=True, stderr=subprocess.STDOUT)
    used = processor_seconds(server.process.pid) - before
    rate = float(re.findall(r"([0-9.]+) requests per second", output)[-1])
    return rate, used / count * 1e6


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--depths", default="1,16,64")
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--commands", default="set,get")
    parser.add_argument("--servers", default="", help="only those whose name contains one of these words, by commas")
    options = parser.parse_args()
    words = [word for word in options.servers.split(",") if word]
    names = [name for name in SERVERS if not words or any(word in name for word in words)]
    cells = [(command, int(depth)) for depth in options.depths.split(",") for command in options.commands.split(",")]
    found = {}
    loads = []
    for _ in range(options.repetitions):
        for name in names:
            loads.append(os.getloadavg()[0])
            arguments = SERVERS[name]
            with Process(*(arguments or []), reference=arguments is None) as server:
                for command, depth in cells:
                    # About half a second to a second each.
                    count = 50_000 if depth == 1 else 400_000
                    found.setdefault((name, command, depth), []).append(
                        measure(server, command, depth, options.clients, count))
    print(f"-c {options.clients}, {options.repetitions} repetitions, medians: thousand requests per second · "
          f"processor time of the server per request in µs")
    print(f"{os.cpu_count()} processors, load average {min(loads):.1f} to {max(loads):.1f}\n")
    print("| server | " + " | ".join(f"{command.upper()} -P {depth}" for command, depth in cells) + " |")
    print("|---" * (len(cells) + 1) + "|")
    for name in names:
        texts = []
        for command, depth in cells:
            rates, costs = zip(*found[name, command, depth])
            texts.append(f"{statistics.median(rates) / 1000:.0f} · {statistics.median(costs):.2f}")
        print(f"| {name} | " + " | ".join(texts) + " |")


if __name__ == "__main__":
    main()
