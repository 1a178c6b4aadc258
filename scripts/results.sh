#!/usr/bin/env bash
# results.sh: the tables of docs/results.md that are made from experiments/cells.yaml: tunes the families
# of heuristics, searches the pilot's seeds, scores everybody, writes the tables. What an earlier call
# has finished, under runs/results, is kept; an interrupted call goes on. ONLY=STAGE or STAGE/PART
# (tune/las, pilot/3, scores/validate) does that alone. The last fifth of a trace's time and the
# clusters that nobody trained on are opened by ONLY=test or test/GROUP alone, never otherwise. Needs jq.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
yard=${YARD_BIN:-build/bin}/yardmaster
cells=experiments/cells.yaml
kept=runs/results
tuned=experiments/tuned
only=${ONLY:-}

# Minutes of each part on 2 cores, from nothing.
families="las:4 2d-las:25 gittins:40 srsf-qssf:25 srtf-qssf:25 srsf-move:8"
seeds="1:10 2:10 3:10 4:10 5:10"
scores="validate:60 mixed-validate:30 start-validate:40 requeue-validate:40"
tests="test:60 unseen:30 printed:2 mixed-test:30 mixed-unseen:10 start-test:40 requeue-test:40"

# What pilots are searched on, and what is kept is best on: one replica of short stretches of the
# training part of each log, and of the part after it.
small_train=small-train/small-itp-04/x0.3,small-train/itp-08/x0.3
small_validate=
for log in small-itp-04 itp-08 small-philly small-tacc; do
  small_train+=,small-train/$log/x1,small-train/$log/x3
  small_validate+=small-validate/$log/x1,small-validate/$log/x3,
done
small_train+=,small-train/itp-05/x1,mixed-train
small_validate+=small-validate/itp-05/x1,mixed-validate

stages=
add_stages() {  # STAGE "PART:MINUTES..."
  for part in $2; do stages+="$1/${part%:*} ${part#*:}"$'\n'; done
}
add_stages tune "$families"
add_stages pilot "$seeds"
add_stages scores "$scores"
stages+="tables 0"$'\n'
asked=$stages
if [[ $only == test || $only == test/* ]]; then add_stages test "$tests"; fi

wanted() {
  [[ $1 != test/* || -n $only ]] && [[ -z $only || $1 == "$only" || $1 == "$only"/* ]]
}

total=0
while read -r name minutes; do
  if [[ -n $name ]] && wanted "$name"; then total=$((total + minutes)); fi
done <<<"$stages"
if ! grep -qE "^${only//./\\.}(/| )" <<<"$stages" && [[ -n $only ]]; then
  echo "results.sh: ONLY: expected one of: $(awk 'NF { printf "%s, ", $1 }' <<<"$asked")test/GROUP, got '$only'" >&2
  exit 2
fi
printf 'about %d h %02d min on 2 cores from nothing; what is kept in %s is not done again\n' \
  $((total / 60)) $((total % 60)) "$kept"
mkdir -p "$kept" "$tuned" evaluations

# Of a rule for places the eight constants of published ones, where place decides; the others, which
# our own rule adds, stay as they are.
mixed="mixed-validate/mixed-itp-04/x1,mixed-validate/mixed-itp-08"
pinned="srsf-move.cost_weight=1 srsf-move.left_over=0.1 srsf-move.move_cost=2 srsf-move.settle_s=600"
for number in stop clear spread {rate,price,hold}_by_{length,size,queue} margin_by_{size,queue} \
  order_by_{gain,wait,size}; do
  pinned+=" srsf-move.$number=0"
done

for family in $families; do
  name=${family%:*}
  wanted "tune/$name" || continue
  echo "== tune $name"
  on=(--only "tune,tune-philly")
  # shellcheck disable=SC2206  # one word a constant
  if [[ $name == srsf-move ]]; then on=(--only "$mixed" --replicas 1 --set $pinned); fi
  "$yard" tune --cells "$cells" "${on[@]}" --policy "$name" --budget 200 \
    --results "$kept/tune" --out "$tuned/$name.yaml"
done

for seed in $seeds; do
  n=${seed%:*}
  wanted "pilot/$n" || continue
  [[ -f $kept/pilot-$n.done ]] && continue
  echo "== pilot, seed $n"
  resume=()
  if [[ -f $kept/pilot-$n.search.json ]]; then resume=(--resume); fi
  "$yard" evolve --cells "$cells" --only "$small_train" --validate-on "$small_validate" \
    --policy joint --set joint.keep_s=1800 joint.settle_s=600 joint.margin_log2=2 --seed "$n" \
    --episodes 12 --episode-jobs 350 --validation-episodes 3 --candidates 14 --meet 10 --generations 15 \
    --step 0.05 --tails 0.3 --drop preempt,move,hold,choose_type --drop-share 0.1 \
    --out "$kept/pilot-$n.yaml" --checkpoint "checkpoints/pilot-$n" "${resume[@]}"
  touch "$kept/pilot-$n.done"
done

# score GROUP POLICIES: everybody of the cells' yardsticks, and these, on a group.
score() {
  local group=$1
  "$yard" evaluate --cells "$cells" --only "$group" --out "$kept/scores" --candidate "$2" \
    --json-out "$kept/$group.json"
  # What the tables need: the whole document has every policy again for every candidate.
  jq '{cells_file, summary, cells: [.cells[] | .policies |= map({policy, information, mean_jct_s})
    | del(.bounds)]}' "$kept/$group.json" >"evaluations/$group.json"
}

ours=joint,survival
for file in "$tuned"/*.yaml; do
  if [[ -f $file ]]; then ours+=,$file; fi
done
pilots=
for folder in checkpoints/pilot-*; do
  if [[ -f $folder/manifest.json ]]; then pilots+=,checkpoint:$folder; fi
done
score_stage() {  # STAGE "GROUP:MINUTES..." POLICIES
  for part in $2; do
    wanted "$1/${part%:*}" || continue
    echo "== $1 ${part%:*}"
    score "${part%:*}" "$3"
  done
}
score_stage scores "$scores" "$ours$pilots"
rule=
if [[ -f $tuned/srsf-move.yaml ]]; then rule=,$tuned/srsf-move.yaml; fi
score_stage test "$tests" "joint$pilots$rule"

if wanted tables; then scripts/results_tables.sh; fi
