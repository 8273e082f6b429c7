"""What a single client can make a server do for one command, or at one moment."""

import re
import time
import unittest

from servers import Process, encode


def most_memory(server):
    with open(f"/proc/{server.process.pid}/status") as file:
        return int(re.search(r"VmHWM:\s+(\d+) kB", file.read())[1]) << 10


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
                                   (("FLUSHALL", large), "-ERR syntax error")]:
                self.assertEqual(connection.call(*command), error, command[0])
            # A number is copied, for the function that reads it.
            self.assertLess(most_memory(server) - before, 80 << 20)

    def test_many_deadlines_that_no_longer_hold_do_not_stop_the_clients(self):
        with Process() as server:
            connection, other = server.connect(), server.connect()
            count, deadline = 200_000, int(time.time() * 1000) + 60_000
            # Keys whose deadline is far away stay, so that deadlines that no longer hold are not most of all.
            for kept, time_of_death in ((True, deadline + 1_000_000), (False, deadline)):
                for first in range(0, count, 1000):
                    connection.write(b"".join(encode("SET", f"{kept}-{i}", "x", "PXAT", time_of_death)
                                              for i in range(first, first + 1000)))
                    self.assertEqual([connection.reply() for _ in range(1000)], ["+OK"] * 1000)
            for first in range(0, count, 1000):
                self.assertEqual(connection.call("DEL", *[f"False-{i}" for i in range(first, first + 1000)]), 1000)
            self.assertLess(time.time() * 1000, deadline)
            time.sleep(deadline / 1000 - time.time())
            longest = 0
            while time.time() * 1000 < deadline + 2000:
                begin = time.time()
                other.call("GET", "none")
                longest = max(longest, time.time() - begin)
            # All at once, they take a second and more in a debug build.
            self.assertLess(longest, 0.4)
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


if __name__ == "__main__":
    unittest.main()
