"""Keeps one server under mixed load, and checks what it replies and how much memory it takes.

    soak.py SECONDS

redis-benchmark makes the load. Beside it, clients check a history: no read is older than an acknowledged write or than what
another client has read, no increment is lost, a transaction is never seen in parts, and a queue keeps its order. The memory
is printed every ten seconds. It fails if its median in the last third of the time exceeds that of the first third by more
than 10 %. The last line says how many of these checks passed and failed. The server is that of KV_SERVER.
"""

import os
import random
import statistics
import subprocess
import sys
import threading
import time

import redis

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from servers import Process  # noqa: E402

REGISTERS, COUNTERS, PAIRS = 64, 8, 8
# After how many commands a client connects again.
COMMANDS_PER_CONNECTION = 5000
LOAD = "ping_mbulk,set,get,incr,lpush,rpush,lpop,rpop,sadd,hset,spop,zadd,zpopmin,mset"


class Soak:
    def __init__(self, server, seed):
        self.server = server
        self.seed = seed
        self.is_over = threading.Event()
        # What is wrong, by check.
        self.wrong = {check: [] for check in ("registers", "counters", "transactions", "queue", "load", "memory", "end")}
        self.commands = {}
        # Versions of registers: each has one writer. `started` is set before the write is sent; `known` after it was
        # acknowledged, or after a client has read it. Two threads may overwrite each other's `known`: that makes it smaller,
        # and so the check weaker, and never wrong.
        self.started = [0] * REGISTERS
        self.known = [0] * REGISTERS
        # How often each counter was incremented, by client.
        self.increments = []
        self.pushed = 0

    def fail(self, check, text):
        self.wrong[check].append(text)
        if len(self.wrong[check]) <= 5:
            print(f"WRONG: {check}: {text}", flush=True)

    def run_client(self, check, name, body):
        """Calls `body` with a client and random numbers again and again, until the end."""
        choices = random.Random(f"{self.seed} {name}")
        count, client = 0, None
        try:
            while not self.is_over.is_set():
                if client is None or count % COMMANDS_PER_CONNECTION == COMMANDS_PER_CONNECTION - 1:
                    if client is not None:
                        client.close()
                    client = redis.Redis(port=self.server.port, socket_timeout=60)
                body(client, choices)
                count += 1
        except Exception as error:  # noqa: BLE001: whatever it is, the check did not hold.
            self.fail(check, f"{name}: {error!r}")
        self.commands[name] = count

    # Checks. Each returns what one client does.

    def write_registers(self, writer, writers):
        own = [index for index in range(REGISTERS) if index % writers == writer]

        def write(client, choices):
            index = choices.choice(own)
            version = self.started[index] + 1
            self.started[index] = version
            kind = choices.randrange(4)
            if kind == 0:
                client.mset({f"register-{index}": version, f"other-{choices.randrange(1000)}": "x"})
            elif kind == 1:
                client.set(f"register-{index}", version, ex=100_000)
            else:
                client.set(f"register-{index}", version)
            self.known[index] = max(self.known[index], version)
        return write

    def read_registers(self):
        def read(client, choices):
            indices = [choices.randrange(REGISTERS) for _ in range(choices.choice([1, 1, 5]))]
            floors = [self.known[index] for index in indices]
            values = client.mget([f"register-{index}" for index in indices])
            for index, floor, value in zip(indices, floors, values):
                version = int(value or 0)
                if not floor <= version <= self.started[index]:
                    self.fail("registers", f"{index}: read {version} after {floor}, written up to {self.started[index]}")
                self.known[index] = max(self.known[index], version)
        return read

    def increment(self):
        counts, last = [0] * COUNTERS, [0] * COUNTERS
        self.increments.append(counts)

        def increment(client, choices):
            index = choices.randrange(COUNTERS)
            name, amount = f"counter-{index}", choices.choice([1, 1, 7])
            pipeline = client.pipeline(transaction=choices.randrange(2) == 0)
            for _ in range(amount):
                pipeline.incr(name)
            for value in pipeline.execute():
                if value <= last[index]:
                    self.fail("counters", f"{name}: {value} after {last[index]}")
                last[index] = value
            counts[index] += amount
        return increment

    def write_pairs(self, writer):
        def write(client, choices):
            name = f"{{pair-{writer}-{choices.randrange(PAIRS)}}}"
            value = choices.randrange(1 << 30)
            client.pipeline().set(name + "a", value).set(name + "b", value).execute()
        return write

    def read_pairs(self, writers):
        def read(client, choices):
            name = f"{{pair-{choices.randrange(writers)}-{choices.randrange(PAIRS)}}}"
            one, other = client.pipeline().get(name + "a").get(name + "b").execute()
            if one != other:
                self.fail("transactions", f"{name}: {one} and {other}")
        return read

    def push(self):
        def push(client, choices):
            if client.llen("queue") > 1000:
                return time.sleep(0.001)
            numbers = range(self.pushed, self.pushed + choices.randrange(1, 20))
            self.pushed = numbers.stop
            client.rpush("queue", *numbers)
        return push

    def pop(self):
        expected = 0

        def pop(client, _):
            nonlocal expected
            value = client.lpop("queue")
            if value is None:
                return time.sleep(0.001)
            if int(value) != expected:
                self.fail("queue", f"{int(value)} instead of {expected}")
            expected = int(value) + 1
        return pop

    def expire(self):
        def expire(client, choices):
            client.set(f"expires-{choices.randrange(5000)}", "x" * choices.randrange(100), px=choices.randrange(1, 500))
        return expire

    # The load

    def load(self):
        """One round takes about a second: what it has pushed it also pops, so that no round needs more memory than another."""
        result = subprocess.run(
            ["redis-benchmark", "-p", str(self.server.port), "-t", LOAD, "-n", "10000", "-c", "20", "-P", "16", "-r", "2000",
             "-q"], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if result.returncode != 0 or "rror" in result.stdout:
            self.fail("load", result.stdout[-300:])
        return result.returncode == 0

    def run_load(self):
        rounds = 0
        while not self.is_over.is_set() and self.load():
            rounds += 1
        self.commands["rounds of redis-benchmark"] = rounds

    # Memory

    def sample(self, begin):
        memory = redis.Redis(port=self.server.port).info("memory")
        print(f"{time.time() - begin:7.0f} s: resident {memory['used_memory_rss'] / 2**20:.1f} MB, "
              f"allocated {memory['used_memory'] / 2**20:.1f} MB", flush=True)
        return memory["used_memory_rss"]

    def check_memory(self, samples):
        third = max(1, len(samples) // 3)
        first, last = statistics.median(samples[:third]), statistics.median(samples[-third:])
        print(f"resident in the first third {first / 2**20:.1f} MB, in the last {last / 2**20:.1f} MB", flush=True)
        if last > 1.1 * first:
            self.fail("memory", f"{first} bytes have become {last}")

    def run(self, seconds):
        bodies = [("registers", f"writer {i}", self.write_registers(i, 3)) for i in range(3)]
        bodies += [("registers", f"reader {i}", self.read_registers()) for i in range(3)]
        bodies += [("counters", f"counter {i}", self.increment()) for i in range(3)]
        bodies += [("transactions", f"pair writer {i}", self.write_pairs(i)) for i in range(2)]
        bodies += [("transactions", "pair reader", self.read_pairs(2))]
        bodies += [("queue", "pusher", self.push()), ("queue", "popper", self.pop()), ("load", "expiry", self.expire())]
        threads = [threading.Thread(target=self.run_client, args=body) for body in bodies]
        threads.append(threading.Thread(target=self.run_load))
        # Until all keys are there and the allocator has what it needs.
        self.load()
        for thread in threads:
            thread.start()
        interval = min(10, seconds / 6)
        # The memory of the clients' connections and of the queue comes first.
        time.sleep(2 * interval)
        begin, samples = time.time(), []
        while time.time() - begin < seconds:
            samples.append(self.sample(begin))
            time.sleep(interval)
        self.is_over.set()
        for thread in threads:
            thread.join()
        self.check_memory(samples)
        self.check_end()
        for name, count in self.commands.items():
            print(f"{name}: {count}", flush=True)
            if count == 0:
                self.fail("load", f"{name} has done nothing")

    def check_end(self):
        client = redis.Redis(port=self.server.port)
        for index in range(COUNTERS):
            count, value = sum(counts[index] for counts in self.increments), int(client.get(f"counter-{index}") or 0)
            if value != count:
                self.fail("counters", f"counter-{index} is {value} after {count} increments")
        client.close()
        status, log = self.server.terminate()
        if status != 0 or "info ended" not in log or " error " in log:
            self.fail("end", f"status {status}: {log[-1000:]}")


def main():
    if len(sys.argv) != 2 or not sys.argv[1].isdigit() or int(sys.argv[1]) < 1:
        sys.exit(__doc__)
    seed = int(os.environ.get("KV_SEED", random.randrange(1 << 30)))
    print(f"KV_SEED={seed}", flush=True)
    with Process("--threads", 2, "--shard-count", 2) as server:
        soak = Soak(server, seed)
        soak.run(int(sys.argv[1]))
    failed = sum(1 for texts in soak.wrong.values() if texts)
    print(f"{len(soak.wrong) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
