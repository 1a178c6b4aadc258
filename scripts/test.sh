#!/bin/sh
# test.sh FOLDER JOBS [CTEST ARGUMENT...]: runs the tests built in FOLDER, names why any were skipped
# and ends with "N passed, N failed, N skipped".
set -eu
cd "$(dirname "$0")/.."
folder=$1
jobs=$2
shift 2

results=$PWD/$folder/test-results.xml
rm -f "$results"
status=0
ctest --test-dir "$folder" --parallel "$jobs" --output-on-failure --no-tests=error \
  --output-junit "$results" "$@" || status=$?
if [ -f "$results" ]; then
  echo
  awk -f scripts/test_summary.awk "$results"
fi
exit "$status"
