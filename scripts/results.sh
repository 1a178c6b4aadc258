#!/usr/bin/env bash
# results.sh: the tables of docs/results.md that are made from experiments/cells.yaml: tunes the families
# of heuristics, scores everybody on the validation cells, writes the tables. What an earlier call has
# finished, under runs/results, is kept; an interrupted call goes on. ONLY=tune|validate|tables, or of
# tune one family (ONLY=tune/las), does that alone. Nothing here opens a test split. Needs jq.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
yard=${YARD_BIN:-build/bin}/yardmaster
cells=experiments/cells.yaml
kept=runs/results
tuned=experiments/tuned
only=${ONLY:-}

# Minutes of each stage on 2 cores, from nothing.
families="las:4 2d-las:25 gittins:40 srsf-qssf:25 srtf-qssf:25"
stages=
for family in $families; do stages+="tune/${family%:*} ${family#*:}"$'\n'; done
stages+="validate 45"$'\n'
stages+="tables 0"$'\n'

wanted() { [[ -z $only || $1 == "$only" || $1 == "$only"/* ]]; }

total=0
while read -r name minutes; do
  if [[ -n $name ]] && wanted "$name"; then total=$((total + minutes)); fi
done <<<"$stages"
if ! grep -qE "^${only//./\\.}(/| )" <<<"$stages" && [[ -n $only ]]; then
  echo "results.sh: ONLY: expected one of: $(awk 'NF { printf "%s%s", sep, $1; sep = ", " }' <<<"$stages"), got '$only'" >&2
  exit 2
fi
printf 'about %d h %02d min on 2 cores from nothing; what is kept in %s is not done again\n' \
  $((total / 60)) $((total % 60)) "$kept"
mkdir -p "$kept" "$tuned" evaluations

for family in $families; do
  name=${family%:*}
  wanted "tune/$name" || continue
  echo "== tune $name"
  "$yard" tune --cells "$cells" --only tune,tune-philly --policy "$name" --budget 200 \
    --results "$kept/tune" --out "$tuned/$name.yaml"
done

if wanted validate; then
  echo "== validate"
  ours=survival,srsf-history,srtf-history,sjf-history
  for file in "$tuned"/*.yaml; do
    if [[ -f $file ]]; then ours+=,$file; fi
  done
  "$yard" evaluate --cells "$cells" --only validate --candidate "$ours" --out "$kept/scores" \
    --json-out "$kept/validate.json"
  # What the tables need: the whole document has every policy again for every candidate.
  jq '{cells_file, summary, cells: [.cells[] | .policies |= map({policy, information, mean_jct_s})
    | del(.bounds)]}' "$kept/validate.json" >evaluations/validate.json
fi

if wanted tables; then scripts/results_tables.sh; fi
