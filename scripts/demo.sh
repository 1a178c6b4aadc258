#!/bin/sh
# demo.sh: trains an agent on an embedded workload, compares it with its untrained network and with
# heuristics on unseen jobs, serves it, damages its model, stops the server, and writes a report.
# All output is in runs/demo. Results of an earlier call are kept unless the programs have changed.
#   YARD_BIN=...  folder of the programs (default: build/bin)
set -eu
cd "$(dirname "$0")/.."
bin=${YARD_BIN:-build/bin}
yard=$bin/yardmaster
config=experiments/configs/demo.yaml
snapshot=experiments/snapshots/idle.json
run=runs/demo
stamp=runs/demo.stamp  # marks runs/demo as ours, and identifies the trainer
found=$run/evaluations
model=$run/serving/model
server=

# Jobs that neither training nor validation has seen: other seeds of the same workload. Many short
# workloads give the verdict (scripts/demo_seeds.sh); a long one is for the report.
unseen="--trace synthetic:servers --cluster servers-6 --seed 7001"
sizes="trace.most=0 trace.drawn=true trace.worker_cores=3 trace.load=0.45"
rule=experiments/rivals/own-node.yaml  # the strongest rule with the same information and verbs
heuristics=least-loaded,$rule,lif-linear,tetris

# ---- Progress: "[2/7] 0:31 what follows, about 1:40 left" ---------------------------------------
# Seconds that each step took on 2 cores; the time left follows how fast the earlier ones were.
began=$(date +%s)
number=0
planned=0        # seconds planned for the finished steps
left=55          # seconds planned for the other steps: 25 10 10 2 3 3 2
seconds_of_step=0

clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

step() {  # step SECONDS TEXT
  planned=$((planned + seconds_of_step))
  seconds_of_step=$1
  number=$((number + 1))
  spent=$(($(date +%s) - began))
  eta=$left
  if [ "$planned" -ge 30 ]; then eta=$((left * spent / planned)); fi
  left=$((left - $1))
  printf '\n[%d/7] %s  %s, about %s left\n' "$number" "$(clock "$spent")" "$2" "$(clock "$eta")"
}

kept() {
  echo "      kept from an earlier run"
  seconds_of_step=0  # does not measure the speed of this machine
}

# ---- Exit: the server stops with the script; Ctrl-C keeps what --resume needs --------------------
stop_server() {
  [ -n "$server" ] || return 0
  # Signals repeatedly: a signal between the shell's fork and the program's start is lost.
  tries=0
  while kill -0 "$server" 2>/dev/null; do
    if [ "$tries" -lt 50 ]; then kill "$server" 2>/dev/null; else kill -9 "$server"; fi || true
    tries=$((tries + 1))
    sleep 0.1
  done
  wait "$server" 2>/dev/null || true
  server=
}
trap stop_server EXIT
trap 'echo; echo "demo: interrupted; make demo resumes from here"; exit 130' INT TERM

fail() {
  echo "demo: $1" >&2
  exit 1
}

# ---- 1. Train ------------------------------------------------------------------------------------
# Replaces a folder made by another trainer or with other settings. Rejects a folder that is not ours.
print_stamp() { cat "$bin/yardmaster-train" "$config" | cksum; }
if [ -e "$run" ] && [ ! -e "$stamp" ]; then
  echo "demo: expected no folder $run, or one written by make demo, got one without $stamp" >&2
  exit 2
fi
if [ -e "$run" ] && [ "$(cat "$stamp")" != "$(print_stamp)" ]; then
  echo "$run has other settings or is of another build: replaced"
  rm -rf "$run"
fi

step 25 "training harmony on the embedded workload"
if grep -q '"state": "done"' "$run/run.json" 2>/dev/null; then
  kept
elif [ -e "$run/checkpoints/training_state" ]; then
  echo "      resuming the interrupted training"
  "$yard" train --resume "$run" >/dev/null
else
  rm -rf "$run"
  mkdir -p runs
  print_stamp >"$stamp"
  "$yard" train "$config" --out "$run" >/dev/null
fi
best=$run/checkpoints/best
mkdir -p "$run/serving"

# ---- 2, 3. Compare -------------------------------------------------------------------------------
# outdated FILE: succeeds if it is missing or older than the programs or the policy
outdated() {
  # shellcheck disable=SC3013  # Debian's shells support -nt
  [ ! -e "$1" ] || [ "$bin/yardmaster-sim" -nt "$1" ] || [ "$best/manifest.json" -nt "$1" ]
}

