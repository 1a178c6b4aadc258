#!/bin/sh
# fuzz.sh [SECONDS] [FORMAT...]: runs libFuzzer for SECONDS (default 60) on each kind of input file
# (traces by format, cluster, nodes-LIST, faults, profile-SOURCE, ...), or on the given FORMATs, one
# after the other. New coverage is kept in build/fuzz/corpus. Inputs that break a reader are saved as
# build/fuzz/found/FORMAT-crash-* and make this script fail. After a fix, add such an input to
# tests/fuzz/corpus/FORMAT, where the tests read it.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-60}
[ $# -eq 0 ] || shift
scripts/build.sh fuzz "$(nproc)" >/dev/null
fuzz=build/fuzz/bin/fuzz_reader
formats=$("$fuzz" --examples build/fuzz/corpus)
[ $# -eq 0 ] || formats=$*
mkdir -p build/fuzz/found
failed=0
for format in $formats; do
  kept=tests/fuzz/corpus/$format
  [ -d "$kept" ] || kept=
  if [ "$format" = cluster ]; then kept="$kept experiments/clusters"; fi
  # shellcheck disable=SC2086  # $kept is folders or nothing
  if "$fuzz" --format "$format" "build/fuzz/corpus/$format" $kept -max_total_time="$seconds" \
    -max_len=4096 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/found/$format-" >build/fuzz/log 2>&1; then
    runs=$(sed -n 's/stat::number_of_executed_units: *//p' build/fuzz/log)
    echo "$format: ok, $runs inputs"
  else
    failed=1
    echo "$format: FAILED"
    grep -m 3 -E 'ERROR|what\(\)|check' build/fuzz/log || tail -n 5 build/fuzz/log
  fi
done
exit "$failed"
