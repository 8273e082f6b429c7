"""What is still there after the server was killed, or ended, and started again on the same folder."""

import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import redis

from servers import COMPILER, PATIENCE, Closed, Connection, Process, encode, preload, until
from test_differential import make, normal
from test_network import loop_jobs


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="kv-")
        self.addCleanup(shutil.rmtree, self.folder)

    def server(self, *arguments, **options):
        return Process("--data", self.folder, *arguments, **options)

    def preload(self, name):
        """Prepares a server with a part of the system replaced by NAME.c; returns the environment that it needs, and what changes the
        number that the part looks at."""
        return preload(self.folder, name)

    def write_until(self, condition, write):
        """Writes until a condition holds."""
        def attempt():
            write()
            return condition()

        self.assertTrue(until(attempt, 5 * PATIENCE))

def stop_reading(test, server):
    """Connects a client to which the server has something to send as long as it lives."""
    slow = server.connect()
    test.assertEqual(slow.call("SET", "big", "z" * 1_000_000), "+OK")
    slow.write(encode("GET", "big") * 50)
    test.assertEqual(len(slow.reply()), 1_000_000)
    return slow


class Writer(threading.Thread):
    """A client that writes until the server goes, and notes what was acknowledged."""

    def __init__(self, port, number, counts):
        super().__init__()
        self.port, self.number, self.counts = port, number, counts
        self.failure = None
        # How many writes this one has seen acknowledged.
        self.acknowledged = 0

    def run(self):
        try:
            self.write()
        except Exception as error:
            self.failure = error

    def finish(self):
        """Waits for the end, and raises what the thread has raised."""
        self.join()
        if self.failure:
            raise self.failure

    def write(self):
        client = redis.Redis(port=self.port, decode_responses=True, socket_timeout=PATIENCE)
        name, counts = self.number, self.counts
        try:
            while True:
                index = counts["sent"] = counts["acknowledged"] + 1
                # What belongs together has the same part in braces, so it is in one shard, and is one change.
                pipeline = client.pipeline()
                pipeline.incr(f"{{{name}}}counter").set(f"{{{name}}}copy", index).rpush(f"{{{name}}}list", index)
                pipeline.sadd(f"{{{name}}}set", index % 100).zadd(f"{{{name}}}sorted", {index % 50: index})
                pipeline.hset(f"{{{name}}}hash", f"f{index % 10}", index)
                if index % 7 == 0:
                    pipeline.spop(f"{{{name}}}set")
                if pipeline.execute()[0] != index:
                    counts["wrong"] = True
                counts["acknowledged"] = index
                client.set(f"{name}-single-{index % 5}", index)
                counts["single"] = index
                self.acknowledged += 1
        except (redis.ConnectionError, redis.TimeoutError):
            pass
        finally:
            client.close()