step 10 "comparing it with its untrained network and with heuristics on unseen jobs"
if outdated "$found/seeds.txt"; then
  scripts/demo_seeds.sh "$best" >"$run/serving/seeds.txt"
  mkdir -p "$found"
  mv "$run/serving/seeds.txt" "$found/seeds.txt"
else
  kept
fi
sed 's/^/      /' "$found/seeds.txt"

step 10 "replaying a longer workload of unseen jobs for the report"
# shellcheck disable=SC2086  # $unseen and $sizes are several arguments
if outdated "$found/replay.json"; then
  "$yard" evaluate --checkpoint "$best" --against "$heuristics" $unseen --generate-jobs 2000 --set $sizes --replicas 2 \
    --json-out "$found/unseen.json" >"$found/unseen.txt"
  "$yard" simulate --policy "checkpoint:$best,untrained:$best,$heuristics" $unseen --generate-jobs 600 --set $sizes \
    --series-out "$found/replay.series.json" --json-out "$found/replay.json" \
    --jobs-out "$found/replay.csv" >"$found/replay.txt"
else
  kept
fi
awk -v best="$best" 'NR > 1 {
  if ($1 == "checkpoint:" best) name = "harmony"
  else if ($1 == "untrained:" best) name = "harmony, untrained"
  else name = ""
  if (name != "") sub(/^[^ ]+ */, sprintf("%-" (match($0, / +[^ ]/) + RLENGTH - 2) "s", name))
  print ($0 == "" ? "" : "      " $0)
}' "$found/replay.txt"

# ---- 4 to 6. Serve -------------------------------------------------------------------------------
start_server() {
  : >"$run/serving/address.txt"
  "$bin/yardmaster-serve" serve --checkpoint "$model" --name harmony --listen 127.0.0.1:0 \
    --http 127.0.0.1:0 --grace 0 >"$run/serving/address.txt" 2>"$run/serving/log.txt" &
  server=$!
  address=
  tries=0
  while [ -z "$address" ]; do
    address=$(sed -n 's/^listening grpc=\([^ ]*\).*/\1/p' "$run/serving/address.txt")
    tries=$((tries + 1))
    if ! kill -0 "$server" 2>/dev/null || [ "$tries" -gt 100 ]; then
      cat "$run/serving/log.txt" >&2
      fail "the server did not start"
    fi
    sleep 0.1
  done
  echo "      the server listens on $address"
}

step 2 "serving it"
rm -rf "$model"
cp -r "$best" "$model"
start_server

ask() {  # ask SOURCE: requests a decision; fails unless it comes from SOURCE
  "$yard" decide --server "$address" --snapshot "$snapshot" >"$run/serving/decision.txt"
  grep -q "^source $1\b" "$run/serving/decision.txt"
}
show() { sed 's/^/      /' "$run/serving/decision.txt"; }

echo "      requesting a decision for $snapshot:"
ask POLICY || { show; fail "expected a decision by the policy"; }
show

step 3 "damaging the model file: the version in memory decides, after a restart a heuristic"
printf 'not a weight' | dd of="$model/model.safetensors" bs=1 seek=64 conv=notrunc 2>/dev/null
kill -HUP "$server"
tries=0
until grep -q "serving the version in memory" "$run/serving/log.txt"; do
  tries=$((tries + 1))
  if [ "$tries" -gt 50 ]; then fail "expected the server to refuse the damaged model"; fi
  sleep 0.1
done
ask POLICY || { show; fail "expected a decision by the version in memory"; }
head -1 "$run/serving/decision.txt" | sed 's/^/      /'
stop_server
start_server
ask HEURISTIC || { show; fail "expected a decision by the heuristic"; }
show

step 3 "stopping the server: the client's heuristic answers"
stop_server
ask CLIENT_HEURISTIC || { show; fail "expected a decision by the client"; }
show

# ---- 7. Report -----------------------------------------------------------------------------------
step 2 "writing the report"
report=$("$yard" report "$run")
printf '\n'
sed -n 's/^Verdict: //p' "$found/seeds.txt"
printf '\nDone after %s. The report: %s/%s\n' "$(clock $(($(date +%s) - began)))" "$(pwd)" "$report"
