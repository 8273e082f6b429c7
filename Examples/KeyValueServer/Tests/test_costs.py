"""What a single client can make a server do for one command, or at one moment."""

import os
import re
import socket
import tempfile
import time
import unittest

from servers import COMPILER, PATIENCE, Process, encode, preload


def most_memory(server):
    with open(f"/proc/{server.process.pid}/status") as file:
        return int(re.search(r"VmHWM:\s+(\d+) kB", file.read())[1]) << 10


def processor_time(server):
    with open(f"/proc/{server.process.pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def allocated(connection):
    return int(re.search(rb"used_memory:(\d+)", connection.call("INFO", "memory"))[1])


class Costs(unittest.TestCase):
    def test_a_large_argument_in_the_place_of_a_word_is_not_copied(self):
        with Process() as server:
            connection = server.connect()
            # No UTF-8. So each byte would become three as text.
            large = b"\xff" * (32 << 20)
            self.assertEqual(connection.call("STRLEN", large), 0)
            before = most_memory(server)
            for command, error in [(("SET", "k", "v", large), "-ERR syntax error"),
                                   (("ZADD", "k", large, "member"), "-ERR value is not a valid float"),
                                   (("ZRANGE", "k", 0, -1, large), "-ERR syntax error"),
                                   (("FLUSHALL", large), "-ERR syntax error"),
                                   (("EXPIRE", "k", 10, large), "-ERR Unsupported option " + r"\xff" * 128),
                                   (("HELLO", 3, large), "-ERR Syntax error in HELLO option '" + r"\xff" * 128 + "'"),
                                   (("EXPIRE", "k", large), "-ERR value is not an integer or out of range"),
                                   (("INFO", large), b""), (("CONFIG", "GET", large), [])]:
                self.assertEqual(connection.call(*command), error, command[0])
            # A number is copied, for the function that reads it.
            self.assertLess(most_memory(server) - before, 80 << 20)

    def test_a_large_argument_is_received_in_a_time_that_grows_with_it(self):
        with Process() as server:
            connection = server.connect()

            def time_to_receive(size):
                begin = processor_time(server)
                self.assertEqual(connection.call("SET", "large", b"x" * size), "+OK")
                return processor_time(server) - begin

            # The first one gets the memory that the others use again.
            time_to_receive(64 << 20)
            small = min(time_to_receive(16 << 20) for _ in range(3))
            large = min(time_to_receive(64 << 20) for _ in range(2))
            # If all of it is copied for each part that comes, 13 times as long or more.
            self.assertLess(large, 8 * max(small, 0.02))

    def test_subscriptions_that_end_in_a_transaction_do_not_copy_it(self):
        with Process() as server:
            connection = server.connect()
            connection.write(encode("MULTI") + encode("SET", "large", b"x" * (64 << 20)))
            # None of them says which channel it ends.
            pairs = 500
            connection.write((encode("SUBSCRIBE", "c") + encode("UNSUBSCRIBE")) * pairs)
            self.assertEqual([connection.reply() for _ in range(2 + 2 * pairs)], ["+OK"] + ["+QUEUED"] * (1 + 2 * pairs))
            begin = time.monotonic()
            replies = connection.call("EXEC")
            # With a copy of the 64 MB for each of them, that takes minutes.
            self.assertLess(time.monotonic() - begin, 4)
            self.assertEqual(replies, ["+OK"] + [[b"subscribe", b"c", 1], [b"unsubscribe", b"c", 0]] * pairs)

    def test_a_table_that_grows_does_not_stop_the_clients(self):
        with Process() as server:
            connection = server.connect()
            # A dictionary of Swift's grows at 786,432 entries, and moves them all.
            count, batch = 900_000, 1000
            longest, before = 0, processor_time(server)
            for first in range(0, count, batch):
                connection.write(b"".join(encode("SET", i, "x") for i in range(first, first + batch)))
                self.assertEqual([connection.reply() for _ in range(batch)], ["+OK"] * batch)
                now = processor_time(server)
                longest, before = max(longest, now - before), now
            self.assertEqual(connection.call("DBSIZE"), count)
            # All at once, they take half a second, and a batch some 20 ms.
            self.assertLess(longest, 0.25)

    def test_a_list_that_was_long_does_not_keep_its_room(self):
        with Process() as server:
            connection = server.connect()
            count, batch = 1 << 20, 1024
            for _ in range(count // batch):
                self.assertGreater(connection.call("RPUSH", "list", *["x"] * batch), 0)
            for _ in range(count // batch - 1):
                self.assertEqual(len(connection.call("LPOP", "list", batch)), batch)
            self.assertEqual(len(connection.call("RPOP", "list", batch - 2)), batch - 2)
            self.assertEqual(connection.call("LRANGE", "list", 0, -1), [b"x", b"x"])
            # The ring of a million slots alone takes 8 MB.
            self.assertLess(allocated(connection), 6 << 20)

    @unittest.skipUnless(COMPILER, "there is no C compiler")
    def test_many_deadlines_that_no_longer_hold_do_not_stop_the_clients(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        environment, move_clock = preload(folder, "clock")
        with Process(environment=environment) as server:
            connection, other = server.connect(), server.connect()
            count, hour = 500_000, 3600
            deadline = int(time.time() + hour) * 1000
            # Keys whose deadline is far away stay, so that deadlines that no longer hold are not most of all.
            for kept, own in (("long", deadline * 2), ("short", deadline)):
                for first in range(0, count, 1000):
                    connection.write(b"".join(encode("SET", f"{kept}-{i}", "x", "PXAT", own)
                                              for i in range(first, first + 1000)))
                    self.assertEqual([connection.reply() for _ in range(1000)], ["+OK"] * 1000)
            for first in range(0, count, 1000):
                self.assertEqual(connection.call("DEL", *[f"short-{i}" for i in range(first, first + 1000)]), 1000)
            move_clock(hour)
            # The next pass comes within 0.1 s.
            longest, end = 0, time.monotonic() + 2
            while time.monotonic() < end:
                begin = time.monotonic()
                other.call("GET", "none")
                longest = max(longest, time.monotonic() - begin)
            # All at once, they take two seconds in a debug build.
            self.assertLess(longest, 0.8)
            self.assertEqual(other.call("DBSIZE"), count)

    def test_many_members_are_added_and_removed_at_once(self):
        with Process() as server:
            connection = server.connect()
            count = 300_000
            pairs = [x for i in range(count) for x in (count - i, f"member-{i}")]
            again = [x for i in range(count) for x in (i, f"member-{i}")]
            begin = time.time()
            self.assertEqual(connection.call("ZADD", "sorted", *pairs), count)
            self.assertEqual(connection.call("ZADD", "sorted", "CH", *again), count - 1)
            self.assertEqual(connection.call("ZRANGE", "sorted", 0, 1), [b"member-0", b"member-1"])
            self.assertEqual(connection.call("ZRANK", "sorted", f"member-{count - 1}"), count - 1)
            self.assertEqual(connection.call("ZREM", "sorted", *[f"member-{i}" for i in range(count - 1)]), count - 1)
            # One by one, each of which moves the others, it takes a minute.
            self.assertLess(time.time() - begin, 18)
            self.assertEqual(connection.call("ZRANGE", "sorted", 0, -1), [b"member-%d" % (count - 1)])

    def test_a_change_of_a_large_sorted_set_does_not_move_all_its_members(self):
        with Process() as server:
            connection = server.connect()
            count, part = 200_000, 2000
            for first in range(0, count, part):
                for key in ("large", f"small-{first // part}"):
                    pairs = [x for i in range(first, first + part) for x in (i * 7919 % count, f"member-{i}")]
                    self.assertEqual(connection.call("ZADD", key, *pairs), part)

            def time_to_change(key):
                begin = processor_time(server)
                for first in range(0, 10_000, 500):
                    connection.write(b"".join(encode("ZINCRBY", key(i), 1000, f"member-{i % 100 * part + i // 100}")
                                              + encode("ZPOPMIN", key(i)) for i in range(first, first + 500)))
                    for _ in range(500):
                        self.assertIsInstance(connection.reply(), bytes)
                        self.assertEqual(len(connection.reply()), 2)
                return processor_time(server) - begin

            small = time_to_change(lambda index: f"small-{index % 100}")
            # If each change moves the members behind it, more than 10 times as long.
            self.assertLess(time_to_change(lambda _: "large"), 3 * max(small, 0.1))

    def test_a_request_for_the_metrics_is_searched_once(self):
        with Process("--metrics", 0) as server:
            port = int(server.logged(r"metrics on [0-9.]+:(\d+)")[1])
            client = self.enterContext(socket.create_connection(("127.0.0.1", port)))
            client.settimeout(PATIENCE)
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            client.sendall(b"GET /" + b"x" * 15_000)
            time.sleep(0.2)
            before = processor_time(server)
            for _ in range(1000):
                client.sendall(b"x")
                time.sleep(0.0005)
            client.sendall(b" HTTP/1.1\r\n\r\n")
            self.assertEqual(client.recv(8), b"HTTP/1.1")
            # Each of the thousand pieces would be another look at 15 KB.
            self.assertLess(processor_time(server) - before, 0.25)

    def test_keys_that_expire_together_go_soon(self):
        for kind in ("reactor", "loop", "mutex", "actor"):
            with self.subTest(kind), Process("--shards", kind, "--shard-count", 1) as server:
                connection, other = server.connect(), server.connect()
                deadline = int(time.time() * 1000) + 3000
                for first in range(0, 30_000, 1000):
                    connection.write(b"".join(encode("SET", f"soon-{first + i}", "x", "PXAT", deadline) for i in range(1000)))
                    self.assertEqual([connection.reply() for _ in range(1000)], ["+OK"] * 1000)
                time.sleep(max(0, deadline / 1000 - time.time()))
                begin, longest = time.time(), 0
                while other.call("DBSIZE") > 0:
                    self.assertLess(time.time() - begin, 60)
                    start = time.time()
                    other.call("GET", "none")
                    longest = max(longest, time.time() - start)
                # A thousand every 100 ms would take 2.9 s.
                self.assertLess(time.time() - begin, 2.7)
                self.assertLess(longest, 0.5)

    def test_many_members_are_removed_at_once(self):
        with Process() as server:
            connection = server.connect()
            count = 200_000
            for first in range(0, count, 10_000):
                pairs = [x for i in range(first, first + 10_000) for x in (i, f"member-{i}")]
                self.assertEqual(connection.call("ZADD", "sorted", *pairs), 10_000)
            begin = time.time()
            self.assertEqual(len(connection.call("ZPOPMIN", "sorted", count - 1)), 2 * (count - 1))
            # One by one, each of which moves the others, it takes minutes.
            self.assertLess(time.time() - begin, 20)
            self.assertEqual(connection.call("ZRANGE", "sorted", 0, -1), [b"member-%d" % (count - 1)])


if __name__ == "__main__":
    unittest.main()
