"""How the server ends before it serves."""

import os
import signal
import subprocess
import tempfile
import unittest

from servers import COMPILER, SERVER, preload, until


class Recovery(unittest.TestCase):
    @unittest.skipUnless(COMPILER, "there is no C compiler")
    def test_a_signal_before_the_keys_were_read_ends_the_server(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
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
