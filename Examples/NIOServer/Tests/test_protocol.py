"""Tests the server byte for byte: NIO_SERVER is its executable."""

import contextlib
import os
import re
import socket
import subprocess
import unittest

SERVER = os.environ.get("NIO_SERVER", os.path.join(os.path.dirname(__file__), "../.build/debug/NIOServer"))
PING = b"*1\r\n$4\r\nPING\r\n"
# Its reply is the last one.
LAST, REPLY = b"*2\r\n$3\r\nDEL\r\n$4\r\nnone\r\n", b":0\r\n"


class Protocol(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Unbuffered, or the line with the port would stay in the server as long as it runs.
        cls.server = subprocess.Popen(["stdbuf", "-oL", SERVER, "0", "2"], stdout=subprocess.PIPE)
        cls.port = int(re.search(rb"listening on [0-9.]+:(\d+)", cls.server.stdout.readline())[1])

    @classmethod
    def tearDownClass(cls):
        cls.server.terminate()
        cls.server.communicate(timeout=60)

    def replies(self, *pieces):
        """All that the server sends to a client that sends these pieces, up to the end of the connection or the last reply."""
        received = b""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as connection:
            # After an error the server closes the connection, perhaps before it has read all.
            with contextlib.suppress(ConnectionError):
                for piece in (*pieces, LAST):
                    connection.sendall(piece)
            with contextlib.suppress(ConnectionError):
                while not received.endswith(REPLY) and (data := connection.recv(1 << 16)):
                    received += data
        return received.removesuffix(REPLY)

    def test_commands(self):
        self.assertEqual(self.replies(b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n", b"*2\r\n$4\r\nINCR\r\n$1\r\na\r\n", PING),
                         b"+OK\r\n:2\r\n+PONG\r\n")

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
