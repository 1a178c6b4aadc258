#!/bin/bash
# loop.sh [OUT]: the loop from decisions to a better policy, on a real Slurm whose workload changes midway. A server
# with the rule `las` decides and logs. After the change, a policy is trained from the log, tried as a shadow, then as
# a canary by turns, and `models review` promotes it or drops it. Checks each step and that no job was
# lost, writes OUT (build/live/loop) and prints the figures. Needs root, Slurm and the public traces.
#   NODES=8             nodes of the cluster
#   JOBS=110 SPAN_S=480 jobs before the change, and the seconds in which they arrive; twice both afterwards
#   TURN_S=15           length of a turn of the canary
#   MAX_TURNS=12        compared turns after which the candidate is dropped if it shows no gain
#   LIMIT_S=2300        gives up after so many seconds
#   YARD_BIN=build/bin  folder of the programs
set -eu
cd "$(dirname "$0")/../.."
out=${1:-build/live/loop}
export YARD_BIN=${YARD_BIN:-build/bin} NODES=${NODES:-8} JOBS=${JOBS:-110} SPAN_S=${SPAN_S:-480}
export TURN_S=${TURN_S:-15} MAX_TURNS=${MAX_TURNS:-12} LIMIT_S=${LIMIT_S:-2300}
traces=${YARD_TRACES:-../shared/traces}

fail() {
  echo "loop.sh: $*" >&2
  exit 1
}

trace=$traces/philly-2017/philly.csv.gz
[ -e "$trace" ] || fail "no $trace; set YARD_TRACES"
[ -x "$YARD_BIN/yardmaster-train" ] || fail "no $YARD_BIN/yardmaster-train; run make build"
rm -rf "$out"
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)  # munge refuses folders that others may write to
chmod 755 "$work"
# shellcheck disable=SC2329  # called by the trap
finish() {
  cp "$work/slurm/log/jobcomp.log" "$out" 2>/dev/null || true
  tests/live/slurm_cluster.sh stop "$work/slurm" || true
  rm -rf "$work"
}
trap finish EXIT

"$YARD_BIN/yardmaster" trace convert "$trace" --skip-unusable --out "$out/trace.csv" >/dev/null
tests/live/slurm_cluster.sh start "$work/slurm" "$NODES" 30
export SLURM_CONF=$work/slurm/etc/slurm.conf
python3 tests/live/loop.py "$out" "$work"
