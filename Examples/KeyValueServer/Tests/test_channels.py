"""Messages of channels: their order, what they cost while they are under way, and subscriptions that end."""

import re
import unittest

from servers import Closed, Process, encode, until


def connect_to(server, loop, threads=2):
    """A connection that belongs to one of the server's loops: its number says to which."""
    while True:
        connection = server.connect()
        if connection.call("CLIENT", "ID") % threads == loop:
            return connection
        connection.close()


def most_memory(server):
    with open(f"/proc/{server.process.pid}/status") as file:
        return int(re.search(r"VmHWM:\s+(\d+) kB", file.read())[1]) << 10


def memory(connection):
    """How many bytes the server has allocated; 0 without jemalloc."""
    return int(re.search(rb"used_memory:(\d+)", connection.call("INFO", "memory"))[1])


def subscribe(connection, *channels):
    """Subscribes, and can still send commands."""
    connection.call("HELLO", 3)
    connection.send("SUBSCRIBE", *channels)
    for _ in channels:
        connection.reply()


class Order(unittest.TestCase):
    def test_no_message_stays_behind_until_the_next_command(self):
        """Where the thread of the subscriber runs what others publish, right behind its own batch."""
        with Process("--threads", 2, "--shard-count", 1) as server:
            subscriber, publisher = connect_to(server, 0), connect_to(server, 1)
            subscriber.call("SET", "big", b"x" * (1 << 20))
            subscribe(subscriber, "news")
            for round in range(20):
                # Takes so long that a message is published meanwhile.
                subscriber.write(encode("GET", "big") * 10 + encode("PING"))
                for index in range(3):
                    self.assertEqual(publisher.call("PUBLISH", "news", index), 1)
                received = [subscriber.reply() for _ in range(11)]
                subscriber.socket.settimeout(5)
                while len(received) < 14:
                    try:
                        received.append(subscriber.reply())
                    except TimeoutError:
                        self.fail(f"round {round}: {14 - len(received)} messages have not come")
                messages = [int(each[2]) for each in received if isinstance(each, list)]
                self.assertEqual(sorted(messages), [0, 1, 2])


class Ends(unittest.TestCase):
    def test_a_client_that_is_closed_inside_of_its_batch_leaves_nothing_behind(self):
        for leaving in (("UNSUBSCRIBE", "other"), ("RESET",)):
            for shards in (2, 3, 5):
                with self.subTest(leaving=leaving, shards=shards), Process("--shard-count", shards) as server:
                    watcher = server.connect()
                    names = [f"own-{index}" for index in range(6)]
                    before = None
                    for name in names:
                        client = server.connect()
                        subscribe(client, name, "other")
                        client.call("MULTI")
                        self.assertEqual(client.call("PUBLISH", name, b"m" * (33 << 20)), "+QUEUED")
                        if leaving[0] == "UNSUBSCRIBE":
                            self.assertEqual(client.call(*leaving), "+QUEUED")
                            client.send("EXEC")
                        else:
                            client.write(encode("EXEC") + encode(*leaving))
                        with self.assertRaises((Closed, ConnectionError)):
                            while True:
                                client.reply()
                        client.close()
                        for channel in (name, "other"):
                            self.assertTrue(until(lambda: watcher.call("PUBLISH", channel, "x") == 0, 5), channel)
                        self.assertTrue(until(lambda: b"connected_clients:1\r" in watcher.call("INFO", "clients"), 5))
                        # The first one makes the server's buffers.
                        before = before or memory(watcher)
                    self.assertLess(memory(watcher) - before, 10 << 20)


if __name__ == "__main__":
    unittest.main()
