#!/usr/bin/env bash
# reference.sh [--check]: writes the generated pages of docs/reference from the built programs.
# --check: changes nothing; prints a diff and exits 1 where a page differs from what the programs print.
# YARD_BIN: folder of the programs (default build/bin), which must all be built. Needs Python 3.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
check=
case "$*" in
  "") ;;
  --check) check=1 ;;
  *) echo "usage: scripts/reference.sh [--check]" >&2 && exit 2 ;;
esac

pages=$(mktemp -d)
trap 'rm -rf "$pages"' EXIT
python3 scripts/reference.py "${YARD_BIN:-build/bin}" "$pages" || exit 2
if [[ -z $check ]]; then
  cp "$pages"/*.md docs/reference/
  exit
fi
status=0
for page in "$pages"/*.md; do
  name=docs/reference/$(basename "$page")
  diff --unified --new-file --label "$name" --label "$name from $(basename "$0")" "$name" "$page" || status=1
done
[[ $status == 0 ]] || echo "reference.sh: pages are out of date; run scripts/reference.sh" >&2
exit $status
