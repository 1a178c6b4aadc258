#!/bin/bash
# slurm.sh [OUT]: a real Slurm of 64 nodes with 8 fake GPUs each, the policy server with the shipped
# checkpoint `pilot`, the agent, and a workload from a public trace. Checks that the policy decided and
# preempted, that the agent started every run where the decision log says, and that no lease ended. Writes OUT
# (build/live/slurm) and prints the figures. Needs root, Slurm and the public traces.
# Time is scaled: jobs of hours run for seconds. So is the run time that the server leaves to a job before it
# may be preempted, and the agent states the costs of these jobs, which go on where they were.
#   NODES=64               nodes of the cluster
#   JOBS=640 SPAN_S=200    jobs, and the seconds in which they arrive
#   MOST_S=240             the longest run time
#   GOVERNED=$NODES        nodes that the agent governs; the load refers to them
#   LOAD=4                 offered load: GPU seconds asked for, of those there are while jobs arrive
#   LIMIT_S=2000           gives up after so many seconds
#   FEWEST_JOBS=600 FEWEST_PREEMPTIONS=10   numbers from which on the run counts
#   PREEMPTED_SHARE=0.25   share of the GPUs that may be preempted within 10 minutes
#   MIN_RUN=15             seconds that a job runs before it may be preempted
#   YARD_BIN=build/bin     folder of the programs
set -eu
cd "$(dirname "$0")/../.."
out=${1:-build/live/slurm}
bin=${YARD_BIN:-build/bin}
traces=${YARD_TRACES:-../shared/traces}
nodes=${NODES:-64}
export JOBS=${JOBS:-640} SPAN_S=${SPAN_S:-200} MOST_S=${MOST_S:-240} GOVERNED=${GOVERNED:-$nodes} LOAD=${LOAD:-4}
export LIMIT_S=${LIMIT_S:-2000} FEWEST_JOBS=${FEWEST_JOBS:-600} FEWEST_PREEMPTIONS=${FEWEST_PREEMPTIONS:-10}

fail() {
  echo "slurm.sh: $*" >&2
  exit 1
}

trace=$traces/philly-2017/philly.csv.gz
[ -e "$trace" ] || fail "no $trace; set YARD_TRACES"
[ -x "$bin/yardmaster" ] || fail "no $bin/yardmaster; run make build"
rm -rf "$out"
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)  # munge refuses folders that others may write to
chmod 755 "$work"
server="" agent=""
# shellcheck disable=SC2329  # called by the trap
finish() {
  for pid in $agent $server; do kill "$pid" 2>/dev/null || true; done
  cp "$work"/slurm/log/{jobcomp.log,slurmctld.log} "$out" 2>/dev/null || true
  tests/live/slurm_cluster.sh stop "$work/slurm" || true
  rm -rf "$work"
}
trap finish EXIT

"$bin/yardmaster" trace convert "$trace" --skip-unusable --out "$out/trace.csv" >/dev/null
tests/live/slurm_cluster.sh start "$work/slurm" "$nodes" 30
export SLURM_CONF=$work/slurm/etc/slurm.conf

"$bin/yardmaster" serve --checkpoint checkpoints/pilot --listen 127.0.0.1:0 --json --budget-ms 400 \
  --min-run "${MIN_RUN:-15}" --preempted-share "${PREEMPTED_SHARE:-0.25}" --decision-log "$out/decisions" >"$out/server.json" 2>"$out/server.log" &
server=$!
for _ in $(seq 100); do
  [ -s "$out/server.json" ] && break
  sleep 0.1
done
address=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["grpc"])' "$out/server.json")
cat >"$out/agent.yaml" <<CONF
partitions: [gpu]
nodes: n[0-$((GOVERNED - 1))]
server: $address
lock: $work/lock
deadline_ms: 500
preempt: true
save_s: 1
restore_s: 2
restore_large_s: 2
CONF
"$bin/yardmaster" slurm --config "$out/agent.yaml" --json --http 127.0.0.1:0 >"$out/agent.jsonl" 2>"$out/agent.log" &
agent=$!

python3 tests/live/slurm_stage.py submit "$out"
kill "$agent" "$server"
wait "$agent" "$server" || true
agent="" server=""
"$bin/yardmaster" log print "$out/decisions" >"$out/decisions.jsonl"
cp "$work/slurm/log/jobcomp.log" "$out"
python3 tests/live/slurm_stage.py check "$out"
