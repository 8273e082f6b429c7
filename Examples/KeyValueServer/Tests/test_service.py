"""What a client may rely on, with the clients that people use."""

import subprocess
import threading
import time
import unittest
import urllib.request

import redis

from servers import Closed, Process, encode, free_port


class Clients(unittest.TestCase):
    """The server as redis-cli, redis-benchmark and Python's redis see it, on two threads."""

    @classmethod
    def setUpClass(cls):
        cls.metrics = free_port()
        cls.server = Process("--threads", 2, "--metrics", cls.metrics).__enter__()

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

        reader = threading.Thread(target=read)
        reader.start()
        writer = self.client()
        for index in range(500):
            writer.pipeline().set("{torn}a", index).set("{torn}b", index).execute()
        is_over.set()
        reader.join()
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

        threads = [threading.Thread(target=count, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(late, [])
        self.assertEqual([self.client().get(f"shared-{i}") for i in range(5)], ["480"] * 5)

    def test_keys_expire(self):
        client = self.client()
        client.set("expires", 1, px=60)
        client.set("stays", 1, ex=100)
        self.assertEqual((client.ttl("stays"), client.ttl("none")), (100, -2))
        self.assertTrue(client.persist("stays"))
        self.assertEqual(client.ttl("stays"), -1)
        before = client.dbsize()
        time.sleep(0.4)
        # Nobody has asked for it.
        self.assertEqual(client.dbsize(), before - 1)
        self.assertIsNone(client.get("expires"))

    def test_channels(self):
        for version in (2, 3):
            client = self.client(protocol=version) if redis.VERSION[0] >= 5 else self.client()
            listener = client.pubsub()
            names = [f"channel-{version}-{index}" for index in range(5)]
            listener.subscribe(*names)
            for _ in names:
                self.assertEqual(listener.get_message(timeout=5)["type"], "subscribe")
            for name in names:
                self.assertEqual(self.client().publish(name, "hello " + name), 1)
            got = [listener.get_message(timeout=5) for _ in names]
            self.assertEqual([m["data"] for m in got], ["hello " + name for name in names])
            listener.unsubscribe(names[0])
            self.assertEqual(listener.get_message(timeout=5)["type"], "unsubscribe")
            self.assertEqual(self.client().publish(names[0], "x"), 0)
            listener.close()
            deadline = time.time() + 5
            while self.client().publish(names[1], "x") and time.time() < deadline:
                time.sleep(0.01)
            self.assertEqual(self.client().publish(names[1], "x"), 0)

    def test_metrics_and_info(self):
        self.client().set("metric", 1)
        text = urllib.request.urlopen(f"http://127.0.0.1:{self.metrics}/metrics", timeout=5).read().decode()
        self.assertRegex(text, r"(?m)^kv_commands_total [1-9]")
        self.assertRegex(text, r'(?m)^kv_loop_turns_total\{loop="kv-1"\} ')
        self.assertGreater(int(self.client().info("memory")["used_memory_rss"]), 0)


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
            time.sleep(0.1)
            clients = [server.connect() for _ in range(3)]
            self.assertEqual([c.call("PING") for c in clients], ["+PONG"] * 3)
            self.assertEqual(server.connect().reply(), "-ERR max number of clients reached")
            clients[0].close()
            time.sleep(0.2)
            self.assertEqual(server.connect().call("PING"), "+PONG")

    def test_clients_that_go_leave_nothing_behind(self):
        with Process("--threads", 2) as server:
            def memory():
                return int(redis.Redis(port=server.port).info("memory")["used_memory"])

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
            time.sleep(0.3)
            self.assertEqual(server.connect().call("PUBLISH", "go", "x"), 0)
            # Each would be a KB and more. Without jemalloc there is no figure.
            self.assertLess(memory() - before, 1000 * 1000)

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
            slow.socket.settimeout(30)
            for _ in range(sent):
                self.assertEqual([len(slow.reply()[0])], [100_000])

    def test_the_end_waits_for_what_was_received(self):
        with Process("--threads", 2) as server:
            connection, idle = server.connect(), server.connect()
            self.assertEqual(idle.call("PING"), "+PONG")
            connection.write(b"".join(encode("INCR", f"end-{i % 50}") for i in range(2000)))
            self.assertEqual(connection.reply(), 1)
            begin = time.time()
            status, log = server.terminate()
            # It does not wait for clients that stay.
            self.assertLess(time.time() - begin, 3)
            self.assertEqual(status, 0)
            self.assertIn("ended", log)
            replies = 1
            with self.assertRaises(Closed):
                while True:
                    connection.reply()
                    replies += 1
            # Whole batches, and no piece of a reply.
            self.assertEqual(connection.buffer, b"")
            self.assertGreaterEqual(replies, 1)

    def test_every_kind_of_shards(self):
        for kind in ("reactor", "mutex", "actor"):
            with self.subTest(kind), Process("--threads", 2, "--shards", kind) as server:
                connection = server.connect()
                connection.write(b"".join(encode("INCR", f"kind-{i % 7}") for i in range(700)))
                self.assertEqual([connection.reply() for _ in range(700)], [i // 7 + 1 for i in range(700)])
                self.assertEqual(connection.call("MGET", *[f"kind-{i}" for i in range(7)]), [b"100"] * 7)


if __name__ == "__main__":
    unittest.main()
