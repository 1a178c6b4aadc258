#!/usr/bin/env bash
# mlfs_units.sh: computes the units in experiments/configs/mlfs-links.yaml: how much six rules differ in each
# goal of MLFS' reward (equation 7) per job, on the training part of experiments/mlfs-links.yaml at both of its
# congestions. Prints the goals of each rule, then the unit of each goal: the standard deviation over the
# rules (root mean square over congestions), or 1 if all rules are equal.
#
# The rules are fifo, greedy, las, fair-share, mlf-h, and mlf-h with load control. Without load control every
# job runs to its end, so that all rules have the same accuracy. Validation and test parts are not read.
# TO=20% uses less of the training part. Needs jq.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
yard=${YARD_BIN:-build/bin}/yardmaster
traces=${YARD_TRACES:-../shared/traces}
kept=${OUT:-runs/results/mlfs-units}
to=${TO:-60%}
mkdir -p "$kept"

# As the cells of the group `train` are played.
workload=(--trace "$traces/philly-2017/philly.csv.gz" --format philly --cluster p3-20 --skip-unusable
  --profiles "$traces/gavel/simulation_throughputs.json.gz,$traces/pipedream-layers/resnet18.graph.txt.gz,$traces/pipedream-layers/resnet50.graph.txt.gz"
  --set models.draw=true --set demands.draw=true --from +604800 --to "$to" --warmup 0 --seed 20215)

# NAME CONGESTION OPTION...: plays it, unless an earlier call did.
play() {
  local file=$kept/$1-x$2.json
  if [ ! -s "$file" ]; then
    "$yard" simulate "${workload[@]}" --congestion "$2" "${@:3}" --json-out "$file" >/dev/null
  fi
}

for congestion in 1 3; do
  for rule in fifo greedy las fair-share mlf-h; do
    play "$rule" "$congestion" --policy "$rule"
  done
  play mlf-h-load "$congestion" --policy mlf-h --set mlf-h.load_control=true
done

for file in "$kept"/*-x[13].json; do
  jq -c --arg name "$(basename "$file" .json)" '.trace.jobs_played as $all | .runs[0] | {
    rule: ($name | sub("-x.*"; "")), congestion: ($name | sub(".*-x"; "")),
    jct: (.mean_jct_s / 3600), deadline: (.deadlines.met / .jobs), bytes: (.moved_bytes / 1e12 / $all),
    enough: (.accuracy.reached / .jobs), accuracy: (.accuracy.mean * .accuracy.jobs / .jobs)}' "$file"
done | jq -rs '
  def mean: add / length;
  def variance: mean as $m | map(. - $m | . * .) | add / (length - 1);
  def digits: if . == 0 then 0 else (. | log10 | floor) as $e | pow(10; 2 - $e) as $s | (. * $s | round) / $s end;
  ["jct", "deadline", "bytes", "enough", "accuracy"] as $goals
  | (["rule", "x", "job-hours", "in time", "10^12 bytes", "enough", "accuracy"] | @tsv),
    (sort_by(.congestion)[] | . as $row | [.rule, .congestion] + [$goals[] | $row[.] * 1e6 | round / 1e6] | @tsv),
    "",
    ($goals[] as $goal
      | (group_by(.congestion) | map(map(.[$goal]) | variance) | mean | sqrt | digits) as $spread
      | "\($goal)_unit: \(if $spread == 0 then 1 else $spread end)")'
