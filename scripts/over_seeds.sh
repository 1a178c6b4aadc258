#!/usr/bin/env bash
# over_seeds.sh FIRST LAST OPTION...: `yardmaster simulate OPTION... --seed N` for each seed, then the
# mean JCT of the first policy over that of each other: geometric mean over the seeds and the 95 % t
# interval of its logarithm. Needs jq.
set -euo pipefail
cd "$(dirname "$0")/.."
[[ $# -ge 3 ]] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
first=$1 last=$2
shift 2
for ((seed = first; seed <= last; ++seed)); do
  build/bin/yardmaster simulate "$@" --seed "$seed" --json 2>/dev/null |
    jq -r '[.runs[] | .mean_jct_s] | map(log) | . as $jct | [$jct[] | $jct[0] - .] | @tsv'
done | awk -v names="$(build/bin/yardmaster simulate "$@" --seed "$first" --json 2>/dev/null |
  jq -r '[.runs[].policy] | join("\t")')" '
  { for (i = 2; i <= NF; ++i) { sum[i] += $i; square[i] += $i * $i } }
  END {
    # Quantile of t by its expansion around the normal one: right to 0.001 from 8 seeds on.
    z = 1.959964; v = NR - 1
    t = z + (z ^ 3 + z) / (4 * v) + (5 * z ^ 5 + 16 * z ^ 3 + 3 * z) / (96 * v ^ 2)
    t += (3 * z ^ 7 + 19 * z ^ 5 + 17 * z ^ 3 - 15 * z) / (384 * v ^ 3)
    n = split(names, name, "\t")
    printf "%s over, %d seeds\n", name[1], NR
    for (i = 2; i <= n; ++i) {
      mean = sum[i] / NR
      half = t * sqrt((square[i] / NR - mean ^ 2) / v)
      printf "%-40s %.3f  %.3f to %.3f\n", name[i], exp(mean), exp(mean - half), exp(mean + half)
    }
  }'
