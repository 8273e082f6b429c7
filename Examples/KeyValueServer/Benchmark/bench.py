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
import tempfile

folder = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(folder, "../Tests"))

from servers import Process  # noqa: E402

SERVERS = {
    "redis-server": [],
    "reactor, 1 thread": ["--threads", 1, "--shards", "reactor"],
    "mutex, 1 thread": ["--threads", 1, "--shards", "mutex", "--shard-count", 1],
    "actor, 1 thread": ["--threads", 1, "--shards", "actor", "--shard-count", 1],
    "reactor, 2 threads": ["--threads", 2, "--shards", "reactor"],
    "mutex, 2 threads": ["--threads", 2, "--shards", "mutex", "--shard-count", 2],
    "mutex, 2 threads, 32 shards": ["--threads", 2, "--shards", "mutex", "--shard-count", 32],
    "actor, 2 threads": ["--threads", 2, "--shards", "actor", "--shard-count", 2],
}

# With --data: what a write costs that is on the disk before its reply. DATA stands for a new folder.
DURABLE_SERVERS = {
    "redis-server, appendfsync always": ["--dir", "DATA", "--appendonly", "yes", "--appendfsync", "always"],
    "reactor, 1 thread, journal": ["--threads", 1, "--data", "DATA"],
    "reactor, 2 threads, journal": ["--threads", 2, "--data", "DATA"],
    "reactor, 2 threads, journal, early": ["--threads", 2, "--data", "DATA", "--acknowledge", "early"],
}


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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--depths", default="1,16,64")
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--commands", default="set,get")
    parser.add_argument("--servers", default="", help="only those whose name contains one of these words, by commas")
    parser.add_argument("--data", metavar="DIR",
                        help="also servers that keep their data, in this folder; it belongs on a disk, not in memory")
    options = parser.parse_args()
    words = [word for word in options.servers.split(",") if word]
    servers = {**SERVERS, **DURABLE_SERVERS} if options.data else SERVERS
    names = [name for name in servers if not words or any(word in name for word in words)]
    cells = [(command, int(depth)) for depth in options.depths.split(",") for command in options.commands.split(",")]
    found = {}
    memory = {}
    loads = []
    for _ in range(options.repetitions):
        for name in names:
            loads.append(os.getloadavg()[0])
            is_reference = name.startswith("redis-server")
            with tempfile.TemporaryDirectory(dir=options.data) as data, \
                    Process(*(data if argument == "DATA" else argument for argument in servers[name]),
                            reference=is_reference) as server:
                for command, depth in cells:
                    count = request_count(depth, options.clients)
                    found.setdefault((name, command, depth), []).append(
                        measure(server, command, depth, options.clients, count))
                memory.setdefault(name, []).append(resident_megabytes(server.process.pid))
    print(f"-c {options.clients}, {options.repetitions} repetitions, medians: thousand requests per second · "
          f"processor time of the server per request in µs; resident memory afterwards in MB")
    print(f"{os.cpu_count()} processors, load average {min(loads):.1f} to {max(loads):.1f}\n")
    print("| server | " + " | ".join(f"{command.upper()} -P {depth}" for command, depth in cells) + " | RSS |")
    print("|---" * (len(cells) + 2) + "|")
    for name in names:
        texts = []
        for command, depth in cells:
            rates, costs = zip(*found[name, command, depth])
            texts.append(f"{statistics.median(rates) / 1000:.0f} · {statistics.median(costs):.2f}")
        print(f"| {name} | " + " | ".join(texts) + f" | {statistics.median(memory[name]):.0f} |")


if __name__ == "__main__":
    main()
