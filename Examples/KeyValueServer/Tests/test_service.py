"""What a client may rely on, with the clients that people use."""

import re
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import redis

from servers import PATIENCE, Closed, Process, encode, until


class Clients(unittest.TestCase):
    """The server as redis-cli, redis-benchmark and Python's redis see it, on two threads."""

    @classmethod
    def setUpClass(cls):
        cls.server = Process("--threads", 2, "--shard-count", 2, "--metrics", 0).__enter__()
        cls.metrics = int(cls.server.logged(r"metrics on [0-9.]+:(\d+)")[1])

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def client(self, **options):
        client = redis.Redis(port=self.server.port, decode_responses=True, **options)
        self.addCleanup(client.close)
        return client

    def test_redis_cli(self):
        def cli(*arguments):
            return subprocess.check_output(["redis-cli", "-p", str(self.server.port), *arguments], text=True).strip()

        self.assertEqual(cli("ping"), "PONG")
        self.assertEqual(cli("set", "cli", "1"), "OK")
        self.assertEqual(cli("incr", "cli"), "2")
        self.assertEqual(cli("-3", "hset", "cli-hash", "a", "1"), "1")
        self.assertEqual(cli("-3", "hgetall", "cli-hash"), "a 1")
        self.assertIn("mem_allocator", cli("info", "memory"))

    def test_redis_benchmark(self):
        output = subprocess.check_output(
            ["redis-benchmark", "-p", str(self.server.port), "-q", "-n", "2000", "-c", "20", "-P", "8"],
            text=True, stderr=subprocess.STDOUT)
        self.assertIn("MSET (10 keys)", output)
        self.assertNotIn("rror", output)

    def test_a_pipeline_over_many_shards_keeps_the_order(self):
        pipeline = self.client().pipeline(transaction=False)
        for index in range(3000):
            pipeline.set(f"order-{index}", index)
            pipeline.get(f"order-{index}")
        self.assertEqual(pipeline.execute(), [x for i in range(3000) for x in (True, str(i))])

    def test_several_keys(self):
        client = self.client()
        names = {f"several-{index}": str(index) for index in range(50)}
        self.assertTrue(client.mset(names))
        self.assertEqual(client.mget(list(names) + ["none"]), list(names.values()) + [None])
        self.assertEqual(client.exists(*names, "none"), 50)
        self.assertEqual(client.delete(*names, "none"), 50)

    def test_transactions(self):
        client = self.client()
        pipeline = client.pipeline()
        pipeline.set("t1", 1).incr("t1").mset({"t2": "a", "t3": "b"}).mget("t1", "t2", "t3")
        self.assertEqual(pipeline.execute(), [True, 2, True, ["2", "a", "b"]])
        raw = self.server.connect()
        self.assertEqual([raw.call("MULTI"), raw.call("SET", "t4"), raw.call("PING")],
                         ["+OK", "-ERR wrong number of arguments for 'set' command", "+QUEUED"])
        self.assertEqual(raw.call("EXEC"), "-EXECABORT Transaction discarded because of previous errors.")
        raw.close()

    def test_a_transaction_on_one_shard_is_not_torn(self):
        seen, is_over = [], threading.Event()

        def read():
            client = self.client()
            while not is_over.is_set():
                seen.append(client.pipeline().get("{torn}a").get("{torn}b").execute())

        writer = self.client()
        with ThreadPoolExecutor() as pool:
            reader = pool.submit(read)
            try:
                index = 0
                while (index < 500 or len(seen) <= 10) and not reader.done():
                    writer.pipeline().set("{torn}a", index).set("{torn}b", index).execute()
                    index += 1
            finally:
                is_over.set()
            reader.result()
        self.assertGreater(len(seen), 10)
        self.assertEqual([pair for pair in seen if pair[0] != pair[1]], [])

    def test_no_increment_is_lost_and_no_acknowledged_write_is_read_late(self):
        late = []

        def count(number):
            client, other = self.client(), self.client()
            for index in range(300):
                client.incr(f"shared-{index % 5}")
                client.set(f"own-{number}", index)
                if other.get(f"own-{number}") != str(index):
                    late.append(index)

        with ThreadPoolExecutor(8) as pool:
            # list: raises what a thread has raised.
            list(pool.map(count, range(8)))
        self.assertEqual(late, [])
        self.assertEqual([self.client().get(f"shared-{i}") for i in range(5)], ["480"] * 5)

    def test_keys_expire(self):
        client = self.client()
        client.set("stays", 1, ex=100)
        self.assertIn(client.ttl("stays"), range(90, 101))
        self.assertEqual(client.ttl("none"), -2)
        self.assertTrue(client.persist("stays"))
        self.assertEqual(client.ttl("stays"), -1)
        before, expired = client.dbsize(), client.info("stats")["expired_keys"]
        client.set("expires", 1, px=60)
        # Nobody asks for it.
        self.assertTrue(until(lambda: client.info("stats")["expired_keys"] == expired + 1))
        self.assertEqual(client.dbsize(), before)
        self.assertIsNone(client.get("expires"))

    def test_channels(self):
        for version in (2, 3):
            client = self.client(protocol=version) if redis.VERSION[0] >= 5 else self.client()
            listener = client.pubsub()
            names = [f"channel-{version}-{index}" for index in range(5)]
            listener.subscribe(*names)
            for _ in names:
                self.assertEqual(listener.get_message(timeout=PATIENCE)["type"], "subscribe")
            for name in names:
                self.assertEqual(self.client().publish(name, "hello " + name), 1)
            got = [listener.get_message(timeout=PATIENCE) for _ in names]
            self.assertEqual([m["data"] for m in got], ["hello " + name for name in names])
            listener.unsubscribe(names[0])
            self.assertEqual(listener.get_message(timeout=PATIENCE)["type"], "unsubscribe")
            self.assertEqual(self.client().publish(names[0], "x"), 0)
            listener.close()
            self.assertTrue(until(lambda: client.publish(names[1], "x") == 0))

    def test_channels_that_are_left_at_once(self):
        client, other = self.server.connect(), self.server.connect()
        names = [f"left-{index}" for index in range(4)]
        # In one write, so that the server gets it as one batch.
        client.write(encode("SUBSCRIBE", *names) + encode("UNSUBSCRIBE") + encode("GET", "none"))
        for count in (1, 2, 3, 4):
            self.assertEqual(client.reply()[0::2], [b"subscribe", count])
        for count in (3, 2, 1, 0):
            self.assertEqual(client.reply()[0::2], [b"unsubscribe", count])
        self.assertIsNone(client.reply())
        self.assertEqual([other.call("PUBLISH", name, "x") for name in names], [0] * 4)

    def test_reset_leaves_all_channels(self):
        client, other = self.server.connect(), self.server.connect()
        client.write(encode("SUBSCRIBE", "reset-1", "reset-2") + encode("RESET") + encode("GET", "none"))
        self.assertEqual([client.reply()[2], client.reply()[2], client.reply()], [1, 2, "+RESET"])
        self.assertIsNone(client.reply())
        self.assertEqual([other.call("PUBLISH", name, "x") for name in ("reset-1", "reset-2")], [0, 0])
        client.write(encode("CLIENT", "SETNAME", "me") + encode("RESET") + encode("CLIENT", "GETNAME"))
        self.assertEqual([client.reply() for _ in range(3)], ["+OK", "+RESET", None])

    def test_hello_changes_later_replies_only(self):
        client = self.server.connect()
        client.write(encode("GET", "none") + encode("HELLO", 3) + encode("GET", "none") + encode("HELLO", 2)
                     + encode("GET", "none"))
        first, _, second, _, third = [client.reply() for _ in range(5)]
        self.assertEqual([first, second, third], [None, "_", None])

    def test_a_deadline_that_stays_takes_no_memory(self):
        client = self.server.connect()
        far = int(time.time() * 1000) + 1_000_000

        def memory():
            lines = client.call("INFO", "memory").decode().split("\r\n")
            return int(dict(line.split(":", 1) for line in lines if ":" in line)["used_memory"])

        def write(*option):
            client.write(encode("SET", "deadline", "x", *option) * 100)
            self.assertEqual([client.reply() for _ in range(100)], ["+OK"] * 100)

        for _ in range(2):
            write("PXAT", far)
            write("KEEPTTL")
        before = memory()
        for option in [("KEEPTTL",), ("PXAT", far)]:
            for _ in range(300):
                write(*option)
        # 30,000 items would be 700 KB. Without jemalloc there is no figure.
        self.assertLess(memory() - before, 300_000)
        self.assertIn(client.call("TTL", "deadline"), range(100, 1001))

    def test_a_client_of_the_metrics_that_asks_for_nothing_is_closed(self):
        with socket.create_connection(("127.0.0.1", self.metrics)) as idle:
            idle.settimeout(PATIENCE)
            self.assertEqual(idle.recv(1), b"")

    def test_sections_of_info(self):
        client = self.server.connect()

        def sections(*names):
            return re.findall(r"(?m)^# (\w+)", client.call("INFO", *names).decode())

        every = ["Server", "Clients", "Memory", "Stats", "Loops", "Keyspace"]
        for names in [(), ("all",), ("default",), ("everything",), ("server", "ALL")]:
            self.assertEqual(sections(*names), every, names)
        self.assertEqual(sections("keyspace", "none", "Clients"), ["Clients", "Keyspace"])
        self.assertEqual(sections("none"), [])

    def test_what_config_and_info_say_of_the_journal(self):
        with tempfile.TemporaryDirectory() as folder:
            for options, expected in [((), [b"no", b"no", "reactor"]), (("--shards", "mutex"), [b"no", b"no", "mutex"]),
                                      (("--data", folder), [b"yes", b"always", "durable"]),
                                      (("--data", folder, "--acknowledge", "early"), [b"yes", b"no", "durable"])]:
                with self.subTest(options), Process(*options) as server:
                    client = server.connect()
                    found = client.call("CONFIG", "GET", "append*")
                    kind = re.search(r"shard_kind:(\w+)", client.call("INFO", "server").decode())[1]
                    self.assertEqual([found[found.index(b"appendonly") + 1], found[found.index(b"appendfsync") + 1], kind], expected)

    def test_info_sees_what_precedes_it(self):
        for kind in ("reactor", "loop", "mutex"):
            with self.subTest(kind), Process("--threads", 2, "--shard-count", 2, "--shards", kind) as server:
                client = server.connect()
                # In one write, so that the server gets it at once: as Redis' clients send it, and as somebody types it.
                for info in (encode("INFO", "keyspace"), encode("info", "keyspace"), b"Info keyspace\r\n"):
                    client.write(encode("FLUSHALL") + encode("SET", "a", 1) + encode("SET", "b", 1) + info + encode("SET", "c", 1) + info)
                    self.assertEqual([client.reply() for _ in range(3)], ["+OK"] * 3)
                    self.assertIn(b"db0:keys=2,", client.reply())
                    self.assertEqual(client.reply(), "+OK")
                    self.assertIn(b"db0:keys=3,", client.reply())
                # A transaction runs it before all others.
                client.write(encode("DEL", "c") + encode("MULTI") + encode("SET", "d", 1) + encode("SET", "e", 1)
                             + encode("INFO", "keyspace") + encode("EXEC"))
                self.assertEqual([client.reply() for _ in range(5)], [1, "+OK"] + ["+QUEUED"] * 3)
                self.assertIn(b"db0:keys=2,", client.reply()[2])

    def test_the_statistics_of_info_begin_anew(self):
        with Process("--metrics", 0) as server:
            client = server.connect()

            def statistics():
                text = client.call("INFO", "stats").decode()
                return [int(count) for count in re.findall(r"(?:total_commands_processed|expired_keys):(\d+)", text)]

            def expire():
                client.call("SET", "expires", 1, "PX", 1)
                self.assertTrue(until(lambda: statistics()[1] == 1))

            expire()
            before = statistics()[0]
            self.assertEqual(client.call("CONFIG", "RESETSTAT"), "+OK")
            # The command that asks.
            self.assertEqual(statistics(), [1, 0])
            expire()
            # The metrics go on.
            port = server.logged(r"metrics on [0-9.]+:(\d+)")[1]
            text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE).read().decode()
            self.assertRegex(text, r"(?m)^kv_expired_total 2$")
            self.assertGreater(int(re.search(r"(?m)^kv_commands_total (\d+)$", text)[1]), before)

    def test_keys_with_a_deadline_are_counted(self):
        with Process("--threads", 2, "--shard-count", 2) as server:
            client = server.connect()

            def counts():
                found = re.search(rb"db0:keys=(\d+),expires=(\d+)", client.call("INFO", "keyspace"))
                return [int(found[1]), int(found[2])] if found else [0, 0]

            for command, expected in [(("SET", "a", 1, "EX", 100), [1, 1]), (("SET", "b", 1), [2, 1]), (("EXPIRE", "b", 100), [2, 2]),
                                      (("EXPIRE", "b", 200), [2, 2]), (("SET", "a", 2), [2, 1]), (("PERSIST", "b"), [2, 0]),
                                      (("SETEX", "b", 100, 1), [2, 1]), (("SET", "b", 2, "KEEPTTL"), [2, 1]),
                                      (("GETSET", "b", 3), [2, 0]), (("RPUSH", "c", 1), [3, 0]), (("EXPIRE", "c", 100), [3, 1]),
                                      (("LPOP", "c"), [2, 0]), (("PSETEX", "a", 100_000, 1), [2, 1]), (("DEL", "a"), [1, 0]),
                                      (("SETEX", "b", 100, 1), [1, 1]), (("GETDEL", "b"), [0, 0]), (("SETEX", "b", 100, 1), [1, 1]),
                                      (("EXPIRE", "b", -1), [0, 0]), (("SETEX", "b", 100, 1), [1, 1]), (("MSET", "b", 1), [1, 0]),
                                      (("SETEX", "b", 100, 1), [1, 1]), (("FLUSHALL",), [0, 0])]:
                client.call(*command)
                self.assertEqual(counts(), expected, command)

    def test_metrics_and_info(self):
        self.client().set("metric", 1)
        text = urllib.request.urlopen(f"http://127.0.0.1:{self.metrics}/metrics", timeout=PATIENCE).read().decode()
        self.assertRegex(text, r"(?m)^kv_commands_total [1-9]")
        self.assertRegex(text, r'(?m)^kv_loop_turns_total\{loop="kv-1"\} ')
        self.assertGreater(int(self.client().info("memory")["used_memory_rss"]), 0)


