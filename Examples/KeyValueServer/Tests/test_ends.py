"""How connections end, and the server before it serves."""

import os
import select
import signal
import subprocess
import tempfile
import time
import unittest

from servers import COMPILER, SERVER, Closed, Connection, Process, encode, preload, until
from test_channels import subscribe
from test_network import loop_jobs


class Quit(unittest.TestCase):
    def test_nothing_comes_behind_the_reply_to_quit(self):
        with Process() as server:
            client = server.connect()
            subscribe(client, "news")
            # The message arrives while the batch runs.
            client.write(encode("PUBLISH", "news", "x") + encode("QUIT"))
            self.assertEqual(client.reply(), 1)
            self.assertEqual(client.reply(), "+OK")
            with self.assertRaises(Closed):
                client.reply()

    @unittest.skipUnless(COMPILER, "there is no C compiler")
    def test_a_message_that_will_be_dropped_does_not_count(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        environment, hold = preload(folder, "disk")
        with Process("--shard-count", 2, "--data", os.path.join(folder, "data"), environment=environment) as server:
            client, names = server.connect(), "abcdefgh"
            subscribe(client, *names)
            hold(1)
            # This batch runs until the disk has the first command.
            client.write(encode("SET", "key", "x") + encode("QUIT"))

            def is_answered(key):
                other = server.connect()
                other.send("GET", key)
                return select.select([other.socket], [], [], 0.5)[0]

            self.assertTrue(until(lambda: not is_answered("key"), 30))
            # The other shard does not wait for the disk.
            channel = next(name for name in names if is_answered(name))
            # More than may wait for a client that does not read.
            self.assertEqual(server.connect().call("PUBLISH", channel, b"m" * (33 << 20)), 1)
            hold(0)
            self.assertEqual([client.reply(), client.reply()], ["+OK", "+OK"])
            with self.assertRaises(Closed):
                client.reply()

    def test_messages_do_not_keep_a_client_that_has_quit(self):
        with Process() as server:
            client, other = Connection(server.port, receive_buffer=4096), server.connect()
            server.connections.append(client)
            other.call("SET", "big", "x" * 1_000_000)
            subscribe(client, "news")
            # More than the buffers of the system take.
            client.write(encode("GET", "big") * 20 + encode("QUIT"))
            time.sleep(0.5)
            for _ in range(3):
                self.assertEqual(other.call("PUBLISH", "news", "x"), 1)
            self.assertEqual([len(client.reply()) for _ in range(20)], [1_000_000] * 20)
            self.assertEqual(client.reply(), "+OK")
            with self.assertRaises(Closed):
                client.reply()

    def test_a_client_that_does_not_take_its_replies_is_soon_gone(self):
        with Process("--grace", 60) as server:
            other, client = server.connect(), Connection(server.port, receive_buffer=4096)
            server.connections.append(client)
            self.assertEqual(other.call("PING"), "+PONG")
            # Its system takes a part of that, and the server's the rest.
            client.write(encode("PING", "x" * 100_000) * 3 + encode("QUIT"))
            time.sleep(1)
            before, begin = loop_jobs(other), time.monotonic()
            self.assertIn(b"connected_clients:2\r", other.call("INFO", "clients"))
            time.sleep(2)
            jobs, elapsed = loop_jobs(other) - before, time.monotonic() - begin
            # The server looks five times a second, not a hundred times.
            self.assertLess(jobs, 25 * elapsed + 10)
            self.assertTrue(until(lambda: b"connected_clients:1\r" in other.call("INFO", "clients"), 15))


class Recovery(unittest.TestCase):
    @unittest.skipUnless(COMPILER, "there is no C compiler")
    def test_a_signal_before_the_keys_were_read_ends_the_server(self):
        folder = os.path.realpath(self.enterContext(tempfile.TemporaryDirectory()))
        environment, hold = preload(folder, "disk")
        hold(1)
        process = subprocess.Popen([SERVER, "--port", "0", "--data", os.path.join(folder, "data")],
                                   env={**os.environ, **environment}, stderr=subprocess.DEVNULL)
        try:
            def target(link):
                """What a descriptor refers to; None if it was closed meanwhile."""
                try:
                    return os.readlink(link)
                except OSError:
                    return None

            def waits_for_disk():
                """Whether it makes its folder durable, which it has open for that."""
                descriptors = f"/proc/{process.pid}/fd"
                return folder in [target(f"{descriptors}/{name}") for name in os.listdir(descriptors)]

            self.assertTrue(until(waits_for_disk))
            process.terminate()
            self.assertEqual(process.wait(30), -signal.SIGTERM)
        finally:
            process.kill()
            process.wait()


class Start(unittest.TestCase):
    @unittest.skipUnless(COMPILER, "there is no C compiler")
    def test_a_signal_just_before_signals_are_caught_is_not_lost(self):
        environment, send = preload(self.enterContext(tempfile.TemporaryDirectory()), "early")
        send(signal.SIGTERM)
        process = subprocess.Popen([SERVER, "--port", "0"], env={**os.environ, **environment}, stderr=subprocess.PIPE)
        try:
            _, log = process.communicate(timeout=30)
            self.assertEqual(process.returncode, 0)
            self.assertIn(b"info ended\n", log)
        finally:
            process.kill()
            process.communicate()


if __name__ == "__main__":
    unittest.main()
