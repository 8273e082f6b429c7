"""Builds the sample of mutants once, and runs the fast layers of the tests on each: see README.md beside this file. Called by
Scripts/mutants."""

import hashlib
import json
import os
import re
import resource
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import suites
from mutate import Finder, instrument

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "Tests/Mutants"
WORK = ROOT / ".build/mutants"
CORE = "CSources/CReactorCore"
# Atomic operations and tracepoints are no place for mutants: Scripts/model --weaken weakens each order.
EXCLUDED = r"Integrations/|Tracing/|rr_trace|rr_atomic\.h|Bridging/RxSwift"
# The sources that the model checker contains.
MODELLED = r"rr_(ring|lanes|trampoline|eventcount|access|readers|fence)\.[ch]$"
HEADER = """#ifndef RR_MUTANT_H
#define RR_MUTANT_H
#include <stdbool.h>
extern int rr_mutant_number;
#define RR_MUTANTS %d
extern unsigned char *rr_mutants_reached;
/* The model checker must not take these accesses for the core's. Threads store the same value, so their race is harmless. */
__attribute__((no_sanitize("thread"))) static inline bool rr_is_mutant(int number) {
  if (!rr_mutants_reached[number]) rr_mutants_reached[number] = 1;
  return rr_mutant_number == number;
}
#endif
""" % suites.SIZE
DEFINITION = """
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
static unsigned char rr_mutants_of_this_process[RR_MUTANTS];
int rr_mutant_number = 0;
unsigned char *rr_mutants_reached = rr_mutants_of_this_process;
/* A file that is mapped also has what a process reached that crashed. */
__attribute__((constructor, no_sanitize("thread"))) static void rr_choose_mutant(void) {
  const char *number = getenv("RR_MUTANT"), *reached = getenv("RR_MUTANTS_REACHED");
  rr_mutant_number = number == NULL ? 0 : atoi(number);
  if (reached == NULL) return;
  void *shared = mmap(NULL, RR_MUTANTS, PROT_READ | PROT_WRITE, MAP_SHARED, open(reached, O_RDWR), 0);
  if (shared == MAP_FAILED) abort();
  rr_mutants_reached = shared;
}
"""


def fail(text):
    sys.exit(f"mutants: {text}")


def files():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.split("\n")
    return [name for name in listed if name and (ROOT / name).is_file()]


def digest():
    """What the results depend on. Tests are only added, so that what they notice they will notice."""
    contents = b"".join((ROOT / name).read_bytes() for name in files() if re.match("Sources/|CSources/CReactorCore", name))
    return hashlib.sha1(contents).hexdigest()[:12]


def choose(pattern, seed, count):
    """The first mutants in an order that the seed determines, and that does not depend on where they stand."""
    found = []
    for path in files():
        if re.match(pattern, path) and not re.search(EXCLUDED, path) and path.endswith((".swift", ".c", ".h")):
            found += Finder(path, (ROOT / path).read_text()).find()
    found.sort(key=lambda mutant: hashlib.sha1(f"{seed}{mutant.id}".encode()).hexdigest())
    print(f"{len(found)} places for a mutant", flush=True)
    return found[:count]


# MARK: building

def synchronise(tree, mutants):
    """Makes the tree a copy of the working tree with these mutants. Files that are equal are not touched."""
    by_path = {}
    for mutant in mutants:
        by_path.setdefault(mutant.path, []).append(mutant)
    wanted = {f"{CORE}/include/rr_mutant.h": HEADER.encode()}
    for path in files():
        content = (ROOT / path).read_bytes()
        if path in by_path:
            content = instrument(path, content.decode(), by_path[path]).encode()
        if path == "Scripts/model":
            content = content.replace(b"-Wall -Wextra -Werror", b"-w")
        elif path == f"{CORE}/rr_ring.c":
            content += DEFINITION.encode()
        elif path == f"{CORE}/include/CReactorCore.h":
            content = content.replace(b'#include "', b'#include "rr_mutant.h"\n#include "', 1)
        wanted[path] = content
    for path in tree.rglob("*"):
        name = str(path.relative_to(tree))
        if path.is_file() and not name.startswith(".build") and name not in wanted:
            path.unlink()
    is_header_changed = False
    for name, content in wanted.items():
        path = tree / name
        if not path.exists() or path.read_bytes() != content:
            if name.startswith(f"{CORE}/"):
                (tree / ".build/model/held").unlink(missing_ok=True)
            is_header_changed |= name.startswith(f"{CORE}/") and name.endswith(".h")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            path.chmod((ROOT / name).stat().st_mode if (ROOT / name).exists() else 0o644)
    return is_header_changed


