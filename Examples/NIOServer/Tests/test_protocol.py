"""Tests the server byte for byte: NIO_SERVER is its executable."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import threading
import time
import unittest

SERVER = os.environ.get("NIO_SERVER", os.path.join(os.path.dirname(__file__), "../.build/debug/NIOServer"))
PING = b"*1\r\n$4\r\nPING\r\n"


def encode(*arguments):
    return b"*%d\r\n" % len(arguments) + b"".join(b"$%d\r\n%s\r\n" % (len(each), each) for each in arguments)


class Server:
    """A server on two threads."""

    def __init__(self):
        # Unbuffered, or the line with the port would stay in the server as long as it runs.
        self.process = subprocess.Popen(["stdbuf", "-oL", SERVER, "0", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.port = int(re.search(rb"listening on [0-9.]+:(\d+)", self.process.stdout.readline())[1])

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def most_memory(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(r"VmHWM:\s+(\d+) kB", file.read())[1]) << 10

    def end(self):
        """Ends it as an operator does, and makes sure that it ends as it should."""
        self.process.terminate()
        try:
            output, errors = self.process.communicate(timeout=60)
        finally:
            self.process.kill()
        # A debug build warns of turns that take long, which is so on a machine that does too much.
        errors = re.sub(rb"(?m)^Problem: .*(a turn of|longTurn).*\nLikely cause: .*\nRemedy: .*\n", b"", errors)
        found = self.process.returncode, output.split(b":")[0], errors
        if found != (0, b"ending", b""):
            raise AssertionError(f"the server has ended with {found}")


class Protocol(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.end()

    def replies(self, *pieces):
        """All that the server sends to a client that sends these pieces, and then no more."""
        received = b""
        with self.server.connect() as connection:
            # After an error the server closes the connection, perhaps before it has read all.
            with contextlib.suppress(OSError):
                for piece in pieces:
                    connection.sendall(piece)
                connection.shutdown(socket.SHUT_WR)
            with contextlib.suppress(ConnectionError):
                while data := connection.recv(1 << 16):
                    received += data
        return received

    def test_commands(self):
        self.assertEqual(self.replies(b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n", b"*2\r\n$4\r\nINCR\r\n$1\r\na\r\n", PING),
                         b"+OK\r\n:2\r\n+PONG\r\n")
        self.assertEqual(self.replies(), b"")
        # The end of what the client sends comes together with all of it, and a reply needs a shard.
        for index in range(50):
            self.assertEqual(self.replies(encode(b"INCR", b"end-%d" % index)), b":1\r\n")

    def test_names_of_commands_are_ascii(self):
        self.assertEqual(self.replies(encode(b"iNcR", b"name")), b":1\r\n")
        # A letter whose upper case is S.
        self.assertRegex(self.replies(encode("\u017fet".encode(), b"name", b"2")), b"^-ERR unknown command")
        self.assertEqual(self.replies(encode(b"GET", b"name")), b"$1\r\n1\r\n")

    def test_replies_of_several_shards_come_in_the_order_of_the_commands(self):
        count, keys = 20_000, 100
        commands = b"".join(encode(b"INCR" if index % 2 else b"GET", b"order-%d" % (index // 2 % keys)) for index in range(count))
        expected = b""
        for index in range(count):
            before = index // 2 // keys
            expected += b":%d\r\n" % (before + 1) if index % 2 else b"$%d\r\n%d\r\n" % (len(str(before)), before) if before else b"$-1\r\n"
        with self.server.connect() as connection:
            # The server reads on while its replies are read.
            sender = threading.Thread(target=connection.sendall, args=(commands,))
            sender.start()
            received = b""
            while len(received) < len(expected):
                data = connection.recv(1 << 16)
                self.assertNotEqual(data, b"")
                received += data
            sender.join()
        self.assertEqual(received.split(b"\r\n"), expected.split(b"\r\n"))

    def test_no_command_is_refused_however_many_clients_send_at_once(self):
        clients, count = 80, 2000
        with contextlib.ExitStack() as stack:
            connections = [stack.enter_context(self.server.connect()) for _ in range(clients)]
            for connection in connections:
                connection.sendall(PING)
                self.assertEqual(connection.recv(100), b"+PONG\r\n")
            # So that the server finds all of it at once: more than twice as much as a reactor keeps if nothing else is said.
            self.server.process.send_signal(signal.SIGSTOP)
            try:
                for connection in connections:
                    connection.sendall(encode(b"INCR", b"all") * count)
            finally:
                self.server.process.send_signal(signal.SIGCONT)
            numbers = []
            for connection in connections:
                received = b""
                while received.count(b"\n") < count:
                    data = connection.recv(1 << 16)
                    self.assertNotEqual(data, b"")
                    received += data
                replies = received.split(b"\r\n")[:-1]
                self.assertEqual([reply for reply in replies if not reply.startswith(b":")], [])
                own = [int(reply[1:]) for reply in replies]
                self.assertEqual(own, sorted(own))
                numbers += own
        self.assertEqual(sorted(numbers), list(range(1, clients * count + 1)))

    def test_an_error_comes_behind_the_commands_that_wait(self):
        count = 5000
        replies = self.replies((encode(b"INCR", b"behind") + PING) * count + b"*x\r\n").split(b"\r\n")
        self.assertEqual(replies[:2 * count], [each for index in range(count) for each in (b":%d" % (index + 1), b"+PONG")])
        self.assertEqual([reply[:20] for reply in replies[2 * count:]], [b"-ERR Protocol error:", b""])

    def test_a_client_that_does_not_read_is_not_read(self):
        self.replies(encode(b"SET", b"big", b"x" * 1_000_000))
        before = self.server.most_memory()
        # More than the buffers of the system hold.
        commands, sent = memoryview(encode(b"GET", b"big") * 1_000_000), 0
        with self.server.connect() as connection:
            # Of each send.
            connection.settimeout(3)
            with self.assertRaises(TimeoutError):
                while sent < len(commands):
                    sent += connection.send(commands[sent:sent + (1 << 16)])
        self.assertLess(self.server.most_memory() - before, 60 << 20)
        self.assertEqual(self.replies(PING), b"+PONG\r\n")

    def test_the_server_ends_while_clients_send(self):
        server = Server()
        counts = [0] * 8

        def send(number):
            with contextlib.suppress(ConnectionError), server.connect() as connection:
                while True:
                    connection.sendall(encode(b"INCR", b"count-%d" % (number % 3)) * 10)
                    received = 0
                    while received < 10:
                        data = connection.recv(1 << 16)
                        if not data:
                            return
                        received += data.count(b"\n")
                    counts[number] += 10

        threads = [threading.Thread(target=send, args=(number,)) for number in range(len(counts))]
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + 60
        while min(counts) < 1000:
            self.assertIsNone(server.process.poll())
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        server.end()
        for thread in threads:
            thread.join()

    def test_a_client_gets_the_replies_of_what_was_received_when_the_server_ends(self):
        server = Server()
        with server.connect() as connection:
            connection.sendall(PING)
            self.assertEqual(connection.recv(100), b"+PONG\r\n")
            # It reads nothing, so most replies wait in the server. And it sends on while the server ends.
            connection.settimeout(0.5)
            commands = encode(b"INCR", b"count") * 1000
            with contextlib.suppress(TimeoutError):
                while True:
                    connection.send(commands)
            server.process.terminate()
            time.sleep(0.5)
            received = b""
            connection.settimeout(60)
            is_done = threading.Event()

            def send_on():
                with contextlib.suppress(OSError):
                    while not is_done.is_set():
                        connection.sendall(commands)

            sender = threading.Thread(target=send_on)
            sender.start()
            while data := connection.recv(1 << 16):
                received += data
            is_done.set()
        sender.join()
        # Another SIGTERM changes nothing.
        server.end()
        replies = received.split(b"\r\n")
        self.assertEqual(replies.pop(), b"")
        self.assertGreater(len(replies), 1000)
        self.assertEqual(replies, [b":%d" % (index + 1) for index in range(len(replies))])

    def test_only_what_redis_takes_for_an_integer_is_incremented(self):
        for text in [b"+5", b"007", b"-0", b" 5", b"5 ", b"", b"0x1", b"1.0", b"9223372036854775808"]:
            with self.subTest(text=text):
                self.assertEqual(self.replies(b"*3\r\n$3\r\nSET\r\n$1\r\nn\r\n$%d\r\n%s\r\n" % (len(text), text),
                                              b"*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n"),
                                 b"+OK\r\n-ERR value is not an integer or out of range\r\n")

    def test_arrays_without_elements_are_ignored(self):
        for empty in [b"*0\r\n", b"*-5\r\n", b"*0\r\n*-1\r\n*0\r\n"]:
            with self.subTest(empty=empty):
                self.assertEqual(self.replies(empty), b"")
                self.assertEqual(self.replies(empty + PING + empty, PING + empty), b"+PONG\r\n" * 2)
                self.assertEqual(self.replies(empty[:1], empty[1:3], empty[3:] + PING), b"+PONG\r\n")

    def test_what_is_no_command_is_an_error(self):
        for wrong in [b"*x\r\n", b"*1025\r\n", b"*1\r\n$-1\r\n", b"*1\r\n$1048577\r\n", b"*1\r\n:1\r\n"]:
            with self.subTest(wrong=wrong):
                self.assertRegex(self.replies(PING + b"*0\r\n" + wrong), rb"^\+PONG\r\n-ERR Protocol error: [^\r]+\r\n$")


if __name__ == "__main__":
    unittest.main()
