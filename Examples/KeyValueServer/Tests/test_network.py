"""Descriptors that run out, the end while clients come, and commands that arrive in pieces or are too large."""

import contextlib
import re
import select
import socket
import subprocess
import tempfile
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

from servers import COMPILER, PATIENCE, SERVER, Closed, Connection, Process, encode, preload, until
from test_channels import connect_to


def loop_jobs(connection):
    """How many jobs the server's loops have run, by INFO: an event of a watched descriptor is one."""
    text = connection.call("INFO", "loops").decode()
    return sum(int(count) for count in re.findall(r" jobs (\d+), longest", text))


def memory(connection):
    lines = connection.call("INFO", "memory").decode().split("\r\n")
    return int(dict(line.split(":", 1) for line in lines if ":" in line)["used_memory_rss"])


class Descriptors(unittest.TestCase):
    def test_the_soft_limit_is_raised(self):
        with Process("--max-clients", 200, limits="-Sn 40") as server:
            clients = [server.connect() for _ in range(100)]
            self.assertEqual([c.call("PING") for c in clients], ["+PONG"] * 100)

    def test_a_limit_below_the_clients_is_logged(self):
        with Process("--max-clients", 1000, limits="-n 60") as server:
            self.assertEqual(server.connect().call("PING"), "+PONG")
            status, log = server.terminate()
            self.assertEqual(status, 0)
            self.assertRegex(log, r"(?m)warning .*1000 clients.* 60$")

    def test_clients_wait_while_no_descriptor_is_left(self):
        with Process("--max-clients", 1000, limits="-n 60") as server:
            first = server.connect()
            self.assertEqual(first.call("PING"), "+PONG")
            begin = time.time()
            others = [server.connect() for _ in range(80)]
            # Of these, the server has taken about fifty; the others are in the queue of the system.
            others[-1].send("PING")
            before = loop_jobs(first)
            time.sleep(1)
            # It has not been called for the queue again and again. Otherwise that is a hundred thousand times.
            self.assertLess(loop_jobs(first) - before, 1000)
            for client in others[:40]:
                client.close()
            self.assertEqual(others[-1].reply(), "+PONG")
            seconds = time.time() - begin
            for client in others[40:]:
                client.close()
            _, log = server.terminate()
            lines = [line for line in log.splitlines() if "Too many open files" in line]
            self.assertGreater(len(lines), 0)
            self.assertLessEqual(len(lines), seconds + 2)

    @unittest.skipUnless(COMPILER, "there is no C compiler")
    def test_clients_are_accepted_again_once_the_listener_can_be_watched(self):
        environment, refuse = preload(self.enterContext(tempfile.TemporaryDirectory()), "poller")
        with Process("--max-clients", 1000, limits="-n 60", environment=environment) as server:
            first = server.connect()
            self.assertEqual(first.call("PING"), "+PONG")
            others = [server.connect() for _ in range(80)]
            self.assertTrue(until(lambda: "Too many open files" in server.log()))
            refuse(1)
            self.assertTrue(until(lambda: "cannot be watched" in server.log(), 30))
            self.assertEqual(first.call("PING"), "+PONG")
            refuse(0)
            for client in others[:40]:
                client.close()
            last = others[-1]
            last.socket.settimeout(30)
            self.assertEqual(last.call("PING"), "+PONG")

    @unittest.skipUnless(COMPILER, "there is no C compiler")
    def test_a_connection_that_cannot_be_watched_is_closed_and_left_alone(self):
        environment, refuse = preload(self.enterContext(tempfile.TemporaryDirectory()), "poller")
        with Process("--threads", 1, "--shard-count", 1, environment=environment) as server:
            client, other = server.connect(), server.connect()
            self.assertEqual(client.call("SET", "big", "z" * 1_000_000), "+OK")
            self.assertEqual(other.call("PING"), "+PONG")
            refuse(2)
            # The system does not take all of the replies at once. So the server wants to know when it takes more.
            client.write(encode("GET", "big") * 50 + encode("QUIT"))
            with self.assertRaises((Closed, ConnectionError)):
                for _ in range(51):
                    client.reply()
            refuse(0)
            # Another thread may have got the number of its descriptor meanwhile.
            self.assertEqual(other.call("PING"), "+PONG")


