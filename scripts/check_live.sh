#!/usr/bin/env bash
# Long checks against real peers, one stage each. A stage which passed at this commit is not run again. Writes
# the date, commit, time and figure of each to evaluations/live.json, and ends with that table; fails if a
# stage failed. What the machine cannot run is listed as skipped.
#   ONLY=slurm,prometheus  only these stages     FORCE=1  also those which passed at this commit
#   LIVE_TABLE=FILE        another table than evaluations/live.json
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
only=${ONLY:-slurm,prometheus,requests}
table=${LIVE_TABLE:-evaluations/live.json}
failed=0
mkdir -p build/live

# table note NAME VERDICT SECONDS FIGURE | table passed NAME | table show
table() {
  python3 scripts/live_table.py "$table" "$@"
}

selected() { [[ ",${only// /,}," == *",$1,"* ]]; }

# stage NAME COMMAND...: the last line that the command prints is its figure.
stage() {
  local name=$1 begin=$SECONDS verdict=ok
  shift
  selected "$name" || return 0
  if [[ -z ${FORCE:-} ]] && table passed "$name"; then
    echo "== $name: passed at this commit (FORCE=1 runs it again)"
    return 0
  fi
  echo "== $name"
  "$@" 2>&1 | tee "build/live/$name.log" || verdict=FAILED
  [[ $verdict == ok ]] || failed=1
  table note "$name" "$verdict" $((SECONDS - begin)) "$(tail -n 1 "build/live/$name.log")"
}

# skip NAME REASON: leaves an earlier result in the table.
skip() {
  selected "$1" && echo "== $1 skipped: $2"
}

selected slurm && scripts/install.sh slurm
if command -v slurmctld >/dev/null && [[ $(id -u) -eq 0 ]]; then
  stage slurm tests/live/slurm.sh
else
  skip slurm "needs root and Slurm (scripts/install.sh slurm)"
fi
selected prometheus && scripts/install.sh prometheus
if command -v prometheus >/dev/null && command -v promtool >/dev/null; then
  stage prometheus tests/live/prometheus.sh
else
  skip prometheus "needs Prometheus (scripts/install.sh prometheus)"
fi
if [[ -x build/tests/yard_serving_test ]]; then
  stage requests tests/live/requests.sh
else
  skip requests "needs the tests (make test)"
fi

echo
table show
exit $failed
