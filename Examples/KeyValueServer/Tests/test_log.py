"""The log, which nobody has to read."""

import fcntl
import os
import re
import subprocess
import time
import unittest

from servers import PATIENCE, SERVER, Connection, until


class Log(unittest.TestCase):
    def pipe(self):
        """Both ends of a pipe that little fills."""
        reading, writing = os.pipe()
        self.addCleanup(os.close, reading)
        self.addCleanup(os.close, writing)
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
        return reading, writing

    @staticmethod
    def fill(writing):
        # Opened anew: the server's descriptor must stay one that blocks.
        filler = os.open(f"/proc/self/fd/{writing}", os.O_WRONLY | os.O_NONBLOCK)
        try:
            while True:
                os.write(filler, b"\n" * 4096)
        except BlockingIOError:
            os.close(filler)

    def test_a_reader_that_stalls_stops_nobody(self):
        reading, writing = self.pipe()
        process = subprocess.Popen([SERVER, "--port", "0", "--max-clients", "1"], stderr=writing)
        log = b""

        def read():
            nonlocal log
            log += os.read(reading, 1 << 16)
            return log

        def refuse():
            """Connects one client too many, which is logged, at most once in a second."""
            client = Connection(port)
            try:
                return client.reply()
            finally:
                client.close()

        try:
            port = int(until(lambda: re.search(rb"listening on [0-9.]+:(\d+)", read()))[1])
            first = Connection(port)
            first.socket.settimeout(10)
            self.assertEqual(first.call("PING"), "+PONG")
            self.fill(writing)
            self.assertEqual(refuse(), "-ERR max number of clients reached")
            self.assertEqual(first.call("PING"), "+PONG")
            read()
            # Once it reads again, it learns of what it has missed.
            os.set_blocking(reading, False)

            def is_told():
                refuse()
                try:
                    return b"warning lines dropped here, since nobody read the log: 1\n" in read()
                except BlockingIOError:
                    return False

            self.assertTrue(until(is_told, 10))
            self.assertRegex(log, rb"(?m)^[^ ]+ warning lines dropped here.*\n[^ ]+ warning refused a client")
            first.close()
            process.terminate()
            self.assertEqual(process.wait(PATIENCE), 0)
        finally:
            process.kill()
            process.wait()

    def test_why_the_server_ends_waits_for_room(self):
        for is_read in (True, False):
            with self.subTest(is_read=is_read):
                reading, writing = self.pipe()
                os.set_blocking(reading, False)
                self.fill(writing)
                process = subprocess.Popen([SERVER, "--nonsense"], stderr=writing, stdout=subprocess.DEVNULL)
                try:
                    time.sleep(0.3)
                    if is_read:
                        os.read(reading, 1 << 16)
                    self.assertEqual(process.wait(30), 2)
                finally:
                    process.kill()
                    process.wait()
                self.assertEqual(b"error not understood" in os.read(reading, 1 << 16), is_read)


if __name__ == "__main__":
    unittest.main()
