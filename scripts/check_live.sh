#!/usr/bin/env bash
# Long checks against real peers, one stage each. A stage which passed at this commit is not run again. Writes
# the date, commit, time and figure of each to evaluations/live.json, and ends with that table; fails if a
# stage failed. What the machine cannot run is listed as skipped.
#   ONLY=slurm,chaos  only these stages     FORCE=1  also those which passed at this commit
#   LIVE_TABLE=FILE        another table than evaluations/live.json
# shellcheck disable=SC2317  # stage() calls the functions by name
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
only=${ONLY:-slurm,simulated,races,chaos,loop,commands,prometheus,requests}
table=${LIVE_TABLE:-evaluations/live.json}
failed=0
mkdir -p build/live

# table note NAME VERDICT SECONDS FIGURE | table passed NAME | table show
table() {
  python3 scripts/live_table.py "$table" "$@"
}

selected() { [[ ",${only// /,}," == *",$1,"* ]]; }

# stage NAME COMMAND...: the last line that the command prints is its figure.
stage() {
  local name=$1 begin=$SECONDS verdict=ok
  shift
  selected "$name" || return 0
  if [[ -z ${FORCE:-} ]] && table passed "$name"; then
    echo "== $name: passed at this commit (FORCE=1 runs it again)"
    return 0
  fi
  echo "== $name"
  "$@" 2>&1 | tee "build/live/$name.log" || verdict=FAILED
  [[ $verdict == ok ]] || failed=1
  table note "$name" "$verdict" $((SECONDS - begin)) "$(tail -n 1 "build/live/$name.log")"
}

# skip NAME REASON: leaves an earlier result in the table.
skip() {
  selected "$1" && echo "== $1 skipped: $2"
}

# The simulator knows no limits on preemption, so there are none here.
simulated() {
  NODES=16 JOBS=240 SPAN_S=200 LOAD=2 MOST_S=120 MIN_RUN=0 PREEMPTED_SHARE=1 FEWEST_JOBS=240 \
    tests/live/slurm.sh build/live/simulated && python3 tests/live/simulated.py build/live/simulated build/bin
}

# The last line is the count of the races, not that of the tests.
races() {
  TARGETS=yard_serving_test scripts/build.sh release "$(nproc)" || return 1
  local lines
  lines=$(YARD_RACES=200 YARD_BIN=build/bin build/tests/yard_serving_test --gtest_filter='SlurmLive.Races*') || {
    echo "$lines"
    return 1
  }
  echo "$lines"
  grep " races: " <<<"$lines"
}

# The commands of the guides beside Slurm and the launchers of ranks, as printed.
commands() {
  TARGETS=yard_cli_test scripts/build.sh release "$(nproc)" &&
    YARD_REQUIRE=slurm,torchrun,mpirun build/tests/yard_cli_test --gtest_filter='*DocCommandsBeside*'
}

chaos() {
  TARGETS=yardmaster-faulty-serve scripts/build.sh release "$(nproc)" && tests/live/chaos.sh
}

if selected slurm || selected races || selected chaos || selected loop || selected commands; then
  scripts/install.sh slurm
fi
if selected commands; then scripts/install.sh torchrun && scripts/install.sh test; fi
if command -v slurmctld >/dev/null && [[ $(id -u) -eq 0 ]]; then
  stage slurm tests/live/slurm.sh
  stage simulated simulated
  stage races races
  stage chaos chaos
  stage loop tests/live/loop.sh
  stage commands commands
else
  for one in slurm simulated races chaos loop commands; do skip $one "needs root and Slurm (scripts/install.sh slurm)"; done
fi
selected prometheus && scripts/install.sh prometheus
if command -v prometheus >/dev/null && command -v promtool >/dev/null; then
  stage prometheus tests/live/prometheus.sh
else
  skip prometheus "needs Prometheus (scripts/install.sh prometheus)"
fi
if [[ -x build/tests/yard_serving_test ]]; then
  stage requests tests/live/requests.sh
else
  skip requests "needs the tests (make test)"
fi

echo
table show
exit $failed
