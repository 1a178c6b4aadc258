#!/usr/bin/env bash
# Long checks against real peers. ONLY="slurm ..." selects stages. Ends with a table; fails if a check
# failed. What the machine cannot run is listed as skipped.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
only=${ONLY:-slurm}
table=()
failed=0

check() {  # check NAME COMMAND...
  local name=$1 begin=$SECONDS verdict=ok
  shift
  echo "== $name"
  "$@" || verdict=FAILED
  [[ $verdict == ok ]] || failed=1
  table+=("$(printf '%-8s %-8s %4d s' "$name" "$verdict" $((SECONDS - begin)))")
}

if [[ " $only " == *" slurm "* ]]; then
  scripts/install.sh slurm
  if ! command -v slurmctld >/dev/null || [[ $(id -u) -ne 0 ]]; then
    table+=("slurm    skipped: needs root and Slurm (scripts/install.sh slurm)")
  else
    check slurm tests/live/slurm.sh
  fi
fi

printf '%s\n' "" "${table[@]}"
exit $failed
