"""What a client can make the server keep: replies that it asks for, commands without an end, transactions, and calls in calls."""

import threading
import unittest

from servers import Closed, Process, encode, until
from test_channels import most_memory


class Replies(unittest.TestCase):
    def test_the_replies_of_a_batch_are_bounded(self):
        size = 100_000
        with Process("--threads", 2, "--shard-count", 2, "--max-output-buffer", 1_000_000) as server:
            other = server.connect()
            keys = [f"key-{index}" for index in range(20)]
            for key in keys:
                other.call("SET", key, "x" * size)
            name, get = encode("CLIENT", "GETNAME"), encode("GET", keys[0])
            # A little more than the limit: from the connection itself, a shard, both shards, and in a transaction.
            for index, request in enumerate([name * 11, get * 11, encode("MGET", *keys), encode("MGET", *keys[:11]),
                                             name * 6 + get * 6, encode("MULTI") + get * 11 + encode("EXEC"),
                                             encode("MULTI") + name * 11 + encode("EXEC")]):
                with self.subTest(request=index):
                    client = server.connect()
                    client.call("CLIENT", "SETNAME", "n" * size)
                    client.write(request + encode("SET", "done", index))
                    with self.assertRaises((Closed, ConnectionError)):
                        for _ in range(100):
                            client.reply()
                    # Nevertheless what it has sent is run.
                    self.assertTrue(until(lambda: other.call("GET", "done") == b"%d" % index, 10))
            self.assertTrue(until(lambda: "wants more than 1000000 bytes of replies" in server.log(), 10))
            # As often as it likes, if it reads.
            reader = server.connect()
            for _ in range(5):
                reader.write(get * 9)
                self.assertEqual([len(reader.reply()) for _ in range(9)], [size] * 9)

    def test_replies_that_are_dropped_take_no_memory(self):
        with Process("--max-output-buffer", 20_000_000) as server:
            client = server.connect()
            self.assertEqual(client.call("CLIENT", "SETNAME", "n" * 10_000_000), "+OK")
            before = most_memory(server)
            client.write(encode("CLIENT", "GETNAME") * 40)
            with self.assertRaises((Closed, ConnectionError)):
                for _ in range(40):
                    client.reply()
            self.assertLess(most_memory(server) - before, 100_000_000)

    def test_there_may_be_no_limit(self):
        with Process("--max-output-buffer", 0) as server:
            client = server.connect()
            client.call("SET", "big", "x" * 1_000_000)
            client.write(encode("GET", "big") * 50)
            self.assertEqual([len(client.reply()) for _ in range(50)], [1_000_000] * 50)
            self.assertEqual(client.call("CONFIG", "GET", "client-output-buffer-limit")[1][:13], b"normal 0 0 0 ")

    def test_a_client_does_not_choose_how_deep_calls_go(self):
        # Every second command begins a batch, whose replies are sent before the next one.
        request = b"INFO server\nCLIENT INFO\n" * 2700
        # A small stack, which is soon at its end.
        with Process("--threads", 1, limits="-s 512") as server:
            client, other = server.connect(), server.connect()
            self.assertEqual(client.call("CLIENT", "SETNAME", "n" * 65_500), "+OK")
            received = [0, b""]

            def read():
                buffer = bytearray(1 << 20)
                while count := client.socket.recv_into(buffer):
                    received[0] += count
                    received[1] = (received[1] + buffer[max(0, count - 7):count])[-7:]
                    if received[1] == b"+PONG\r\n":
                        return

            reader = threading.Thread(target=read)
            reader.start()
            client.write(request + b"PING\n")
            # The others have their turn meanwhile: after 1 MB, and what the system keeps.
            longest = 0
            while reader.is_alive():
                before = received[0]
                self.assertEqual(other.call("PING"), "+PONG")
                longest = max(longest, received[0] - before)
            reader.join()
            self.assertGreater(received[0], 2700 * 65_500)
            # Some 3 MB; without turns, most of all if the client reads as fast as the server sends.
            self.assertLess(longest, 50_000_000)


class Requests(unittest.TestCase):
    def test_the_arguments_of_a_command_without_its_end_count(self):
        with Process("--max-query-buffer", 1 << 20) as server:
            client = server.connect()
            client.write(b"*1000000\r\n")
            # 600 KB, and 1,600 KB for where they are.
            with self.assertRaises((Closed, ConnectionError)):
                client.write(b"$0\r\n\r\n" * 100_000)
                client.socket.settimeout(10)
                client.reply()
            self.assertTrue(until(lambda: "max query buffer length" in server.log(), 10))

    def test_a_transaction_that_will_fail_keeps_nothing(self):
        with Process("--max-query-buffer", 1 << 20) as server:
            client = server.connect()
            self.assertEqual(client.call("MULTI"), "+OK")
            self.assertEqual(client.call("SET", "a", "x" * 1_000_000), "+QUEUED")
            self.assertEqual(client.call("NOSUCH")[:4], "-ERR")
            # Otherwise 20,000 of them would be 3 MB.
            for _ in range(20):
                client.write(encode("PING") * 1000)
                self.assertEqual([client.reply() for _ in range(1000)], ["+QUEUED"] * 1000)
            self.assertEqual(client.call("EXEC"), "-EXECABORT Transaction discarded because of previous errors.")


if __name__ == "__main__":
    unittest.main()
