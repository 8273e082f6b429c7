"""Which suites of the unit tests reach which mutant. A suite that never evaluates a mutant's place cannot notice it, so only
the others are run on it: the first few are those that reach the fewest mutants, since they look at that place most closely."""

import concurrent.futures
import os
import re
import subprocess
import tempfile

# As many bytes as rr_mutant.h says, one for each mutant; they are numbered from 1 on.
SIZE = 4096
# A suite that reaches a mutant is run in the first command only if there are not more than this that are more specific.
CLOSEST = 12


def listed(command, tree):
    """The suites that the command would run. `--list-tests` lists those that `--skip` leaves out, too."""
    done = subprocess.run([*command, "--list-tests"], cwd=tree, check=True, capture_output=True, text=True)
    skipped = command[command.index("--skip") + 1]
    return sorted({line.split("/")[0] for line in done.stdout.splitlines() if "/" in line and not re.search(skipped, line)})


def filters(suites):
    return [word for suite in suites for word in ("--filter", f"^{re.escape(suite)}/")]


def reached_by(suite, command, tree):
    """The numbers of the mutants that the tests of this suite evaluate."""
    with tempfile.NamedTemporaryFile() as file:
        file.truncate(SIZE)
        environment = {**os.environ, "RR_MUTANT": "0", "RR_MUTANTS_REACHED": file.name, "SWIFT_BACKTRACE": "enable=no"}
        done = subprocess.run([*command, *filters([suite])], cwd=tree, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=300)
        if done.returncode != 0:
            raise SystemExit(f"mutants: {suite} must pass without a mutant:\n{done.stdout[-2000:]}")
        if " 0 tests" in done.stdout:
            raise SystemExit(f"mutants: no test of {suite} was found by its filter")
        return {number for number, byte in enumerate(file.read()) if byte}


def reach(command, tree):
    """For each suite, the mutants that it reaches. Each suite runs alone, two at a time: minutes."""
    suites = listed(command, tree)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        found = threads.map(lambda suite: reached_by(suite, command, tree), suites)
        return dict(zip(suites, found))


def is_slow(suite, slow):
    return suite.split(".")[-1] in slow


def commands(number, reached, command, slow):
    """The commands that run the suites that reach this mutant, in the order in which they probably notice it."""
    suites = sorted((suite for suite in reached if number in reached[suite]), key=lambda suite: len(reached[suite]))
    quick = [suite for suite in suites if not is_slow(suite, slow)]
    groups = quick[:CLOSEST], quick[CLOSEST:], [suite for suite in suites if suite not in quick]
    return [[*command, *filters(group)] for group in groups if group]


def largest(reached, command, slow):
    """Commands of which each of `commands` runs a part: those that run all quick suites, and all slow ones."""
    groups = [[suite for suite in sorted(reached) if is_slow(suite, slow) == wanted] for wanted in (False, True)]
    return [[*command, *filters(group)] for group in groups if group]
