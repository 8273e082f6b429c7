"""The log, which nobody has to read."""

import fcntl
import os
import re
import subprocess
import unittest

from servers import PATIENCE, SERVER, Connection, until


class Log(unittest.TestCase):
    def test_a_reader_that_stalls_stops_nobody(self):
        reading, writing = os.pipe()
        # Small, so that little fills it.
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
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
            # Opened anew: the server's descriptor must stay one that blocks.
            filler = os.open(f"/proc/self/fd/{writing}", os.O_WRONLY | os.O_NONBLOCK)
            while True:
                try:
                    os.write(filler, b"\n" * 4096)
                except BlockingIOError:
                    break
            self.assertEqual(refuse(), "-ERR max number of clients reached")
            self.assertEqual(first.call("PING"), "+PONG")
            os.close(filler)
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
            os.close(reading)
            os.close(writing)


if __name__ == "__main__":
    unittest.main()