class Clients(unittest.TestCase):
    def test_refused_clients_do_not_fill_the_log(self):
        with Process("--max-clients", 1) as server:
            first = server.connect()
            self.assertEqual(first.call("PING"), "+PONG")
            begin = time.time()
            for _ in range(300):
                refused = server.connect()
                self.assertEqual(refused.reply(), "-ERR max number of clients reached")
                refused.close()
            seconds = time.time() - begin
            _, log = server.terminate()
            self.assertIn(log.count("refused a client"), range(1, int(seconds) + 3))

    def test_disconnected_clients_do_not_fill_the_log(self):
        with Process("--max-query-buffer", 1000) as server:
            begin = time.time()
            for _ in range(100):
                client = server.connect()
                with contextlib.suppress(ConnectionError, Closed):
                    client.write(b"*1\r\n$2000\r\n" + b"x" * 1500)
                    client.reply()
                client.close()
            seconds = time.time() - begin
            _, log = server.terminate()
            self.assertIn(log.count("max query buffer length"), range(1, int(seconds) + 3))
        with Process() as server:
            subscribers = [server.connect() for _ in range(20)]
            for subscriber in subscribers:
                subscriber.call("SUBSCRIBE", "news")
            begin = time.time()
            self.assertEqual(server.connect().call("PUBLISH", "news", b"m" * (33 << 20)), 20)
            for subscriber in subscribers:
                with self.assertRaises((ConnectionError, Closed)):
                    subscriber.reply()
            seconds = time.time() - begin
            _, log = server.terminate()
            self.assertIn(log.count("does not read what it has subscribed to"), range(1, int(seconds) + 3))

    def test_nobody_has_to_read_the_log(self):
        process = subprocess.Popen([SERVER, "--port", "0", "--max-clients", "1"], stderr=subprocess.PIPE)
        try:
            for line in process.stderr:
                if found := re.search(rb"listening on [0-9.]+:(\d+)", line):
                    break
            process.stderr.close()
            first, second = Connection(int(found[1])), Connection(int(found[1]))
            self.assertEqual(first.call("PING"), "+PONG")
            # This is logged.
            self.assertEqual(second.reply(), "-ERR max number of clients reached")
            self.assertEqual(first.call("PING"), "+PONG")
            first.close()
            second.close()
            process.terminate()
            self.assertEqual(process.wait(PATIENCE), 0)
        finally:
            process.kill()
            process.wait()

    def test_the_system_asks_for_clients_that_are_silent(self):
        with Process() as server:
            connection = server.connect()
            self.assertEqual(connection.call("PING"), "+PONG")
            ports = f"0100007F:{server.port:04X} 0100007F:{connection.socket.getsockname()[1]:04X}"
            with open("/proc/net/tcp") as file:
                lines = [line.split() for line in file if ports in line]
            # The timer of the connection: 02 is the one for this.
            self.assertEqual([line[5][:2] for line in lines], ["02"])

    @unittest.skipUnless(COMPILER, "there is no C compiler")
    def test_the_system_gives_clients_up_that_take_nothing(self):
        environment, shorten = preload(self.enterContext(tempfile.TemporaryDirectory()), "timeout")
        shorten(5000)
        with Process(environment=environment) as server:
            dead, slow, other = (server.connect() for _ in range(3))
            self.assertEqual(other.call("SET", "big", "z" * 1_000_000), "+OK")
            for client in (dead, slow):
                client.write(encode("GET", "big") * 50)
            # One of them takes something now and then, for several times as long as the other one has.
            for _ in range(30):
                self.assertEqual(len(slow.reply()), 1_000_000)
                time.sleep(0.5)
            self.assertTrue(until(lambda: b"connected_clients:2\r" in other.call("INFO", "clients"), 30))
            self.assertEqual(len(slow.reply()), 1_000_000)

    def test_clients_whose_commands_a_shard_refuses_are_disconnected(self):
        transaction = 150_000
        # Otherwise more may wait for a shard than all clients can send.
        with Process("--threads", 2, "--shard-count", 1, environment={"KV_WAITING": "8"}) as server:
            busy, clients = connect_to(server, 0), [connect_to(server, 1) for _ in range(40)]
            for client in clients:
                client.socket.settimeout(60)

            def has_replies(client, count):
                """Whether it got all its replies, and not the end. A client that is forgotten runs into the time limit."""
                try:
                    for _ in range(count):
                        self.assertIsNone(client.reply())
                except (Closed, ConnectionError):
                    return False
                return True

            def ask_while_busy():
                """While the loop of the busy client is at the shard, the others have to wait. Returns which of them stayed."""
                busy.call("MULTI")
                for _ in range(transaction // 1000):
                    busy.write(encode("INCR", "counter") * 1000)
                    self.assertEqual([busy.reply() for _ in range(1000)], ["+QUEUED"] * 1000)
                asked = [0] * len(clients)
                busy.send("EXEC")
                # They go on until it is over, since nobody knows when it has the shard.
                while not select.select([busy.socket], [], [], 0.005)[0]:
                    for index, client in enumerate(clients):
                        with contextlib.suppress(OSError):
                            client.send("GET", "none")
                            asked[index] += 1
                stayed = [has_replies(*each) for each in zip(clients, asked)]
                self.assertEqual(len(busy.reply()), transaction)
                return stayed

            # A system that was busy may have let none of them ask in that time.
            stayed = next((found for found in (ask_while_busy() for _ in range(10)) if False in found), [])
            self.assertIn(False, stayed)
            # Their places are free.
            left = b"connected_clients:%d\r" % (stayed.count(True) + 1)
            self.assertTrue(until(lambda: left in busy.call("INFO", "clients"), 30))


class Ending(unittest.TestCase):
    def test_a_client_that_leaves_is_in_no_channel(self):
        with Process("--threads", 2, "--shard-count", 2, "--grace", PATIENCE) as server:
            other, leaving = server.connect(), Connection(server.port, receive_buffer=4096)
            self.addCleanup(leaving.socket.close)
            # Its system cannot take all of that, so the connection stays until the client reads.
            leaving.send("SUBSCRIBE", "channel")
            leaving.write(encode("PING", "x" * 100_000) * 3)
            self.assertTrue(until(lambda: other.call("PUBLISH", "channel", "a") == 1, 30))
            leaving.send("QUIT")
            self.assertTrue(until(lambda: other.call("PUBLISH", "channel", "b") == 0, 30))

    def test_no_client_is_accepted_during_the_end(self):
        with Process("--threads", 2, "--shard-count", 2, "--grace", PATIENCE) as server:
            idle, slow = server.connect(), server.connect()
            self.assertEqual(idle.call("SET", "big", "z" * 1_000_000), "+OK")
            # It does not read all of it, and so the end waits for it.
            slow.write(encode("GET", "big") * 50)
            self.assertEqual(len(slow.reply()), 1_000_000)
            server.process.terminate()
            with self.assertRaises(Closed):
                idle.reply()
            with self.assertRaises(ConnectionError):
                server.connect().call("PING")
            # A supervisor without patience.
            server.process.terminate()
            for _ in range(2):
                self.assertEqual(len(slow.reply()), 1_000_000)
            self.assertIsNone(server.process.poll())
            slow.close()
            self.assertEqual(server.process.wait(PATIENCE), 0)

    def test_it_may_end_as_soon_as_it_listens(self):
        for _ in range(5):
            # Returns as soon as the log says so.
            with Process() as server:
                status, log = server.terminate()
                self.assertEqual(status, 0, log)
                self.assertIn("ended", log)


class Pieces(unittest.TestCase):
    """Commands whose bytes come in several reads."""

    @classmethod
    def setUpClass(cls):
        cls.server = Process("--threads", 2, "--shard-count", 2, "--max-argument", 100_000).__enter__()
        cls.reference = Process(reference=True).__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()
        cls.reference.__exit__()

    def replies(self, server, pieces):
        """All that a server sends to a client that sends these pieces, and then PING if it may."""
        connection = server.connect()
        connection.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        received = b""
        # A server that closes the connection may do so before it has read everything.
        with contextlib.suppress(OSError):
            for piece in pieces:
                connection.write(piece)
                # So that the server most likely reads this piece alone. If not, the replies are the same.
                time.sleep(0.005)
            connection.socket.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionResetError):
            while data := connection.socket.recv(1 << 16):
                received += data
        connection.close()
        return received

    def test_every_cut(self):
        pipeline = (encode("SET", "cut", "v") + b"get cut\r\n" + encode("RPUSH", "cut-list", *["x" * n for n in range(12)])
                    + b"\r\n*0\r\n" + encode("LRANGE", "cut-list", 0, -1) + encode("DEL", "cut", "cut-list") + b"ping\r\n")
        whole = self.replies(self.server, [pipeline])
        self.assertEqual(whole, self.replies(self.reference, [pipeline]))
        wrong = []

        def check(cuts):
            for cut in cuts:
                # One key for each thread: the names have the same length.
                name = b"c%02d" % (cut % 16)
                own = pipeline.replace(b"cut", name)
                if self.replies(self.server, [own[:cut], own[cut:cut + 1], own[cut + 1:]]) != whole:
                    wrong.append(cut)

        with ThreadPoolExecutor(16) as pool:
            # list: raises what a thread has raised.
            list(pool.map(check, [range(first, len(pipeline), 16) for first in range(16)]))
        self.assertEqual(wrong, [])

    def test_bad_input_in_pieces_gets_the_error_of_redis(self):
        ping = encode("PING")
        for pieces in [[b"*", b"x", b"\r\n"], [b"*1\r", b"\n:1", b"\r\n"], [b"*2\r\n$4\r\nECHO\r\n", b"$", b"-1\r\n"],
                       [b"*1\r\n$4", b"x\r\n"], [b"*1\r\n$-1\r\n"], [b"*1\r\n$\r\n"], [b"*1\r\n\xff\r\n"], [b"*\r\n"], [b"*01\r\n"], [b"*-\r\n"],
                       [b"*99999999999\r\n"], [b"*1\r\n$99999999999\r\n"], [b"*-5\r\n", ping], [b"*0\r", b"\n", ping],
                       [b"*1" * 20_000, b"1" * 30_000], [b"*1\r\n$" + b"1" * 40_000, b"1" * 30_000],
                       [b"*1\r\n:" + b"1" * 40_000, b"1" * 30_000],
                       [b"x" * 40_000, b"x" * 30_000], [b'get "x', b"\r\n"],
                       # What follows QUIT does not count.
                       [b"QUIT\r\n*x\r\n"], [encode("QUIT") + b'get "x\r\n']]:
            with self.subTest(pieces=[piece[:30] for piece in pieces]):
                own, expected = (self.replies(server, [ping, *pieces]) for server in (self.server, self.reference))
                self.assertEqual(own, expected)

    def test_a_request_of_http_runs_nothing(self):
        # As a browser sends it by order of a page that wants the commands in its body to be run.
        body = b"\r\n\r\nSET pwned 1\r\n"
        for first, request in [(None, b"POST / HTTP/1.1\r\nAccept: */*" + body), (None, b"post" + body), (None, b"hOsT: x" + body),
                               (("PING",), b"Host:" + body), (("MULTI",), encode("POST", "x") + body + encode("EXEC"))]:
            with self.subTest(first=first, request=request):
                for server in (self.server, self.reference):
                    connection = server.connect()
                    if first:
                        connection.call(*first)
                    self.assertEqual(self.rest(connection, request), b"")
        # Here the line before it is an error.
        for server in (self.server, self.reference):
            self.rest(server.connect(), b"GET / HTTP/1.1\r\nHost: x" + body)
            other = server.connect()
            self.assertEqual(other.call("EXISTS", "pwned"), 0)
            self.assertEqual(other.call("ECHO", "post"), b"post")
            # Almost the word: one bit is not that of a capital letter.
            other.write(b"host\x1a a\r\nPING\r\n")
            self.assertEqual([other.reply()[:20], other.reply()], ["-ERR unknown command", "+PONG"])
        self.assertTrue(until(lambda: self.server.logged("sends HTTP")), self.server.log())

    def rest(self, connection, data):
        """What comes after this until the server closes the connection."""
        connection.write(data)
        received = b""
        with contextlib.suppress(ConnectionResetError):
            while data := connection.socket.recv(1 << 16):
                received += data
        return received

    def test_a_line_with_a_nul_has_no_end(self):
        for pieces in [[b"ping\r\necho a\0b\r\n", b"ping\r\n"], [b"\0\r\n", b"ping\r\n"], [b'echo "a\0b"\r\n', b"ping\r\n"],
                       [b"echo \0\r\n", encode("PING"), b"\r\n"], [b"ping\r\n\0" + b"x" * 70_000],
                       [b"echo \0" + b"x" * 40_000, b"x" * 30_000, b"\r\n"], [b"\0\r\n" + b"ping\r\n" * 12_000],
                       [b'echo "a\\x00b"\r\n', b"ping\r\n"], [b"*1\r\n\x003\r\nGET\r\n", encode("PING")],
                       [b"*1\0\r\n$4\r\nping\r\n", encode("PING")], [b"*1\r\n$4\0\r\nping\r\n" + b"x" * 70_000]]:
            with self.subTest(pieces=[piece[:30] for piece in pieces]):
                own, expected = (self.replies(server, pieces) for server in (self.server, self.reference))
                self.assertEqual(own, expected)

    def test_subcommands_get_the_replies_of_redis(self):
        for command in [("CLIENT", "NO-EVICT", "ON"),
                        ("CLIENT", "NO-EVICT", "x"), ("CLIENT", "No-Evict"), ("CLIENT", "SETNAME"), ("CLIENT", "GETNAME", "x"),
                        ("CLIENT", "ID", "x"), ("CLIENT", "INFO", "x"), ("CLIENT", "Foo"), ("CLIENT", "foo\r\nbar", "x"),
                        ("CLIENT", "f" * 200), ("CLIENT",), ("CONFIG",), ("CONFIG", "GET"), ("CONFIG", "SET", "x"),
                        ("CONFIG", "ResetStat", "x"), ("CONFIG", "Foo")]:
            with self.subTest(command=command):
                # In a transaction, too.
                pieces = b"".join(encode(*each) for each in [command, ("MULTI",), command, ("EXEC",)])
                own, expected = (self.replies(server, [pieces]) for server in (self.server, self.reference))
                self.assertEqual(own, expected)

    def test_lines_are_read_as_redis_reads_them(self):
        for line in [r'echo "a\nb"', r'echo "a\"b"', 'echo "a"b', "echo 'a'b", "echo 'a b'", r"echo 'a\'b'", r"echo 'a\nb'",
                     'echo a"b"', "echo a'b'c", 'echo a"b', r'echo "\x41\x4g\x4"', r'echo "\t\r\b\a\q\\"', r'echo "a\ ', 'echo ""',
                     '""', '"" x', "echo 'abc", 'echo a"b c"d', 'echo a"b c" ', "echo a\x0bb", "\x0becho a", "echo a\x0b b",
                     'echo "a" "b"', "echo 'a'\x0b", 'echo a""', 'echo ""a', "\t echo  a\t", 'mset a "1 2" b \'3\'', "mget a b"]:
            with self.subTest(line=line):
                pieces = [line.encode() + b"\r\n", encode("PING"), b"echo after\r\n"]
                own, expected = (self.replies(server, [b"".join(pieces)]) for server in (self.server, self.reference))
                self.assertEqual(own, expected)

    def test_channels_in_transactions_get_the_replies_of_redis(self):
        for commands in [[("SUBSCRIBE", "c"), ("SET", "a", 1), ("UNSUBSCRIBE", "c")], [("UNSUBSCRIBE",), ("GET", "a")],
                         [("SUBSCRIBE", "c"), ("GET", "a"), ("PING",)], [("SUBSCRIBE",)]]:
            with self.subTest(commands=commands):
                pieces = b"".join(encode(*command) for command in [("MULTI",), *commands, ("EXEC",), ("GET", "a"), ("PING",)])
                own, expected = (self.replies(server, [pieces]) for server in (self.server, self.reference))
                self.assertEqual(own, expected)

    def test_too_many_arguments(self):
        self.assertEqual(self.replies(self.server, [b"*1048577\r\n"]),
                         b"-ERR Protocol error: invalid multibulk length\r\n")

    def test_many_arguments(self):
        connection = self.server.connect()
        # Three megabytes, in fifty reads and more.
        values = [f"value-{index}" for index in range(150_000)]
        self.assertEqual(connection.call("RPUSH", "many", *values), 150_000)
        self.assertEqual(connection.call("LRANGE", "many", 0, -1), [value.encode() for value in values])

    def test_what_was_received_is_bounded(self):
        with Process("--max-query-buffer", 1 << 20) as server:
            good, bad = server.connect(), server.connect()
            # Whole commands do not count, however many there are.
            for _ in range(3):
                good.write(encode("SET", "a", "x" * 1000) * 2000)
                self.assertEqual([good.reply() for _ in range(2000)], ["+OK"] * 2000)
            bad.write(b"*1000000\r\n")
            with self.assertRaises((Closed, ConnectionError)):
                for _ in range(100):
                    bad.write((b"$1000\r\n" + b"x" * 1000 + b"\r\n") * 100)
                # Without a limit nothing comes.
                bad.socket.settimeout(30)
                bad.reply()
            # Nor may a transaction keep more.
            queued = server.connect()
            self.assertEqual(queued.call("MULTI"), "+OK")
            with self.assertRaises((Closed, ConnectionError)):
                for _ in range(100):
                    queued.write(encode("SET", "a", "x" * 1000) * 100)
                    [queued.reply() for _ in range(100)]
            self.assertEqual(good.call("PING"), "+PONG")
            good.close()
            _, log = server.terminate()
            # Once if both came in the same second.
            self.assertIn(log.count("max query buffer length"), (1, 2))

    def test_what_waits_for_exec_counts_with_the_memory_that_it_takes(self):
        with Process("--max-query-buffer", 1 << 20) as server:
            client, queued = server.connect(), 0
            self.assertEqual(client.call("MULTI"), "+OK")
            with self.assertRaises((Closed, ConnectionError)):
                # Their bytes alone would be 80 KB.
                while queued < 20_000:
                    client.write(encode("PING") * 100)
                    self.assertEqual([client.reply() for _ in range(100)], ["+QUEUED"] * 100)
                    queued += 100
            # Each takes between 150 and 210 bytes.
            self.assertIn(queued, range(4900, 7100))

    def test_the_input_of_a_steady_client_does_not_grow(self):
        with Process() as server:
            other, steady = server.connect(), server.connect()
            # Nothing that is sent at once ends with a command.
            stream = encode("SET", "steady", "x" * 10_000) * 10_000
            size, before, largest = 1_000_003, memory(other), 0
            with ThreadPoolExecutor(1) as pool:
                replies = pool.submit(lambda: [steady.reply() for _ in range(10_000)])
                for start in range(0, len(stream), size):
                    steady.write(stream[start:start + size])
                    largest = max(largest, memory(other))
                self.assertEqual(replies.result(), ["+OK"] * 10_000)
            self.assertLess(largest - before, 30 << 20)


if __name__ == "__main__":
    unittest.main()
