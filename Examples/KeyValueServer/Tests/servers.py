"""Starts servers for the tests, and speaks the protocol with them byte for byte."""

import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time

SERVER = os.environ.get("KV_SERVER", os.path.join(os.path.dirname(__file__), "../.build/debug/KeyValueServer"))
COMPILER = shutil.which("clang") or shutil.which("cc")
# How many seconds a test waits for what must happen before it fails.
PATIENCE = 120


def until(condition, seconds=PATIENCE):
    """Waits until condition() is true, and returns what it returned; or, when the time is over, what it returned last."""
    deadline = time.monotonic() + seconds
    while True:
        result = condition()
        if result or time.monotonic() > deadline:
            return result
        time.sleep(0.01)


def free_port():
    """A port that nobody listened on a moment ago. Another process may take it."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def preload(folder, name):
    """Prepares a server with a part of the system replaced by NAME.c; returns the environment that it needs, and what changes the
    number that the part looks at. Both are files in the folder."""
    library, number = os.path.join(folder, f"{name}.so"), os.path.join(folder, name)
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{name}.c")
    subprocess.check_call([COMPILER, "-shared", "-fPIC", "-o", library, source])

    def change(value):
        with open(number, "r+b" if os.path.exists(number) else "wb") as file:
            file.write(struct.pack("l", value))

    change(0)
    return {"LD_PRELOAD": library, f"KV_{name.upper()}": number}, change


class Process:
    """A server in a process of its own; a context, at the end of which it is ended."""

    def __init__(self, *arguments, reference=False, limits=None, environment=None):
        """limits: options of the shell's ulimit, such as "-n 60". environment: variables besides those of this process."""
        self.arguments, self.reference, self.limits = arguments, reference, limits
        self.environment = {**os.environ, **(environment or {})}
        self.connections = []
        self.process = None

    def __enter__(self):
        deadline = time.monotonic() + PATIENCE
        if not self.reference:
            # The system chooses the port, and the log has it.
            self._launch([SERVER, "--port", "0", *map(str, self.arguments)])
            found = until(lambda: self.logged(r"listening on [0-9.]+:(\d+)") or self.process.poll() is not None)
            if found is True or not found:
                raise RuntimeError(f"no server: {self._end()!r}")
            self.port = int(found[1])
            return self
        while True:
            # redis-server has no way to tell which port it got, so another process may take the port first.
            self.port = free_port()
            self._launch(["redis-server", "--port", str(self.port), "--save", "", "--appendonly", "no",
                          "--bind", "127.0.0.1", *map(str, self.arguments)])
            if until(lambda: self._is_serving() or self.process.poll() is not None) and self.process.poll() is None:
                return self
            log = self._end()
            if time.monotonic() > deadline:
                raise RuntimeError(f"no redis-server: {log!r}")

    def _launch(self, command):
        if self.limits:
            command = ["sh", "-c", f'ulimit {self.limits} && exec "$@"', "sh", *command]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        env=self.environment)
        # Read all the time: a server drops the lines for which there is no room.
        self.lines = []
        self.reader = threading.Thread(target=self._read_log, args=(self.process.stderr, self.lines), daemon=True)
        self.reader.start()

    @staticmethod
    def _read_log(stream, lines):
        for line in stream:
            lines.append(line.decode())

    def _is_serving(self):
        """Whether the process on the port is this one."""
        try:
            connection = Connection(self.port)
        except OSError:
            return False
        try:
            return f"process_id:{self.process.pid}\r" in connection.call("INFO", "server").decode()
        except (OSError, Closed, AttributeError, ValueError):
            return False
        finally:
            connection.close()

    def _end(self):
        """Kills the process if it has not ended; returns its log."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stderr.close()
        return self.log()

    def __exit__(self, *_):
        for connection in self.connections:
            connection.close()
        self._end()

    def log(self):
        """What the server has logged so far."""
        return "".join(self.lines)

    def logged(self, pattern):
        """The last line of the log that a regular expression matches, or None."""
        found = [match for line in list(self.lines) if (match := re.search(pattern, line))]
        return found[-1] if found else None

    def terminate(self):
        """Ends the server as an operator does; returns its status and its log."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(PATIENCE)
        self.reader.join()
        return status, self.log()

    def connect(self):
        self.connections.append(Connection(self.port))
        return self.connections[-1]


class Closed(Exception):
    """The server has closed the connection."""


class Connection:
    """A connection that returns replies as they are: text with its mark, numbers, lists."""

    def __init__(self, port, receive_buffer=None):
        """receive_buffer: how many bytes the system takes before they are read, if not as many as it likes."""
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        try:
            self.socket.connect(("127.0.0.1", port))
        except OSError:
            self.socket.close()
            raise
        self.socket.settimeout(PATIENCE)
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
        # An error may repeat what was sent, which need not be text.
        return line.decode(errors="backslashreplace")


def encode(*arguments):
    parts = [a if isinstance(a, bytes) else str(a).encode() for a in arguments]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts)
