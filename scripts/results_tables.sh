#!/bin/sh
# results_tables.sh [--check]: writes evaluations/tables (CSV and index.html) and the tables between `<!-- headline NAME -->`
# and `<!-- end -->` in docs/results.md, all from evaluations/*.json. --check changes nothing and fails if a file differs,
# or if docs/results.md has a measured figure outside of these tables, or another page a ratio with its interval that no
# file has which it names. Needs Python 3.
exec python3 "$(dirname "$0")/results_tables.py" "$@"
