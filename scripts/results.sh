#!/usr/bin/env bash
# results.sh: makes evaluations/*.json and their tables (docs/results.md, evaluations/tables): tunes the heuristics and
# the agents' rivals, searches the seeds of the pilot, trains its gradient stage and the learned rival, learns on the
# embedded workload, scores all policies, and trains and scores the agents of the literature. Results of earlier calls in
# runs/results are kept; an interrupted call resumes. ONLY=STAGE or STAGE/PART (tune/las, pilot/3, scores/validate)
# runs only that and the tables. Test splits (the last fifth of a trace's time) and clusters without training are
# opened only by ONLY=test, test/GROUP, or a goal: a (test, unseen, printed, and the five seeds pooled), b (mixed-),
# c (permissions of clusters) or sizes (half and double clusters and loads); d is the embedded workload. Needs jq.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
yard=${YARD_BIN:-build/bin}/yardmaster
cells=experiments/cells.yaml
kept=runs/results
tuned=experiments/tuned
only=${ONLY:-}

# Minutes of each part on 2 cores, from scratch.
families="las:4 2d-las:25 gittins:40 srsf-qssf:25 srtf-qssf:25 srsf-move:8"
rivals="afs:10 exchange-sjf:1 survival-consolidate:60"
seeds="1:10 2:10 3:10 4:10 5:10"
gradients="1:5 2:5 3:5 4:5 5:5"
embedded="start:2 untuned-1:2 untuned-2:2 untuned-3:2 untuned-4:2 untuned-5:2 tuned-1:2 tuned-2:2 tuned-3:2 tuned-4:2
  tuned-5:2 score:6"
scores="validate:60 mixed-validate:30 start-validate:40 requeue-validate:40"
agents="sched2:20 harmony:8 dl2:30 dl2-start:1 dl2-untrained:1 mlfs:25 sched2-anywhere:15 harmony-unmodelled:8 harmony-blind:8 harmony-measured:8
  harmony-actor-critic:10 harmony-flat:8 dl2-alone:25 mlfs-load:5 meta:40 rules:2"
tests="test:60 unseen:30 printed:2 mixed-test:30 mixed-unseen:10 start-test:40 requeue-test:40 sizes:20 agents-sched2:10 agents-mlfs:15"

# The cells on which pilots are searched, and those on which the best is selected: one replica of short
# stretches of the training part of each log, and of the part after it.
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
add_stages tune-rival "$rivals"
add_stages pilot "$seeds"
add_stages gradient "$gradients"
stages+="rival 10"$'\n'
add_stages embedded "$embedded"
add_stages scores "$scores"
add_stages agents "$agents"
stages+="tables 0"$'\n'
asked=$stages
parts=$only
case $only in
  a) parts="test/test test/unseen test/printed" ;;
  b) parts="test/mixed-test test/mixed-unseen" ;;
  c) parts="test/start-test test/requeue-test" ;;
  d) parts=embedded ;;
  sizes) parts=test/sizes ;;
