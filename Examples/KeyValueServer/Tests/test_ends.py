"""How connections end, and the server before it serves."""

import os
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
            before = loop_jobs(other)
            time.sleep(2)
            # The server looks five times a second, not a hundred times.
            self.assertLess(loop_jobs(other) - before, 60)
            self.assertIn(b"connected_clients:2\r", other.call("INFO", "clients"))
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
            def waits_for_disk():
                """Whether it makes its folder durable, which it has open for that."""
                links = (f"/proc/{process.pid}/fd/{name}" for name in os.listdir(f"/proc/{process.pid}/fd"))
                return folder in [os.readlink(link) for link in links if os.path.islink(link)]

            self.assertTrue(until(waits_for_disk))
            process.terminate()
            self.assertEqual(process.wait(30), -signal.SIGTERM)
        finally:
            process.kill()
            process.wait()


if __name__ == "__main__":
    unittest.main()