def run(command, tree, environment=()):
    print("+", " ".join(command), flush=True)
    # A mutant may make the compiler warn.
    done = subprocess.run(command, cwd=tree, env={**os.environ, "RR_WARNINGS": "1", **dict(environment)},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    return done.returncode == 0, done.stdout


def culprits(output, tree, mutants):
    """The mutants at which the compiler's errors point."""
    found = set()
    for name, line in set(re.findall(r"(?m)^(\S+?):(\d+):\d+: error:", output)):
        name, line = os.path.relpath(os.path.join(tree, name), tree), int(line)
        here = [m for m in mutants if m.path == name]
        around = [m for m in here if m.line <= line <= m.last_line]
        # Otherwise the error is where a value is used, or at the end of the function.
        above = sorted((m for m in here if m.line <= line), key=lambda m: m.line)
        found |= {m.id for m in around or above[-1:]}
    return found


def build(tree, mutants, steps):
    """Builds the mutants, without those that do not compile; returns the others."""
    for command, environment in steps:
        while True:
            is_built, output = run(command, tree, environment)
            if is_built:
                break
            bad = culprits(output, tree, mutants)
            (WORK / "build.log").write_text(output)
            if not bad:
                fail(f"the copy does not build; see {WORK}/build.log")
            print(f"{len(bad)} mutants do not compile", flush=True)
            mutants = [m for m in mutants if m.id not in bad]
            synchronise(tree, mutants)
    return mutants


def clang():
    return subprocess.run([ROOT / "Scripts/clang"], check=True, capture_output=True, text=True).stdout.strip()


def c_steps(tree):
    sources = [f"{CORE}/*.c", "Tests/FaultyPlatform/*.c", "Tests/CReactorCoreTests/*.c"]
    command = (f"mkdir -p .build && {clang()} -std=c11 -w -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all "
               f"-I{CORE}/include -ITests/FaultyPlatform/include {' '.join(sources)} -pthread -o .build/c-tests")
    return [(["bash", "-c", command], ())]


SWIFT_STEPS = [(["swift", "build", "--target", "ReactorRuntime"], ()), (["swift", "build", "--build-tests"], ())]
CONTROLLED = {"RR_CONTROLLED": "1", "SWIFT_DETERMINISTIC_HASHING": "1"}
CONTROLLED_STEPS = [(["swift", "build", "--scratch-path", ".build/controlled", "--build-tests"], CONTROLLED.items())]

# MARK: running

BUNDLE = "debug/swift-reactor-runtimePackageTests.xctest"
SWIFT_TESTING = ["--testing-library", "swift-testing"]
# Tests of the tests, of the benchmark, and of other builds are left out.
UNIT = [f".build/{BUNDLE}", *SWIFT_TESTING, "--skip", r"^(Stress|Allocation|Benchmark|RxSwift|Integration)Tests\.|Detection"]
# The suites that take longest run last.
SLOW = ["FuzzingTests", "LoopEndTests", "MailboxBoundTests", "NestingTests", "ReentrancyTests", "ThreadWarningTests",
        "ReactorViewTests", "HookTests", "DeferredTests", "ReactorKitsOwnTests"]
# Within narrow bounds, in which some cases fail that hold within their own: those are left out. Built only if a mutant comes
# that far.
MODEL = """cd .build && mkdir -p model && model=model/model
if [[ ! -s model/held ]]; then
  (cd .. && Scripts/model --list) >model/cases
  export RR_MUTANT=0
  "$model" --bounds 1,1,1 $(awk '/^[a-z]/ && !/^litmus/ { print $1 }' model/cases) | awk '/ holds$/ { print $1 }' >model/held
  exec echo "the model was built"
fi
xargs -P "$(nproc)" -n 1 "$model" --bounds 1,1,1 <model/held 2>&1"""
# For each layer: the commands, and the limits in seconds, of a command and of its silence.
LAYERS = {
    "c": ([[".build/c-tests"]], 30, 10),
    "model": ([["bash", "-c", MODEL]], 300, 300),
    # Of these, only the suites that reach the mutant.
    "unit": ([UNIT], 300, 40),
    "controlled": ([[f".build/controlled/{BUNDLE}", *SWIFT_TESTING, "--no-parallel"]], 400, 60),
}
MODEL_OF = LAYERS["model"][0][0], "model"
FAILURE = re.compile(r"✘ Test (?!case)(.*?) recorded an issue|(\w+_tests\.c:\d+): failed|^([\w.-]+) .* FAILED$")
STARTED = re.compile(r"◇ Test (?!case|run)(.*?) started")


def limit_resources():
    resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Tests of signals see what was inherited, as from nohup.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def watch(command, layer, tree, number):
    """Runs the tests until the first failure. Returns what failed, or None."""
    environment = {**os.environ, "RR_MUTANT": str(number), "SWIFT_BACKTRACE": "enable=no"}
    if layer == "controlled":
        environment |= CONTROLLED
    if layer == "c":
        environment["ASAN_OPTIONS"] = "detect_leaks=1"
    _, limit, silence = LAYERS[layer]
    process = subprocess.Popen(command, cwd=tree, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True, preexec_fn=limit_resources if layer != "c" else None)
    begin = heard = time.monotonic()
    running, rest, last, verdict = [], b"", "", None
    try:
        while verdict is None:
            now = time.monotonic()
            if now - begin > limit or now - heard > silence:
                verdict = "does not end" + (f": {running[0]}" if running else "")
                break
            if not select.select([process.stdout], [], [], 1)[0]:
                if process.poll() is not None:
                    break
                continue
            data = os.read(process.stdout.fileno(), 65536)
            if not data:
                break
            heard = now
            *lines, rest = (rest + data).split(b"\n")
            for line in (re.sub("\x1b\\[[0-9;]*m", "", line.decode(errors="replace")) for line in lines):
                last = line.strip() or last
                if failed := FAILURE.search(line):
                    verdict = next(group for group in failed.groups() if group)
                    break
                if started := STARTED.search(line):
                    running.append(started[1])
                elif ended := re.search(r"✔ Test (?!case|run)(.*?) passed", line):
                    running = [name for name in running if name != ended[1]]
        if verdict is None and process.wait(timeout=30) != 0:
            verdict = f"exit status {process.returncode}: {running[0] if len(running) == 1 else last[:100]}"
    except subprocess.TimeoutExpired:
        verdict = "does not end"
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
    return verdict


def repeats(verdict, command, layer, tree, number):
    """Whether what failed or did not end does so again, so that it is the mutant and not the load of the machine."""
    if verdict.startswith("does not"):
        if not watch(command, layer, tree, number):
            return False
        # Without the mutant, at about the same time.
        if slow := watch(command, layer, tree, 0):
            fail(f"{layer} must pass without a mutant: {slow}\n{' '.join(command)}")
        return True
    if layer != "unit" or verdict.startswith("exit"):
        return True
    name = re.sub(r"\W", ".", verdict.strip('"').removesuffix("()"))
    alone = [command[0], *SWIFT_TESTING, "--filter", name]
    return any(watch(alone, layer, tree, number) for _ in range(2)) or watch(command, layer, tree, number) is not None


def layers_of(mutant, asked):
    order = ["c", "unit", "model", "controlled"] if mutant.path.endswith((".c", ".h")) else ["unit", "controlled"]
    if not re.search(MODELLED, mutant.path):
        order = [layer for layer in order if layer != "model"]
    return [layer for layer in order if layer in asked]


def hunt(mutant, asked, tree, reached):
    start = time.monotonic()
    for layer in layers_of(mutant, asked):
        if layer == "model" and not (tree / ".build/model/held").exists() and (verdict := watch(*MODEL_OF, tree, 0)):
            fail(f"the model does not build: {verdict}")
        commands = LAYERS[layer][0]
        if layer == "unit":
            commands = suites.commands(mutant.number, reached, UNIT, SLOW)
        for command in commands:
            verdict = watch(command, layer, tree, mutant.number)
            if verdict and repeats(verdict, command, layer, tree, mutant.number):
                return {"layer": layer, "witness": verdict, "seconds": round(time.monotonic() - start, 1)}
    return {"layer": "", "witness": "", "seconds": round(time.monotonic() - start, 1)}


# MARK: results

def explained():
    """The kinds of the survivors that README.md explains, by mutant."""
    return dict(re.findall(r"(?m)^\| `([0-9a-f]{7})` \| ([a-z ]+) \|", (HERE / "README.md").read_text()))


def cell(text):
    return text.replace("|", "\\|").replace("`", "'")[:110]


def report(mutants, results, title):
    rows = [(m, results[m.id]) for m in mutants if m.id in results]
    survivors = [m for m, result in rows if not result["layer"]]
    known = explained()
    with open(WORK / f"{title}.md", "w") as table:
        table.write("| mutant | place | rule | change | noticed by | where |\n|---|---|---|---|---|---|\n")
        for m, result in sorted(rows, key=lambda row: (row[0].path, row[0].line)):
            table.write(f"| `{m.id}` | {Path(m.path).name}:{m.line} | {m.rule} | `{cell(m.change)}` | "
                        f"{result['layer'] or '**nothing**'} | {cell(result['witness'])} |\n")
    print("\n| layer | mutants |\n|---|---:|")
    for layer in [*LAYERS, ""]:
        count = sum(result["layer"] == layer for _, result in rows)
        print(f"| {layer or 'not noticed'} | {count} |")
    for m in survivors:
        print(f"{known.get(m.id, 'NOT noticed')}: {m.id} {m.path}:{m.line}: {m.rule}: {m.change}")
    new = sum(m.id not in known for m in survivors)
    equivalent = sum(known.get(m.id) == "equivalent" for m in survivors)
    noticed, different = len(rows) - len(survivors), len(rows) - equivalent
    print(f"{noticed} of {len(rows)} mutants noticed. {equivalent} of the others are equivalent, "
          f"{len(survivors) - equivalent - new} have another explanation, {new} have none.")
    print(f"{len(rows) - new} passed, {new} failed")
    return bool(rows) and not new and noticed >= 0.9 * different


def main():
    words = sys.argv[1:]
    # So that the tests that run end, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    is_quick = "quick" in words

    def number(word, usual):
        return int(words[words.index(word) + 1]) if word in words else usual

    count, seed = number("sample", 10 if is_quick else 200), number("seed", 1)
    asked = ["c", "model"] if is_quick else ["c", "unit", "model"]
    if "layers" in words:
        asked = words[words.index("layers") + 1].split(",")
    title = "quick" if is_quick else f"seed-{seed}"
    tree = WORK / ("quick" if is_quick else "tree")
    tree.mkdir(parents=True, exist_ok=True)
    pattern = rf"{CORE}/.*{MODELLED}" if is_quick else rf"Sources/ReactorCore/|Sources/ReactorRuntime/|{CORE}/"
    # Some do not compile.
    mutants = choose(pattern, seed, count * 5 // 4)
    if len(mutants) >= suites.SIZE:
        fail(f"a sample has at most {(suites.SIZE - 1) * 4 // 5} mutants: see suites.SIZE")
    saved, sources, known = WORK / f"{title}.jsonl", digest(), explained()
    results = {}
    if saved.exists() and ("report" in words or not is_quick):
        for line in saved.read_text().splitlines():
            result = json.loads(line)
            # A survivor of fewer layers, or without an explanation, may be noticed now.
            is_final = result["layer"] or result["id"] in known or "again" not in words
            is_final = is_final and (result["layer"] or set(asked) <= set(result["asked"])) or "report" in words
            if result["sources"] == sources and is_final:
                results[result["id"]] = result
            else:
                results.pop(result["id"], None)
    if "report" in words:
        sys.exit(0 if report(mutants, results, title) else 1)
    dropped = WORK / f"{title}.dropped"
    unfit = set(dropped.read_text().split()) if dropped.exists() else set()
    for place, mutant in enumerate(mutants):
        mutant.number = place + 1
    fit = [m for m in mutants if m.id not in unfit]
    if synchronise(tree, fit) and not is_quick:
        # SwiftPM does not notice that a header has changed.
        subprocess.run(["rm", "-rf", tree / ".build"], check=True)
    steps = c_steps(tree)
    if "unit" in asked:
        steps += SWIFT_STEPS
    if "controlled" in asked:
        steps += CONTROLLED_STEPS
    fit = build(tree, fit, steps)
    dropped.write_text("\n".join(sorted({m.id for m in mutants} - {m.id for m in fit})))
    fit = fit[:count]

    reached = {}
    for layer in asked if any(m.id not in results for m in fit) else ():
        if layer == "unit":
            print("finding which suites reach which mutants", flush=True)
            reached = suites.reach(UNIT, tree)
        # Those that judge mutants, or run at least as much.
        baselines = suites.largest(reached, UNIT, SLOW) if layer == "unit" else LAYERS[layer][0] if layer != "model" else []
        for command in baselines:
            if verdict := watch(command, layer, tree, 0):
                fail(f"{layer} must pass without a mutant: {verdict}")
    with open(saved, "w" if is_quick else "a") as log:
        for m in fit:
            if m.id in results:
                continue
            results[m.id] = hunt(m, asked, tree, reached) | {"id": m.id, "asked": asked, "sources": sources}
            log.write(json.dumps(results[m.id]) + "\n")
            log.flush()
            r = results[m.id]
            print(f"{m.id} {m.path}:{m.line}: {m.rule}: {m.change[:90]}: {r['layer'] or 'NOT noticed'} "
                  f"after {r['seconds']} s: {r['witness']}", flush=True)
    sys.exit(0 if report(fit, results, title) else 1)


if __name__ == "__main__":
    main()
