#!/usr/bin/env bash
# over_seeds.sh FIRST LAST OPTION...: `yardmaster simulate OPTION... --seed N` for each of at least
# eight seeds, then the mean JCT of the first policy over that of each other: geometric mean over the
# seeds and the 95 % t interval of its logarithm.
set -euo pipefail
yardmaster=${YARD_BIN:-$(dirname "${BASH_SOURCE[0]}")/../build/bin}/yardmaster
if [[ $# -lt 3 || ! $1 =~ ^[0-9]+$ || ! $2 =~ ^[0-9]+$ || $2 -lt $(($1 + 7)) ]]; then
  sed -n '2,4s/^# //p' "$0" >&2
  exit 2
fi
first=$1 last=$2
shift 2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for ((seed = first; seed <= last; ++seed)); do
  "$yardmaster" simulate "$@" --seed "$seed" --json 2>"$log" || { cat "$log" >&2; exit 1; }
done | awk '
  # Of each run the first two of these keys, a line each; a document begins with its runs.
  /^{/ { if (NR > 1) print ""; row = "" }
  /^      "policy":/ { split($0, part, "\""); name = part[4]; waits = 1 }
  /^      "mean_jct_s":/ && waits {
    value = $2
    sub(",", "", value)
    printf "%s%s %.12f", row, name, log(value)
    row = "\t"
    waits = 0
  }
  END { print "" }' | awk -F '\t' '
  {
    n = NF
    for (i = 1; i <= NF; ++i) {
      split($i, part, " ")
      name[i] = part[1]
      if (i == 1) own = part[2]
      ratio = own - part[2]
      sum[i] += ratio
      square[i] += ratio * ratio
    }
  }
  END {
    if (NR < 8) exit 1
    # Quantile of t by its expansion around the normal one: right to 0.001 from 8 seeds on.
    z = 1.959964; v = NR - 1
    t = z + (z ^ 3 + z) / (4 * v) + (5 * z ^ 5 + 16 * z ^ 3 + 3 * z) / (96 * v ^ 2)
    t += (3 * z ^ 7 + 19 * z ^ 5 + 17 * z ^ 3 - 15 * z) / (384 * v ^ 3)
    printf "%s over, %d seeds\n", name[1], NR
    for (i = 2; i <= n; ++i) {
      mean = sum[i] / NR
      variance = square[i] / NR - mean ^ 2
      half = variance > 0 ? t * sqrt(variance / v) : 0
      printf "%-40s %.3f  %.3f to %.3f\n", name[i], exp(mean), exp(mean - half), exp(mean + half)
    }
  }'
