#!/usr/bin/env bash
# plot_growth.sh [BENCH.json]: docs/design/growth.svg, time per event as jobs and GPUs grow, from what
# `yardmaster bench growth --json` printed (measured again if no file is given). Needs gnuplot and jq.
set -euo pipefail
cd "$(dirname "$0")/.."
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
if [[ $# -gt 0 ]]; then cp "$1" "$data/json"; else build/bin/yardmaster bench growth --json >"$data/json"; fi

# table KEY OTHER VALUE: by rising KEY, where OTHER is VALUE: KEY and each policy's time.
table() {
  jq -r --arg key "$1" --arg other "$2" --argjson value "$3" '
    [.results[] | select(.detail[$other] == $value)] | group_by(.detail[$key])[]
    | [.[0].detail[$key], (.[] | .value)] | @tsv' "$data/json" >"$data/$1"
}
table jobs gpus 1000
table gpus jobs 100000

gnuplot <<PLOT
set terminal svg size 900,380 font "sans-serif,13" background "white"
set output "docs/design/growth.svg"
set multiplot layout 1,2
set logscale xy
set yrange [0.05:30]
set grid lc rgb "#dddddd"
set key top left
set ylabel "µs an event"
set format x "10^{%L}"
policies = "fifo greedy las srtf"
set xlabel "jobs (1,000 GPUs)"
plot for [i=1:4] "$data/jobs" using 1:(column(i+1)) with linespoints lw 2 title word(policies, i)
set xlabel "GPUs (100,000 jobs)"
plot for [i=1:4] "$data/gpus" using 1:(column(i+1)) with linespoints lw 2 title word(policies, i)
PLOT
