"""Messages of channels: their order, what they cost while they are under way, and subscriptions that end."""

import os
import re
import struct
import tempfile
import threading
import unittest

from servers import COMPILER, Closed, Process, encode, preload, until


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
                self.assertEqual(messages, [0, 1, 2])

    def test_all_subscribers_get_the_messages_of_a_channel_in_one_order(self):
        count = 3000
        for kind in ("reactor", "loop", "mutex"):
            with self.subTest(kind), Process("--threads", 2, "--shard-count", 1, "--shards", kind) as server:
                subscribers = [connect_to(server, loop) for loop in (0, 1)]
                publishers = [connect_to(server, loop) for loop in (0, 1)]
                for subscriber in subscribers:
                    subscribe(subscriber, "news")

                def publish(number):
                    # In small batches: each one is a turn of its own.
                    for first in range(0, count, 5):
                        publishers[number].write(b"".join(
                            encode("PUBLISH", "news", f"{number} {index}") for index in range(first, first + 5)))
                        for _ in range(5):
                            publishers[number].reply()

                threads = [threading.Thread(target=publish, args=(number,)) for number in (0, 1)]
                for thread in threads:
                    thread.start()
                seen = [[], []]

                def read(number):
                    seen[number] = [subscribers[number].reply()[2].decode() for _ in range(2 * count)]

                readers = [threading.Thread(target=read, args=(number,)) for number in (0, 1)]
                for thread in readers:
                    thread.start()
                for thread in threads + readers:
                    thread.join()
                for messages in seen:
                    for number in (0, 1):
                        own = [int(text.split()[1]) for text in messages if text.startswith(f"{number} ")]
                        self.assertEqual(own, list(range(count)), "a publisher's messages were reordered")
                different = [pair for pair in zip(*seen) if pair[0] != pair[1]]
                self.assertEqual(different[:5], [])

    def test_messages_come_before_the_reply_that_ends_their_subscription(self):
        with Process("--threads", 2, "--shard-count", 2) as server:
            for loop in (0, 1):
                client = connect_to(server, loop)
                channel = f"c{loop}"
                name = channel.encode()
                subscribe(client, channel)
                for index in range(50):
                    client.write(encode("PUBLISH", channel, index) + encode("UNSUBSCRIBE", channel))
                    self.assertEqual([client.reply() for _ in range(3)],
                                     [1, [b"message", name, b"%d" % index], [b"unsubscribe", name, 0]])
                    self.assertEqual(client.call("SUBSCRIBE", channel), [b"subscribe", name, 1])


class Costs(unittest.TestCase):
    def test_many_small_messages_for_many_subscribers_take_little_memory(self):
        """A batch of publications costs no memory for each pair of a message and a receiver."""
        with Process("--threads", 2, "--shard-count", 1) as server:
            publisher = connect_to(server, 0)
            receivers = []
            while len(receivers) < 500:
                receiver = server.connect()
                if receiver.call("CLIENT", "ID") % 2 == 1:
                    receiver.call("SUBSCRIBE", "news")
                    receivers.append(receiver)
            before = most_memory(server)
            publisher.write(encode("PUBLISH", "news", "x") * 1000)
            self.assertEqual([publisher.reply() for _ in range(1000)], [500] * 1000)
            for receiver in receivers:
                for _ in range(1000):
                    receiver.reply()
            # 500,000 pairs.
            self.assertLess(most_memory(server) - before, 25 << 20)

    @unittest.skipUnless(COMPILER, "there is no C compiler")
    def test_messages_that_come_together_are_sent_together(self):
        for threads in (1, 2):
            with self.subTest(threads=threads):
                folder = self.enterContext(tempfile.TemporaryDirectory())
                environment, _ = preload(folder, "sends")
                with Process("--threads", threads, "--shard-count", 1, environment=environment) as server:
                    self.publish_and_count(server, os.path.join(folder, "sends"))

    def publish_and_count(self, server, file_of_sends):
        def sends():
            with open(file_of_sends, "rb") as file:
                return struct.unpack("l", file.read(struct.calcsize("l")))[0]

        receivers = [server.connect() for _ in range(100)]
        for receiver in receivers:
            receiver.call("SUBSCRIBE", "news")
        publisher, count = server.connect(), 1000
        before = sends()
        self.assertGreaterEqual(before, 100)
        publisher.write(b"".join(encode("PUBLISH", "news", index) for index in range(count)))
        self.assertEqual([publisher.reply() for _ in range(count)], [100] * count)
        for receiver in receivers:
            self.assertEqual([int(receiver.reply()[2]) for _ in range(count)], list(range(count)))
        # One for each message and receiver would be 100,000.
        self.assertLess(sends() - before, 10_000)

    def test_a_receiver_that_reads_is_not_disconnected_for_messages_that_come_together(self):
        # Together a little more than the 32 MB that may wait for a receiver; one job delivers both.
        sizes = [1_000_000, (32 << 20) - 950_000]
        with Process() as server:
            subscriber, publisher = server.connect(), server.connect()
            subscribe(subscriber, "news")
            publisher.write(encode("MULTI") + b"".join(encode("PUBLISH", "news", b"m" * size) for size in sizes)
                            + encode("EXEC"))
            self.assertEqual([len(subscriber.reply()[2]) for _ in sizes], sizes)
            self.assertEqual([publisher.reply() for _ in range(4)], ["+OK", "+QUEUED", "+QUEUED", [1, 1]])

    def test_a_large_message_for_many_subscribers_is_copied_for_some_of_them_at_a_time(self):
        with Process("--threads", 1) as server:
            receivers = [server.connect() for _ in range(500)]
            for receiver in receivers:
                receiver.call("SUBSCRIBE", "news")
            publisher, size = server.connect(), 60_000
            before = most_memory(server)
            self.assertEqual(publisher.call("PUBLISH", "news", b"m" * size), 500)
            for receiver in receivers:
                self.assertEqual(len(receiver.reply()[2]), size)
            # All copies are 30 MB.
            self.assertLess(most_memory(server) - before, 15 << 20)

    def test_a_publisher_waits_for_a_loop_that_is_busy(self):
        count, size, transaction = 800, 100_000, 150_000
        with Process("--threads", 2, "--shard-count", 2) as server:
            busy, subscriber, publisher = connect_to(server, 0), connect_to(server, 0), connect_to(server, 1)
            subscribe(subscriber, "news")
            # A long transaction in the other shard keeps the loop of the subscriber busy.
            busy.call("MULTI")
            for _ in range(transaction // 1000):
                busy.write(encode("INCR", "other") * 1000)
                self.assertEqual([busy.reply() for _ in range(1000)], ["+QUEUED"] * 1000)
            before = most_memory(server)
            busy.send("EXEC")
            received = []

            def read():
                try:
                    for _ in range(count):
                        received.append(len(subscriber.reply()[2]))
                except (Closed, ConnectionError) as error:
                    received.append(repr(error))

            reader = threading.Thread(target=read)
            reader.start()
            replies = []
            for _ in range(0, count, 8):
                publisher.write(encode("PUBLISH", "news", b"m" * size) * 8)
                replies += [publisher.reply() for _ in range(8)]
            reader.join()
            self.assertEqual(received, [size] * count)
            self.assertEqual(replies, [1] * count)
            self.assertLess(most_memory(server) - before, 60 << 20)
            self.assertEqual(len(busy.reply()), transaction)


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
