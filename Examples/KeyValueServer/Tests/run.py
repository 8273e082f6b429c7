"""Runs the tests; the last line says how many passed and failed.

run.py [timed|others]: only the tests that also compare times, or only the others. The former need a machine that does nothing
else."""

import glob
import os
import sys
import unittest

folder = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, folder)
TIMED = {"test_costs"}
files = {os.path.basename(path).removesuffix(".py") for path in glob.glob(os.path.join(folder, "test_*.py"))}
chosen = {"timed": TIMED, "others": files - TIMED, "": files}.get(" ".join(sys.argv[1:]))
if chosen is None:
    sys.exit(__doc__)
result = unittest.TextTestRunner(verbosity=2).run(unittest.defaultTestLoader.loadTestsFromNames(sorted(chosen)))
failed = len({str(getattr(test, "test_case", test)) for test, _ in result.failures + result.errors})
sys.stderr.flush()
passed = result.testsRun - failed - len(result.skipped)
print(f"{passed} passed, {failed} failed")
sys.exit(0 if failed == 0 and passed > 0 else 1)
