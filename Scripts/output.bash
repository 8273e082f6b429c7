# shellcheck shell=bash
# What the scripts of this folder have in common: how they print what they run, and why they fail. They read this file with
# `source`, in the folder of the repository, and may then change the folder.
scripts=$PWD/Scripts

# The tests on the pure-Swift core in short mode, for RR_ONLY_TESTS: those of the core and of the runtime. Scripts/unit and Scripts/stress
# share a build.
# shellcheck disable=SC2034 # It is used there.
twin_tests=FuzzingTests,ReactorCoreTests,ReactorRuntimeTests,ReactorTestingTests,StressTests

# run COMMAND…: prints the command, and runs it.
run() {
  printf '+ %s\n' "$*"
  "$@"
}

# fail TEXT…: prints the text behind the script's name, and ends the script.
fail() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# run_tests LOG COMMAND…: runs tests, and keeps their output. To swift test it is no failure if a filter matches no test; here it is.
run_tests() {
  local log=$1 status=0 passed failed
  shift
  run "$@" 2>&1 | tee "$log" || status=$?
  read -r passed failed < <("$scripts/count-tests" "$log")
  ((status == 0 && passed > 0 && failed == 0)) || fail "$passed tests passed, $failed failed; status $status."
}
