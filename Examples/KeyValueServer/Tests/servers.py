"""Starts servers for the tests, and speaks the protocol with them byte for byte."""

import os
import signal
import socket
import subprocess
import time

SERVER = os.environ.get("KV_SERVER", os.path.join(os.path.dirname(__file__), "../.build/debug/KeyValueServer"))


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Process:
    """A server in a process of its own; a context, at the end of which it is ended."""

    def __init__(self, *arguments, reference=False):
        self.port = free_port()
        self.connections = []
        if reference:
            command = ["redis-server", "--port", str(self.port), "--save", "", "--appendonly", "no",
                       "--bind", "127.0.0.1"]
        else:
            command = [SERVER, "--port", str(self.port), *map(str, arguments)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def __enter__(self):
        deadline = time.time() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return self
            except OSError:
                if time.time() > deadline or self.process.poll() is not None:
                    raise RuntimeError(f"no server: {self.process.stderr.read()!r}")
                time.sleep(0.02)

    def __exit__(self, *_):
        for connection in self.connections:
            connection.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stderr.close()

    def terminate(self):
        """Ends the server as an operator does; returns its status and its log."""
        self.process.send_signal(signal.SIGTERM)
        log = self.process.stderr.read().decode()
        return self.process.wait(20), log

    def connect(self):
        self.connections.append(Connection(self.port))
        return self.connections[-1]


class Closed(Exception):
    """The server has closed the connection."""


class Connection:
    """A connection that returns replies as they are: text with its mark, numbers, lists."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.settimeout(30)
        self.buffer = b""

    def close(self):
        self.socket.close()

    def write(self, data):
        self.socket.sendall(data)

    def send(self, *arguments):
        self.write(encode(*arguments))

    def call(self, *arguments):
        self.send(*arguments)
        return self.reply()

    def _line(self):
        while b"\r\n" not in self.buffer:
            self._more()
        line, self.buffer = self.buffer.split(b"\r\n", 1)
        return line

    def _more(self):
        data = self.socket.recv(1 << 16)
        if not data:
            raise Closed()
        self.buffer += data

    def _bytes(self, count):
        while len(self.buffer) < count + 2:
            self._more()
        data, self.buffer = self.buffer[:count], self.buffer[count + 2:]
        return data

    def reply(self):
        line = self._line()
        mark, rest = line[:1], line[1:]
        if mark == b"$":
            return None if rest == b"-1" else self._bytes(int(rest))
        if mark in b"*~>":
            return ("none",) if rest == b"-1" else [self.reply() for _ in range(int(rest))]
        if mark == b"%":
            return ["map"] + [self.reply() for _ in range(2 * int(rest))]
        if mark == b":":
            return int(rest)
        return line.decode()


def encode(*arguments):
    parts = [a if isinstance(a, bytes) else str(a).encode() for a in arguments]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts)