def memory(connection):
    """The memory of a server's process, in bytes."""
    lines = connection.call("INFO", "memory").decode().split("\r\n")
    return int(dict(line.split(":", 1) for line in lines if ":" in line)["used_memory_rss"])


class Limits(unittest.TestCase):
    """Bad input, clients that do not read, and the end."""

    def test_bad_input_closes_that_connection_only(self):
        with Process() as server:
            good = server.connect()
            for bad, error in [(b"*1\r\n:1\r\n", "-ERR Protocol error: expected '$', got ':'"),
                               (b"*x\r\n", "-ERR Protocol error: invalid multibulk length"),
                               (b"*1\r\n$-7\r\n", "-ERR Protocol error: invalid bulk length")]:
                connection = server.connect()
                connection.write(encode("SET", "a", "b") + bad + encode("SET", "a", "c"))
                self.assertEqual([connection.reply(), connection.reply()], ["+OK", error])
                with self.assertRaises(Closed):
                    connection.reply()
                self.assertEqual(good.call("GET", "a"), b"b")

    def test_commands_in_pieces(self):
        with Process() as server:
            connection = server.connect()
            for byte in encode("SET", "pieces", "x" * 30) + b"get pieces\r\n":
                connection.write(bytes([byte]))
            self.assertEqual([connection.reply(), connection.reply()], ["+OK", b"x" * 30])
            large = b"y" * (3 << 20)
            self.assertEqual(connection.call("SET", "large", large), "+OK")
            self.assertEqual(connection.call("GET", "large"), large)

    def test_too_many_clients_are_refused(self):
        with Process("--max-clients", 3) as server:
            clients = [server.connect() for _ in range(3)]
            self.assertEqual([c.call("PING") for c in clients], ["+PONG"] * 3)
            self.assertEqual(server.connect().reply(), "-ERR max number of clients reached")
            clients[0].close()
            self.assertTrue(until(lambda: b"connected_clients:2" in clients[1].call("INFO", "clients")))
            self.assertEqual(server.connect().call("PING"), "+PONG")

    def test_clients_that_go_leave_nothing_behind(self):
        with Process("--threads", 2, "--shard-count", 2) as server:
            other = redis.Redis(port=server.port)

            def memory():
                """The memory when all others have gone."""
                self.assertTrue(until(lambda: other.info("clients")["connected_clients"] == 1))
                self.assertTrue(until(lambda: other.publish("go", "x") == 0))
                return int(other.info("memory")["used_memory"])

            def come_and_go(count):
                for index in range(count):
                    client = server.connect()
                    self.assertEqual(client.call("SET", f"go-{index % 7}", "x"), "+OK")
                    client.send("SUBSCRIBE", "go")
                    client.close()
                    server.connections.clear()

            come_and_go(300)
            before = memory()
            come_and_go(2000)
            # Each would be a KB and more. Without jemalloc there is no figure.
            self.assertLess(memory() - before, 1000 * 1000)
            other.close()

    def test_too_large_an_argument_is_refused(self):
        with Process("--max-argument", 1000) as server:
            connection = server.connect()
            self.assertEqual(connection.call("SET", "a", "x" * 1000), "+OK")
            connection.send("SET", "a", "x" * 1001)
            self.assertEqual(connection.reply(), "-ERR Protocol error: invalid bulk length")

    def test_a_client_that_does_not_read_is_not_read(self):
        with Process() as server:
            other, slow = server.connect(), server.connect()
            other.call("SET", "big", "z" * 100_000)
            slow.socket.settimeout(1)
            # Long requests, so that few of them fill the buffers of the system.
            sent, request = 0, encode("MGET", "big", "k" * 10_000)
            with self.assertRaises(TimeoutError):
                for _ in range(100_000):
                    slow.write(request)
                    sent += 1
            self.assertEqual(other.call("PING"), "+PONG")
            memory = dict(line.split(":", 1) for line in other.call("INFO", "memory").decode().split("\r\n") if ":" in line)
            self.assertLess(int(memory["used_memory_rss"]), 200 << 20)
            slow.socket.settimeout(PATIENCE)
            for _ in range(sent):
                self.assertEqual([len(slow.reply()[0])], [100_000])

    def test_a_subscriber_that_reads_slowly_takes_bounded_memory(self):
        with Process() as server:
            other, slow = server.connect(), server.connect()
            slow.call("SUBSCRIBE", "news")
            message = b"m" * 1_000_000

            def publish():
                self.assertEqual(other.call("PUBLISH", "news", message), 1)

            # It never reads everything that was published, so there is always something to be sent.
            for _ in range(20):
                publish()
            before = memory(other)
            for _ in range(150):
                publish()
                self.assertEqual(slow.reply(), [b"message", b"news", message])
            self.assertLess(memory(other) - before, 80_000_000)

    def test_a_subscriber_that_does_not_read_is_disconnected(self):
        with Process() as server:
            other, slow = server.connect(), server.connect()
            slow.call("SUBSCRIBE", "news")
            self.assertTrue(until(lambda: other.call("PUBLISH", "news", b"m" * 1_000_000) == 0, 600))
            self.assertTrue(until(lambda: server.logged("does not read what it has subscribed to")), server.log())

    def test_a_message_for_many_takes_no_memory_for_each(self):
        with Process() as server:
            listeners, other = [server.connect() for _ in range(300)], server.connect()
            for listener in listeners:
                listener.call("SUBSCRIBE", "news")

            def most_memory():
                with open(f"/proc/{server.process.pid}/status") as file:
                    return int(re.search(r"VmHWM:\s+(\d+) kB", file.read())[1]) << 10

            before = most_memory()
            self.assertEqual(other.call("PUBLISH", "news", b"m" * 200_000), 300)
            # Sixty megabytes, if there were a copy for each at the same time.
            self.assertLess(most_memory() - before, 20 << 20)
            for listener in listeners:
                self.assertEqual(len(listener.reply()[2]), 200_000)

    def test_messages_that_wait_for_the_end_of_a_batch_are_bounded(self):
        with Process() as server:
            other, own = server.connect(), server.connect()
            own.call("HELLO", 3)
            own.call("SUBSCRIBE", "own")
            own.call("MULTI")
            for _ in range(400):
                self.assertEqual(own.call("PUBLISH", "own", b"m" * 100_000), "+QUEUED")
            own.send("EXEC")
            with self.assertRaises((Closed, ConnectionError)):
                while True:
                    own.reply()
            self.assertEqual(other.call("PING"), "+PONG")
            self.assertTrue(until(lambda: server.logged("does not read what it has subscribed to")), server.log())

    def test_the_end_waits_for_what_was_received(self):
        with Process("--threads", 2, "--shard-count", 2) as server:
            connection, idle = server.connect(), server.connect()
            self.assertEqual(idle.call("PING"), "+PONG")
            count = 2000
            connection.write(b"".join(encode("INCR", f"end-{i % 50}") for i in range(count)))
            self.assertEqual(connection.reply(), 1)
            # It does not wait for clients that stay.
            status, log = server.terminate()
            self.assertEqual(status, 0)
            self.assertIn("ended", log)
            with self.assertRaises(Closed):
                idle.reply()
            replies = [1]
            try:
                while True:
                    replies.append(connection.reply())
            except (Closed, ConnectionResetError):
                # Reset if there was input that nobody had read. Its system had all replies by then.
                pass
            # Whole batches, and no piece of a reply.
            self.assertEqual(connection.buffer, b"")
            self.assertEqual(replies, [i // 50 + 1 for i in range(len(replies))])

    def test_an_idle_connection_keeps_little_of_its_largest_command(self):
        with Process("--threads", 2, "--shard-count", 4) as server:
            other, size, keys = server.connect(), 4 << 20, 100_000
            large, many = b"x" * size, encode("DEL", *[f"key-{i}" for i in range(keys)])

            def allocated():
                return int(re.search(rb"used_memory:(\d+)", other.call("INFO", "memory"))[1])

            def echo(connection):
                self.assertEqual(connection.call("ECHO", large), large)

            def transact(connection):
                connection.write(encode("MULTI") + encode("PING", large) + encode("EXEC"))
                self.assertEqual([connection.reply() for _ in range(3)], ["+OK", "+QUEUED", [large]])

            def delete(connection):
                connection.write(many)
                self.assertEqual(connection.reply(), 0)

            for use in (echo, transact, delete):
                with self.subTest(use.__name__):
                    before = allocated()
                    for _ in range(10):
                        use(server.connect())
                    # Without jemalloc there is no figure.
                    self.assertLess(allocated() - before, 2 << 20)
                    # The connections are still there.
                    self.assertEqual([one.call("PING") for one in server.connections], ["+PONG"] * len(server.connections))

    def test_a_large_string_does_not_become_larger_than_redis_allows(self):
        with Process() as server:
            connection = server.connect()
            part = b"x" * (64 << 20)
            for count in range(1, 9):
                self.assertEqual(connection.call("APPEND", "large", part), count * len(part))
            self.assertEqual(connection.call("APPEND", "large", "x"),
                             "-ERR string exceeds maximum allowed size (proto-max-bulk-len)")
            self.assertEqual(connection.call("STRLEN", "large"), 512 << 20)

    def test_every_kind_of_shards(self):
        for kind in ("reactor", "loop", "mutex", "actor"):
            with self.subTest(kind), Process("--threads", 2, "--shard-count", 2, "--shards", kind) as server:
                connection = server.connect()
                connection.write(b"".join(encode("INCR", f"kind-{i % 7}") for i in range(700)))
                self.assertEqual([connection.reply() for _ in range(700)], [i // 7 + 1 for i in range(700)])
                self.assertEqual(connection.call("MGET", *[f"kind-{i}" for i in range(7)]), [b"100"] * 7)


if __name__ == "__main__":
    unittest.main()
