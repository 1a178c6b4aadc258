#!/usr/bin/env bash
# A million requests to a server whose policy hangs, returns NaN, throws, decides illegally and whose
# process is gone, in turn: every answer is legal and in time. The last line has the figures.
#   YARD_FAULTY_REQUESTS=N  another number of requests
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$(mktemp)
trap 'rm -f "$out"' EXIT
export YARD_FAULTY_REQUESTS=${YARD_FAULTY_REQUESTS:-1000000}
status=0
build/tests/yard_serving_test --gtest_filter='FaultyPolicies.*' | tee "$out" || status=$?
# As one line: the total, then the answers by source and reason.
awk '/ requests, / { total = $0 }
     /^(POLICY|HEURISTIC|SAFE_DEFAULT|CLIENT_HEURISTIC) / { kinds = kinds "; " $0 }
     END { print total kinds }' "$out"
exit $status
