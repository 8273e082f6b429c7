"""Runs the tests; the last line says how many passed and failed."""

import os
import sys
import unittest

folder = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, folder)
result = unittest.TextTestRunner(verbosity=2).run(unittest.defaultTestLoader.discover(folder))
failed = len({str(getattr(test, "test_case", test)) for test, _ in result.failures + result.errors})
sys.stderr.flush()
passed = result.testsRun - failed - len(result.skipped)
print(f"{passed} passed, {failed} failed")
sys.exit(0 if failed == 0 and passed > 0 else 1)