class Kills(Folder):
    def test_every_acknowledged_write_survives_kills_under_load(self):
        kills = int(os.environ.get("KV_KILLS", 5))
        seed = int(os.environ.get("KV_SEED", random.randrange(1 << 30)))
        rng = random.Random(seed)
        counts = [{"acknowledged": 0, "sent": 0, "single": 0} for _ in range(6)]
        with self.subTest(seed=seed):
            for round in range(kills):
                self.kill_once(counts, rng, round)
        with self.server() as server:
            self.check(server, counts)
        for count in counts:
            self.assertGreater(count["acknowledged"], kills)
            self.assertNotIn("wrong", count)

    def kill_once(self, counts, rng, round):
        # Some rounds compact all the time, and some not at all.
        compaction = ["--compact-after", 20_000] if round % 3 else []
        with self.server("--threads", 1 + round % 2, *compaction) as server:
            self.check(server, counts)
            # -l: a few of each kind, again and again.
            load = subprocess.Popen(
                ["redis-benchmark", "-p", str(server.port), "-q", "-n", "1000", "-l", "-c", "20", "-P", "8",
                 "-r", "1000", "-t", "set,incr,lpush,lpop,sadd,hset"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            writers = [Writer(server.port, number, count) for number, count in enumerate(counts)]
            for writer in writers:
                writer.start()
            # Some rounds may be killed before anything was acknowledged.
            if round % 4:
                self.assertTrue(until(lambda: all(writer.acknowledged >= 2 or writer.failure for writer in writers)))
            if round % 3 == 1:
                # The snapshots of an early round are small, so the load soon exceeds them.
                self.assertTrue(until(lambda: server.logged("compacted the journal")))
            time.sleep(rng.uniform(0.1, 1.5))
            server.process.send_signal(signal.SIGKILL)
            for writer in writers:
                writer.finish()
            load.kill()
            load.wait()

    def check(self, server, counts):
        client = redis.Redis(port=server.port, decode_responses=True)
        for name, count in enumerate(counts):
            reached = int(client.get(f"{{{name}}}counter") or 0)
            self.assertGreaterEqual(reached, count["acknowledged"], "an acknowledged write is lost")
            self.assertLessEqual(reached, count["sent"])
            # All of a transaction, or nothing.
            self.assertEqual(int(client.get(f"{{{name}}}copy") or 0), reached)
            self.assertEqual(client.lrange(f"{{{name}}}list", 0, -1), [str(i + 1) for i in range(reached)])
            for member, score in client.zrange(f"{{{name}}}sorted", 0, -1, withscores=True):
                self.assertEqual(int(score) % 50, int(member))
                self.assertGreater(score, reached - 50)
            self.assertEqual(client.hlen(f"{{{name}}}hash"), min(reached, 10))
            single = max([int(client.get(f"{name}-single-{i}") or 0) for i in range(5)])
            self.assertGreaterEqual(single, count["single"], "an acknowledged write is lost")
            count["acknowledged"] = count["sent"] = reached
            count["single"] = single
        client.close()


class Restarts(Folder):
    def test_random_commands_with_restarts_leave_the_keys_of_redis(self):
        seed = int(os.environ.get("KV_SEED", random.randrange(1 << 30)))
        rng = random.Random(seed)
        with Process(reference=True) as reference:
            redis_connection = reference.connect()
            for round in range(8):
                arguments = ["--threads", 1 + round % 2, *(["--compact-after", 1000] if round % 2 else [])]
                with self.subTest(seed=seed, round=round), self.server(*arguments) as server:
                    connection = server.connect()
                    self.compare_keys(redis_connection, connection)
                    both = (redis_connection, connection)
                    compactions = 0
                    for step in range(600):
                        command = self.make(rng)
                        self.assertEqual(*(normal(command, one.call(*command)) for one in both), command)
                        if round % 2 and step % 200 == 199:
                            # So that snapshots are made, and commands follow them.
                            self.write_until(
                                lambda: server.log().count("compacted the journal") > compactions,
                                lambda: self.assertEqual(*(one.call("SET", "k0", "x" * 100_000) for one in both)))
                            compactions = server.log().count("compacted the journal")
                    if round % 3 == 2:
                        self.assertEqual(server.terminate()[0], 0)

    def make(self, rng):
        """Returns a random command that is not about the connection, which would end with a restart."""
        while True:
            command = make(rng)
            if command[0] not in ("MULTI", "EXEC", "CLIENT"):
                return command

    def compare_keys(self, one, two):
        self.assertEqual(one.call("DBSIZE"), two.call("DBSIZE"))
        reads = {"+string": ["GET"], "+list": ["LRANGE", "0", "-1"], "+hash": ["HGETALL"], "+set": ["SMEMBERS"],
                 "+zset": ["ZRANGE", "0", "-1", "WITHSCORES"]}
        for key in [f"k{index}" for index in range(12)]:
            kind = one.call("TYPE", key)
            self.assertEqual(kind, two.call("TYPE", key), key)
            if kind == "+none":
                continue
            name, *rest = reads[kind]
            self.assertEqual(*(normal([name], side.call(name, key, *rest)) for side in (one, two)), key)
            one_left, two_left = one.call("PTTL", key), two.call("PTTL", key)
            self.assertEqual(one_left == -1, two_left == -1, key)
            self.assertLess(abs(one_left - two_left), 5000, key)

    @unittest.skipUnless(COMPILER, "there is no C compiler")
    def test_a_write_survives_though_the_clock_went_back(self):
        environment, move = self.preload("clock")
        with self.server(environment=environment) as server:
            connection = server.connect()
            for index in range(10):
                self.assertEqual(connection.call("SET", f"k{index}", "old", "PX", 60_000), "+OK")
                move(100 * index + 100)
                # It finds the key expired. Only the other command is in the journal, unless the server has removed the key meanwhile.
                connection.write(encode("MULTI") + encode("GET", f"k{index}") + encode("SET", "other", 1) + encode("EXEC"))
                self.assertEqual([connection.reply() for _ in range(4)], ["+OK", "+QUEUED", "+QUEUED", [None, "+OK"]])
                move(100 * index)
                self.assertEqual(connection.call("APPEND", f"k{index}", "new"), 3)
                move(100 * index + 100)
            server.process.send_signal(signal.SIGKILL)
        move(100_000)
        with self.server(environment=environment) as server:
            connection = server.connect()
            self.assertEqual([connection.call("GET", f"k{index}") for index in range(10)], [b"new"] * 10)

    def test_popped_members_and_expired_keys_stay_away(self):
        with self.server("--threads", 2) as server:
            connection = server.connect()
            connection.call("SADD", "set", *range(1000))
            popped = set(connection.call("SPOP", "set", 300)) | {connection.call("SPOP", "set") for _ in range(200)}
            self.assertEqual(len(popped), 500)
            connection.call("SET", "short", 1, "PX", 50)
            connection.call("SET", "long", 1, "EX", 1000)
            self.assertTrue(until(lambda: connection.call("DBSIZE") == 2))
            left = set(connection.call("SMEMBERS", "set"))
            server.process.send_signal(signal.SIGKILL)
        self.assertEqual(left & popped, set())
        with self.server("--threads", 2) as server:
            connection = server.connect()
            self.assertEqual(set(connection.call("SMEMBERS", "set")), left)
            self.assertEqual(connection.call("MGET", "short", "long"), [None, b"1"])
            self.assertIn(connection.call("TTL", "long"), range(900, 1001))
            self.assertTrue(until(lambda: connection.call("DBSIZE") == 2))

    def test_keys_that_expired_before_a_restart_do_not_count_after_it(self):
        def expired(connection):
            return int(re.search(rb"expired_keys:(\d+)", connection.call("INFO", "stats"))[1])

        with self.server("--threads", 2) as server:
            connection = server.connect()
            connection.write(b"".join(encode("SET", f"expires-{i}", "x", "PX", 10) for i in range(50)))
            self.assertEqual([connection.reply() for _ in range(50)], ["+OK"] * 50)
            self.assertTrue(until(lambda: connection.call("DBSIZE") == 0))
            self.assertEqual(expired(connection), 50)
        with self.server("--threads", 2) as server:
            connection = server.connect()
            self.assertEqual(expired(connection), 0)
            connection.call("SET", "expires", "x", "PX", 10)
            self.assertTrue(until(lambda: expired(connection) == 1))

    def test_the_journal_does_not_grow_with_what_is_overwritten(self):
        with self.server("--compact-after", 1_000_000) as server:
            connection = server.connect()
            self.written = 0

            def write():
                for _ in range(10):
                    connection.send("SET", "key", "x" * 100_000)
                self.assertEqual([connection.reply() for _ in range(10)], ["+OK"] * 10)
                self.written += 1_000_000

            def compacted():
                """Up to which position; each command is one."""
                match = server.logged(r"compacted the journal up to position (\d+)")
                return int(match[1]) if match else 0

            self.write_until(lambda: compacted() >= 200, write)
            status, log = server.terminate()
        self.assertEqual(status, 0)
        self.assertNotIn(" error ", log)
        size = sum(os.path.getsize(os.path.join(self.folder, name)) for name in os.listdir(self.folder))
        # All of it, and some more, without a compaction.
        self.assertLess(size, self.written / 2)
        with self.server() as server:
            self.assertEqual(server.connect().call("STRLEN", "key"), 100_000)

    def test_what_earlier_runs_have_written_counts_until_the_journal_is_compacted(self):
        for run in range(2):
            with self.server("--compact-after", 1_000_000) as server:
                connection = server.connect()
                self.assertEqual([connection.call("SET", "key", "x" * 100_000) for _ in range(6)], ["+OK"] * 6)
                # One run does not write so much, but two do.
                if run == 1:
                    self.assertTrue(until(lambda: server.logged("compacted the journal")), server.log())
                status, log = server.terminate()
                self.assertEqual(status, 0, log)
        self.assertEqual(log.count("compacted the journal"), 1)

    def test_commands_without_arguments_make_the_server_compact_as_well(self):
        with self.server("--compact-after", 20_000) as server:
            connection = server.connect()

            def write():
                connection.write(encode("FLUSHALL") * 100)
                self.assertEqual([connection.reply() for _ in range(100)], ["+OK"] * 100)

            self.write_until(lambda: server.logged("compacted the journal"), write)

    def test_only_what_is_written_counts_towards_a_compaction(self):
        with self.server("--threads", 2, "--compact-after", 100_000) as server:
            connection = server.connect()
            # About 10 KB of changes, in batches whose arguments have 1.3 MB.
            for index in range(100):
                connection.write(encode("GET", "key") * 1000 + encode("SET", f"key{index}", "x"))
                self.assertEqual([connection.reply() for _ in range(1001)][-1], "+OK")
            status, log = server.terminate()
            self.assertEqual(status, 0, log)
            self.assertNotIn("compacted the journal", log)

    def test_clients_that_do_not_read_leave_time_for_the_journal(self):
        with self.server("--grace", 2) as server:
            stop_reading(self, server)
            connection = server.connect()
            self.assertEqual(connection.call("SET", "last", "x"), "+OK")
            status, log = server.terminate()
            self.assertEqual(status, 0, log)
            self.assertIn("have not read their replies", log)
            self.assertRegex(log, "info ended")
        with self.server() as server:
            self.assertEqual(server.connect().call("GET", "last"), b"x")


class Policies(Folder):
    def test_a_second_server_and_other_shards_are_refused(self):
        def refusal(*arguments):
            with self.assertRaises(RuntimeError) as caught, self.server(*arguments):
                pass
            return str(caught.exception)

        with self.server("--threads", 2) as server:
            server.connect().call("SET", "a", 1)
            self.assertIn("locked", refusal())
        self.assertIn("the keys are in 2 shards, not 3", refusal("--shard-count", 3))
        # The shards stay as many, whatever the threads.
        with self.server("--threads", 3) as server:
            self.assertEqual(server.connect().call("GET", "a"), b"1")
        self.assertIn("not understood", refusal("--shards", "mutex"))
        # Names that no server has made.
        for name in ["shards-0.journal", "shards-03.journal", "shards-.journal", "shards--1.journal"]:
            open(os.path.join(self.folder, name), "w").close()
        with self.server() as server:
            self.assertEqual(server.connect().call("GET", "a"), b"1")

    def test_early_replies_lose_at_most_the_end(self):
        with self.server("--acknowledge", "early") as server:
            connection = server.connect()
            for index in range(5000):
                connection.send("RPUSH", "list", index)
            for index in range(5000):
                self.assertEqual(connection.reply(), index + 1)
            server.process.send_signal(signal.SIGKILL)
        with self.server("--acknowledge", "early") as server:
            connection = server.connect()
            found = connection.call("LRANGE", "list", 0, -1)
            self.assertEqual(found, [b"%d" % index for index in range(len(found))])
            connection.call("SET", "last", "x")
            self.assertEqual(server.terminate()[0], 0)
        # A clean end loses nothing.
        with self.server() as server:
            self.assertEqual(server.connect().call("GET", "last"), b"x")

    def test_too_large_a_batch_is_refused(self):
        with self.server() as server:
            connection = server.connect()
            megabyte = b"x" * (1 << 20)
            self.assertRegex(connection.call("RPUSH", "list", *[megabyte] * 65), "^-ERR more than")
            # Also if it is for several keys: an error must not count as 0.
            self.assertRegex(connection.call("DEL", *[megabyte + b"%d" % index for index in range(65)]), "^-ERR more than")
            self.assertRegex(connection.call("MSET", *[megabyte] * 66), "^-ERR more than")
            self.assertEqual(connection.call("RPUSH", "list", *[megabyte] * 2), 2)
            self.assertEqual(connection.call("LLEN", "list"), 2)

    def test_the_largest_argument_fits(self):
        with self.server() as server:
            connection = server.connect()
            largest = int(connection.call("CONFIG", "GET", "proto-max-bulk-len")[1])
            connection.write(encode("SET", "a", 1) + encode("SET", "large", b"x" * largest) + encode("SET", "b", 2))
            self.assertEqual([connection.reply() for _ in range(3)], ["+OK"] * 3)
            self.assertEqual([connection.call("STRLEN", key) for key in ("a", "large", "b")], [1, largest, 1])

    def test_only_what_is_too_large_is_refused(self):
        with self.server() as server:
            connection, other = server.connect(), server.connect()
            large = encode("RPUSH", "list", *[b"x" * (1 << 20)] * 66)
            connection.write(encode("SET", "a", 1) + large + encode("SET", "b", 2) + encode("SUBSCRIBE", "news"))
            self.assertEqual(connection.reply(), "+OK")
            self.assertRegex(connection.reply(), "^-ERR more than")
            self.assertEqual([connection.reply() for _ in range(2)], ["+OK", [b"subscribe", b"news", 1]])
            # In a transaction, what writes.
            other.write(encode("MULTI") + encode("GET", "a") + large + encode("SUBSCRIBE", "news") + encode("EXEC"))
            self.assertEqual([other.reply() for _ in range(4)], ["+OK"] + ["+QUEUED"] * 3)
            value, error, subscription = other.reply()
            self.assertEqual([value, subscription], [b"1", [b"subscribe", b"news", 1]])
            self.assertRegex(error, "^-ERR more than")
            self.assertEqual(server.connect().call("PUBLISH", "news", "x"), 2)
            for one in (connection, other):
                self.assertEqual(one.reply(), [b"message", b"news", b"x"])

    def test_commands_beside_a_transaction_that_is_too_large_are_applied(self):
        with self.server("--shard-count", 1) as server:
            connection = server.connect()
            for name in ("EXEC", "exec"):
                connection.write(encode("MULTI") + encode("RPUSH", "list", *[b"x" * (1 << 20)] * 66))
                self.assertEqual([connection.reply() for _ in range(2)], ["+OK", "+QUEUED"])
                # The server most likely reads these three at once.
                exec = encode(name) if name == "EXEC" else b"exec\r\n"
                connection.write(encode("GET", "none") + exec + encode("SET", "after", name))
                self.assertEqual(connection.reply(), "+QUEUED")
                [error, none] = connection.reply()
                self.assertRegex(error, "^-ERR more than")
                self.assertIsNone(none)
                self.assertEqual(connection.reply(), "+OK")
                self.assertEqual(connection.call("GET", "after"), name.encode())

    def test_channels_work_beside_the_journal(self):
        with self.server("--threads", 2) as server:
            listener, connection = server.connect(), server.connect()
            listener.send("SUBSCRIBE", "news")
            self.assertEqual(listener.reply(), [b"subscribe", b"news", 1])
            for index in range(200):
                connection.send("SET", "{news}key", index)
                connection.send("PUBLISH", "news", index)
            for index in range(200):
                self.assertEqual([connection.reply(), connection.reply()], ["+OK", 1])
                self.assertEqual(listener.reply(), [b"message", b"news", b"%d" % index])


@unittest.skipUnless(COMPILER, "there is no C compiler")
class SlowDisk(Folder):
    """What happens while replies wait for the disk."""

    def commands(self, connection):
        """How many commands the server has received."""
        return int(re.search(rb"total_commands_processed:(\d+)", connection.call("INFO", "stats"))[1])

    def write(self, connection, *commands, seen_by):
        """Sends commands in one write, and waits until the server has received them."""
        before = self.commands(seen_by)
        connection.write(b"".join(encode(*command) for command in commands))
        # The command that asks counts, too.
        asked = 0

        def has_received():
            nonlocal asked
            asked += 1
            return self.commands(seen_by) >= before + asked + len(commands)

        self.assertTrue(until(has_received))

    def test_a_message_comes_before_the_end_of_its_subscription(self):
        environment, hold = self.preload("disk")
        message, leaving = [b"message", b"c", b"hi"], [b"unsubscribe", b"c", 0]
        for end, expected in [([("UNSUBSCRIBE", "c")], [message, leaving]), ([("UNSUBSCRIBE",)], [message, leaving]),
                              ([("RESET",)], [message, "+RESET"]),
                              ([("UNSUBSCRIBE", "c"), ("SUBSCRIBE", "c"), ("UNSUBSCRIBE", "c")],
                               [leaving, [b"subscribe", b"c", 1], message, leaving])]:
            with self.subTest(end=end), self.server(environment=environment) as server:
                listener, writer, other = (server.connect() for _ in range(3))
                listener.call("SUBSCRIBE", "c")
                hold(1)
                self.write(writer, ("SET", "x", 1), ("PUBLISH", "c", "hi"), seen_by=other)
                self.write(listener, *end, ("GET", "k"), seen_by=other)
                hold(0)
                self.assertEqual([writer.reply(), writer.reply()], ["+OK", 1])
                self.assertEqual([listener.reply() for _ in range(len(expected) + 1)], [*expected, None])
                self.assertEqual(listener.call("PING"), "+PONG")

    def test_the_messages_of_channels_that_stay_come_behind_the_batch(self):
        environment, hold = self.preload("disk")
        with self.server(environment=environment) as server:
            listener, writer, other = (server.connect() for _ in range(3))
            listener.call("HELLO", 3)
            for channel in ("c", "d"):
                listener.call("SUBSCRIBE", channel)
            hold(1)
            self.write(writer, ("SET", "x", 1), ("PUBLISH", "d", "1"), ("PUBLISH", "c", "2"), ("PUBLISH", "d", "3"), seen_by=other)
            self.write(listener, ("MULTI",), ("GET", "x"), ("UNSUBSCRIBE", "c"), ("EXEC",), ("HELLO", 2), seen_by=other)
            hold(0)
            self.assertEqual([listener.reply() for _ in range(3)], ["+OK", "+QUEUED", "+QUEUED"])
            # What the transaction leaves comes before it.
            self.assertEqual(listener.reply(), [b"message", b"c", b"2"])
            self.assertEqual(listener.reply(), [b"1", [b"unsubscribe", b"c", 1]])
            self.assertEqual(len(listener.reply()), 14)
            self.assertEqual([listener.reply()[1:] for _ in range(2)], [[b"d", b"1"], [b"d", b"3"]])

    def test_a_disk_that_fails_ends_the_server_and_what_was_acknowledged_stays(self):
        environment, hold = self.preload("disk")
        for early in ([], ["--acknowledge", "early"]):
            with self.subTest(early=early):
                with self.server("--threads", 2, *early, environment=environment) as server:
                    connection, other = server.connect(), server.connect()
                    for index in range(20):
                        self.assertEqual(connection.call("SET", f"k{index}", index), "+OK")
                    if early:
                        # What these replies did not wait for.
                        time.sleep(1)
                    hold(2)
                    # Of the second shard, as well.
                    other.write(b"".join(encode("SET", f"lost{index}", 1) for index in range(20)))
                    if not early:
                        with self.assertRaises((Closed, ConnectionError)):
                            other.reply()
                    self.assertEqual(server.process.wait(PATIENCE), 1)
                    self.assertTrue(until(lambda: server.logged("error the journal has ended"), 10), server.log())
                hold(0)
                with self.server() as server:
                    connection = server.connect()
                    self.assertEqual([connection.call("GET", f"k{index}") for index in range(20)],
                                     [b"%d" % index for index in range(20)])

    def test_the_end_waits_for_the_batch_that_waits_for_the_disk(self):
        environment, hold = self.preload("disk")
        with self.server("--grace", 60, environment=environment) as server:
            client, other = server.connect(), server.connect()
            hold(1)
            self.write(client, ("SET", "a", 1), ("GET", "a"), seen_by=other)
            server.process.terminate()
            self.assertTrue(until(lambda: server.logged("ending: ")))
            # This one has no batch.
            with self.assertRaises(Closed):
                other.reply()
            client.socket.settimeout(0.3)
            with self.assertRaises(TimeoutError):
                client.reply()
            client.socket.settimeout(PATIENCE)
            hold(0)
            self.assertEqual([client.reply(), client.reply()], ["+OK", b"1"])
            with self.assertRaises(Closed):
                client.reply()
            self.assertEqual(server.process.wait(PATIENCE), 0)
        with self.server() as server:
            self.assertEqual(server.connect().call("GET", "a"), b"1")

    def test_a_client_that_goes_on_sending_gets_the_replies_of_the_last_batch(self):
        environment, hold = self.preload("disk")
        for end in ("SIGTERM", "QUIT"):
            with self.subTest(end=end), self.server("--grace", 60, environment=environment) as server:
                # Its system takes a few KB at a time.
                client, other = Connection(server.port, receive_buffer=4096), server.connect()
                server.connections.append(client)
                self.assertEqual(other.call("SET", "big", "z" * 100_000), "+OK")
                hold(1)
                self.write(client, ("SET", "a", 1), *[("GET", "big")] * 3, *([("QUIT",)] if end == "QUIT" else []), seen_by=other)
                # Nobody reads this while the batch runs.
                client.write(encode("PING", "x" * 1000) * 100)
                if end == "SIGTERM":
                    server.process.terminate()
                    self.assertTrue(until(lambda: server.logged("ending: ")))
                hold(0)
                self.assertEqual(client.reply(), "+OK")
                self.assertEqual([len(client.reply()) for _ in range(3)], [100_000] * 3)
                if end == "QUIT":
                    self.assertEqual(client.reply(), "+OK")
                # Reset if the last of its input came after everything was taken.
                with self.assertRaises((Closed, ConnectionResetError)):
                    client.reply()
                if end == "SIGTERM":
                    self.assertEqual(server.process.wait(PATIENCE), 0)

    def test_finished_replies_do_not_wait_for_the_next_batch(self):
        environment, hold = self.preload("disk")
        with self.server(environment=environment) as server:
            client, other = server.connect(), server.connect()
            hold(1)
            # INFO begins a batch, and this one waits for the disk. So few bytes are received together.
            self.write(client, ("PING",), ("INFO", "server"), ("SET", "a", 1), seen_by=other)
            client.socket.settimeout(30)
            self.assertEqual(client.reply(), "+PONG")
            before = loop_jobs(other)
            client.socket.settimeout(1)
            with self.assertRaises(TimeoutError):
                client.reply()
            # Nothing is left to be sent, and the loop is not called for that again and again.
            self.assertLess(loop_jobs(other) - before, 1000)
            client.socket.settimeout(PATIENCE)
            hold(0)
            self.assertIn(b"redis_version", client.reply())
            self.assertEqual(client.reply(), "+OK")
            self.assertEqual(client.call("GET", "a"), b"1")

    def test_a_client_that_has_read_everything_costs_nothing_while_it_waits(self):
        environment, hold = self.preload("disk")
        with self.server(environment=environment) as server:
            client, other = server.connect(), server.connect()
            client.call("SET", "big", "z" * 20_000)
            # A batch that is more than the buffers of the system hold, and another one.
            client.write(encode("GET", "big") * 1024 + encode("SET", "x", 1) * 10)
            self.assertEqual(len(client.reply()), 20_000)
            hold(1)
            for _ in range(1023):
                self.assertEqual(len(client.reply()), 20_000)
            before = loop_jobs(other)
            time.sleep(1)
            # Otherwise that is a hundred thousand times.
            self.assertLess(loop_jobs(other) - before, 1000)
            hold(0)
            self.assertEqual([client.reply() for _ in range(10)], ["+OK"] * 10)


if __name__ == "__main__":
    unittest.main()
