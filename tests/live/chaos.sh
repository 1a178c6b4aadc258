#!/bin/bash
# chaos.sh [OUT]: faults under load. Two Slurm clusters get the same workload and the same faults of Slurm. A policy
# server with `pilot`, in a network namespace, and two agents decide for the first one, and have faults of
# their own. Checks that Yardmaster adds no lost job and no second run, and that the policy decides
# outside faults. Writes OUT (build/live/chaos) and prints the recovery time of each fault. Needs root,
# Slurm, `ip netns`, the public traces and yardmaster-faulty-serve of the tests.
#   NODES=64 SEED=1        nodes of each cluster; what draws the faults
#   JOBS=1200 SPAN_S=1350  jobs, and the seconds in which they arrive
#   LOAD=1.05 MOST_S=300   offered load; longest run time
#   FAULTS=                so many faults; all of chaos_faults.py
#   FIRST_S=30 GAP_S=25    time of the first fault; seconds between two
#   LIMIT_S=2100           gives up after so many seconds
#   FEWEST_FAULTS=50       number of faults for which the run counts
#   YARD_BIN=build/bin     folder of the programs; FAULTY_SERVER=build/tests/yardmaster-faulty-serve
set -eu
cd "$(dirname "$0")/../.."
out=${1:-build/live/chaos}
export YARD_BIN=${YARD_BIN:-build/bin} FAULTY_SERVER=${FAULTY_SERVER:-build/tests/yardmaster-faulty-serve}
traces=${YARD_TRACES:-../shared/traces}
export NODES=${NODES:-64} SEED=${SEED:-1} JOBS=${JOBS:-1200} SPAN_S=${SPAN_S:-1350} LOAD=${LOAD:-1.05} MOST_S=${MOST_S:-300}
export FAULTS=${FAULTS:-} FIRST_S=${FIRST_S:-30} GAP_S=${GAP_S:-25} LIMIT_S=${LIMIT_S:-2100}

fail() {
  echo "chaos.sh: $*" >&2
  exit 1
}

trace=$traces/philly-2017/philly.csv.gz
[ -e "$trace" ] || fail "no $trace; set YARD_TRACES"
for program in "$YARD_BIN/yardmaster" "$FAULTY_SERVER"; do
  [ -x "$program" ] || fail "no $program; run make all"
done
rm -rf "$out"
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)  # munge refuses folders that others may write to
chmod 755 "$work"
# shellcheck disable=SC2329  # called by the trap
finish() {
  for arm in ours control; do
    cp "$work/$arm/log/jobcomp.log" "$out/$arm" 2>/dev/null || true
    cp "$work/$arm/log/slurmctld.log" "$out/$arm" 2>/dev/null || true
    [ -e "$work/$arm/etc" ] && tests/live/slurm_cluster.sh stop "$work/$arm"
  done
  rm -rf "$work"
}
trap finish EXIT

"$YARD_BIN/yardmaster" trace convert "$trace" --skip-unusable --out "$out/trace.csv" >/dev/null
port=${YARD_SLURM_PORT:-27700}
YARD_SLURM_PORT=$port tests/live/slurm_cluster.sh start "$work/ours" "$NODES" 30
YARD_SLURM_PORT=$((port + 100)) tests/live/slurm_cluster.sh start "$work/control" "$NODES" 0
python3 tests/live/chaos.py run "$out" "$work"
python3 tests/live/chaos.py check "$out"