esac
if [[ $parts == test || $parts == test/* ]]; then add_stages test "$tests"; fi

wanted() {
  [[ -n $parts || $1 != test/* ]] || return 1
  [[ -n $parts ]] || return 0
  local part
  for part in $parts; do
    if [[ $1 == "$part" || $1 == "$part"/* ]]; then return 0; fi
  done
  return 1
}

total=0
while read -r name minutes; do
  if [[ -n $name ]] && wanted "$name"; then total=$((total + minutes)); fi
done <<<"$stages"
for part in $parts; do
  if grep -qE "^${part//./\\.}(/| )" <<<"$stages"; then continue; fi
  echo "results.sh: ONLY: expected one of: a, b, c, d, sizes, $(awk 'NF { printf "%s, ", $1 }' <<<"$asked")test/GROUP, got '$only'" >&2
  exit 2
done
printf 'about %d h %02d min on 2 cores from scratch; results kept in %s are reused\n' \
  $((total / 60)) $((total % 60)) "$kept"
mkdir -p "$kept" "$tuned" evaluations

# Of a placement rule only the eight constants of published rules are tuned, on cells where placement matters.
# The others, which are additions of ours, keep their defaults.
mixed="mixed-validate/mixed-itp-04/x1,mixed-validate/mixed-itp-08"
pinned="srsf-move.cost_weight=1 srsf-move.fragmentation=0.1 srsf-move.move_cost=2 srsf-move.settle_s=600"
for number in preemption_penalty migration_penalty spread {rate,price,hold}_by_{length,size,queue} margin_by_{size,queue} \
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

# The agents' rivals with numeric settings, on the agents' training workloads, with the same budget. If a rival
# accepts a placement, it gets the best one there: for exchange-sjf `consolidate`, of four.
for rival in $rivals; do
  name=${rival%:*}
  wanted "tune-rival/$name" || continue
  echo "== tune $name"
  tuning=(--budget 200 --out "experiments/rivals/$name-tuned.yaml")
  case $name in
    afs) "$yard" tune --trace synthetic:servers --generate-jobs 3000 --cluster servers-13 --seed 1001 --from 10% \
      --profiles experiments/speeds/servers.csv --policy afs --replicas 2 "${tuning[@]}" ;;
    exchange-sjf) "$yard" tune --cells experiments/meta.yaml --only train --results "$kept/tune" --policy exchange-sjf \
      --set exchange-sjf.placement=consolidate "${tuning[@]}" ;;
    survival-consolidate) "$yard" tune --cells experiments/sched2.yaml --only train --replicas 1 --results "$kept/tune" \
      --policy survival --set survival.preempt=false survival.placement=consolidate survival.margin_log2=2 survival.cost_weight=1 \
      survival.timer_s=300 "${tuning[@]}" ;;
  esac
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
  "$yard" verify --checkpoint "checkpoints/pilot-$n" --envelope write >/dev/null
  touch "$kept/pilot-$n.done"
done

source scripts/train_kept.sh

for seed in $gradients; do
  n=${seed%:*}
  wanted "gradient/$n" || continue
  echo "== gradient, seed $n"
  train "$kept/gradient-$n" "$kept/pilot-$n.yaml" experiments/configs/gradient.yaml --set "seed=$n" "rule=$kept/pilot-$n.yaml"
done

if wanted rival; then
  echo "== rival"
  train "$kept/rlscheduler" "" experiments/configs/rlscheduler.yaml
fi

# The embedded workload: the start is a rule whose 16 constants are searched. The other 14 are learned from
# there, and all from the defaults of joint.
shape=rate_by_length,rate_by_size,rate_by_queue,price_by_length,price_by_size,price_by_queue,hold_by_length
shape+=,hold_by_size,hold_by_queue,margin_by_size,margin_by_queue,order_by_gain,order_by_wait,order_by_size
constants=gpu_exponent,margin_log2,cost_weight,timer_s,rate_floor,patience_s,type_price,interference_cost
constants+=,fragmentation,preemption_penalty,migration_penalty,spread,move_gain_log2,move_cost,settle_s,gittins
learn_embedded() {  # NAME SEED OPTION...
  local out=$kept/embedded-$1.yaml resume=()
  if [[ -f ${out%.yaml}.done ]]; then return; fi
  if [[ -f ${out%.yaml}.search.json ]]; then resume=(--resume); fi
  "$yard" evolve --policy joint --trace synthetic:mixed --generate-jobs 40000 --cluster mixed-9 --to 70% \
    --validate-from 70% --validate-to 100% --set joint.keep_s=600 --episodes 120 --episode-jobs 256 \
    --episode-warmup 0 --drain --validation-episodes 24 --candidates 16 --meet 16 --step 0.08 \
    --generations 14 --seed "$2" "${@:3}" --out "$out" "${resume[@]}"
  touch "${out%.yaml}.done"
}
for part in $embedded; do
  name=${part%:*}
  wanted "embedded/$name" || continue
  echo "== embedded $name"
  case $name in
    start)
      learn_embedded start 21 --learn "$constants"
      cp "$kept/embedded-start.yaml" experiments/configs/tuned-9.yaml
      ;;
    untuned-*) learn_embedded "$name" "10${name#*-}" ;;
    tuned-*)
      learn_embedded "$name" "20${name#*-}" --start experiments/configs/tuned-9.yaml --learn "$shape"
      ;;
    score)
      if [[ -f $kept/embedded.json && ! $(find "$kept" -name 'embedded-*.yaml' -newer "$kept/embedded.json") ]]; then continue; fi
      for from in untuned tuned; do
        start=joint
        if [[ $from == tuned ]]; then start=experiments/configs/tuned-9.yaml; fi
        for n in 1 2 3 4 5; do
          scripts/over_seeds.sh 5101 5160 --trace synthetic:mixed --cluster mixed-9 \
            --policy "$kept/embedded-$from-$n.yaml,$start,srsf-move" |
            jq -Rn --arg from "$from" --arg seed "$n" '[inputs | capture(
              "^(?<against>\\S+) +(?<ratio>[0-9.]+) +(?<lo>[0-9.]+) to (?<hi>[0-9.]+)$")
              | .ratio |= tonumber | .lo |= tonumber | .hi |= tonumber] | map({from: $from, seed: ($seed | tonumber)} + .) | .[]'
        done
      done | jq -s . >"$kept/embedded.part"
      if [[ $(jq length "$kept/embedded.part") != 20 ]]; then
        echo "results.sh: over_seeds.sh: expected two ratios a seed, got $(cat "$kept/embedded.part")" >&2
        exit 1
      fi
      mv "$kept/embedded.part" "$kept/embedded.json"
      cp "$kept/embedded.json" evaluations/embedded.json
      ;;
  esac
done

. scripts/results_agents.sh

# score GROUP POLICIES [CELLS] [SEEDS]: scores the rivals of the cells and POLICIES on a group or some of its
# cells; SEEDS, which are among POLICIES, also pooled.
score() {
  local group=$1
  "$yard" evaluate --cells "$cells" --only "${3:-$group}" --out "$kept/scores" --candidate "$2" \
    ${4:+--checkpoint "$4"} --json-out "$kept/$group.json"
  for_tables "$group"
}

# for_tables GROUP [WHO]: the part of a group's document that the tables need: the whole document repeats every
# policy for every candidate. WHO: a condition on rows.
# shellcheck disable=SC2016  # the dollars are jq's
shorter='
  def nearest: [.policies[] | select(.candidate_ratio != null) | {policy, ratio: .candidate_ratio, lo, hi}] | sort_by(-.ratio)[:3];
  def tuned: [.others[] | select(.policy | test("/tuned/")) | {policy, ratio, lo, hi}];
  def short:
    if .seeds > 1 then .against = nearest + tuned else . end
    | if .policy | test("gradient-") then .others |= map(select(.policy | test("pilot-"))) else del(.others) end
    | del(.bounds, .policies);
'
seeds_as_one='.policy | test("more seeds")'
for_tables() {
  jq "$shorter"'{cells_file, summary: [.summary[] | select('"${2:-true}"')], cells: [.cells[] | select('"${2:-true}"') | short]}' \
    "$kept/$1.json" >"$kept/table.part"
  mv "$kept/table.part" "evaluations/$1.json"
}

ours=joint,survival
for file in "$tuned"/*.yaml; do
  if [[ -f $file ]]; then ours+=,$file; fi
done
pilots=
for folder in checkpoints/pilot-*; do
  if [[ -f $folder/manifest.json ]]; then pilots+=,checkpoint:$folder; fi
done
for part in $scores; do
  group=${part%:*}
  wanted "scores/$group" || continue
  echo "== scores $group"
  score "$group" "$ours$pilots"
done
rule=
if [[ -f $tuned/srsf-move.yaml ]]; then rule=,$tuned/srsf-move.yaml; fi
# All policies must exist already: scoring another list would open the test split once more.
trained() {  # NAME...: as candidates
  local name
  for name in "$@"; do
    if [[ ! -f $kept/$name/done ]]; then
      echo "results.sh: $kept/$name: expected a training (ONLY=rival, ONLY=gradient), got none" >&2
      return 2
    fi
    printf ',checkpoint:%s' "$kept/$name/checkpoints/best"
  done
}
as_one=${pilots//,checkpoint:/,}
as_one=${as_one#,}
for part in $tests; do
  group=${part%:*}
  [[ $group != agents-* ]] || continue  # scored by results_agents.sh
  wanted "test/$group" || continue
  if [[ $group == mixed-* ]]; then
    others=$rule$(trained gradient-{1..5})
  else
    others=$(trained rlscheduler)
  fi
  echo "== test $group"
  some=$group
  # A test split is opened five times at most. That of ITP 08 had been before the pilot's index was fixed for
  # clusters that only start jobs.
  if [[ $group == start-test ]]; then some="start-test/itp-04,start-test/itp-05,start-test/philly,start-test/tacc"; fi
  # Other sizes and loads than those on which the baseline was chosen; Philly and TACC would take hours.
  if [[ $group == sizes ]]; then
    some=
    for other in half-cluster double-cluster half-load double-load; do
      some+=,$other-test/itp-04,$other-test/itp-05,$other-test/itp-08
    done
    some=${some#,}
  fi
  score "$group" "joint$pilots$others" "$some" "$as_one"
  if [[ $group == sizes ]]; then for_tables sizes "$seeds_as_one"; fi
done
if wanted test/test && wanted test/unseen; then
  echo "== test, the pilot's seeds pooled, over all cells"
  "$yard" evaluate --cells "$cells" --only test,unseen,printed --out "$kept/scores" \
    --candidate "joint$pilots$(trained rlscheduler)" --checkpoint "$as_one" --json-out "$kept/goal.json"
  for_tables goal "$seeds_as_one"
fi

scripts/results_tables.sh
