"""The port of the metrics: its clients cost the server little, whatever they do."""

import os
import re
import socket
import tempfile
import time
import unittest

from servers import COMPILER, PATIENCE, Process, preload


class Metrics(unittest.TestCase):
    def setUp(self):
        self.server = self.enterContext(Process("--metrics", 0))
        self.port = int(self.server.logged(r"metrics on [0-9.]+:(\d+)")[1])

    def connect(self):
        client = self.enterContext(socket.create_connection(("127.0.0.1", self.port)))
        client.settimeout(PATIENCE)
        return client

    def test_idle_clients_do_not_use_up_the_descriptors(self):
        def descriptors():
            return len(os.listdir(f"/proc/{self.server.process.pid}/fd"))

        before = descriptors()
        for _ in range(60):
            self.connect()
        most, begin = 0, time.monotonic()
        while time.monotonic() < begin + 1:
            most = max(most, descriptors())
        # One more for a moment, while it is refused.
        self.assertLessEqual(most - before, 17)
        self.assertEqual(self.server.connect().call("PING"), "+PONG")

    def test_the_reply_comes_behind_the_request(self):
        client = self.connect()
        for part in (b"GET /metrics HTTP/1.1\r\nHo", b"st: localhost\r\n", b"\r"):
            client.sendall(part)
            client.settimeout(0.2)
            with self.assertRaises(TimeoutError):
                client.recv(1)
        client.settimeout(PATIENCE)
        client.sendall(b"\n")
        reply = b""
        while data := client.recv(1 << 16):
            reply += data
        self.assertTrue(reply.startswith(b"HTTP/1.1 200 OK\r\n"), reply[:100])
        self.assertIn(b"\nkv_clients 0\n", reply)

    def test_a_request_without_an_end_is_refused(self):
        client = self.connect()
        with self.assertRaises(ConnectionError):
            for _ in range(100):
                client.sendall(b"x" * 1000)
                time.sleep(0.01)

    @unittest.skipUnless(COMPILER, "there is no C compiler")
    def test_a_reply_that_the_system_takes_in_parts_comes_whole(self):
        environment, change = preload(self.enterContext(tempfile.TemporaryDirectory()), "portion")
        self.server = self.enterContext(Process("--metrics", 0, environment=environment))
        self.port = int(self.server.logged(r"metrics on [0-9.]+:(\d+)")[1])
        change(100)
        client = self.connect()
        client.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
        reply = b""
        while data := client.recv(1 << 16):
            reply += data
        head, body = reply.split(b"\r\n\r\n", 1)
        self.assertEqual(len(body), int(re.search(rb"Content-Length: (\d+)", head)[1]))
        # So do those of the server.
        other = self.server.connect()
        self.assertEqual(other.call("SET", "big", "x" * 100_000), "+OK")
        self.assertEqual(other.call("MGET", "big", "big"), [b"x" * 100_000] * 2)


if __name__ == "__main__":
    unittest.main()
