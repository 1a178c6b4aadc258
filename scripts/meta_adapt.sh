#!/usr/bin/env bash
# meta_adapt.sh: how fast the agent `meta` adapts to unseen workloads. Meta-trains several seeds, adapts each
# to every shift of experiments/meta.yaml in 5, 20 and 100 episodes, and does the same from scratch, with Harmony,
# and without the second head (20 episodes only). Evaluates all on other jobs of the shifts and prints ratios of
# mean JCT with 95 % intervals over seeds. Results of earlier calls in runs/results/meta are kept.
# SEEDS="1 2" runs these seeds only. Needs jq.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
yard=${YARD_BIN:-build/bin}/yardmaster
config=experiments/configs/meta.yaml
cells=experiments/meta.yaml
kept=runs/results/meta
seeds=${SEEDS:-1 2 3 4 5}
shifts="strangers larger crowded liars all-at-once"
mkdir -p "$kept"

source scripts/train_kept.sh

# quietly FOLDER START SETTING...: trains without output, except for errors. START: the initial checkpoint, or empty.
quietly() {
  local folder=$1 start=$2
  shift 2
  (train "$folder" "" "$config" --set "$@" ${start:+"start=$start"}) >>"$folder.log" 2>&1 && return
  tail -n 1 "$folder.log" >&2
  return 2
}

for seed in $seeds; do
  echo "== meta-training, seed $seed"
  quietly "$kept/meta-$seed" "" "seed=$seed" &
  quietly "$kept/one-head-$seed" "" "seed=$seed" second_head=false
  wait $!
done

# adapt ARM SEED SHIFT UPDATES START SETTING... From scratch the learning rate is ten times as high: with the usual
# one `meta` stays at its start. Harmony does so, too, and is worse with the higher rate.
adapt() {
  local arm=$1 seed=$2 shift=$3 updates=$4 start=$5
  shift 5
  mkdir -p "$kept/$arm-$seed-on"
  quietly "$kept/$arm-$seed-on/$shift-$((5 * updates))" "$start" "only=shift/$shift/x0" meta_updates=0 adapt_updates=0 \
    "updates=$updates" "validate_every=$updates" validate_jobs=60 keep=0 "seed=$seed" "$@"
}
for seed in $seeds; do
  echo "== adapting, seed $seed"
  for shift in $shifts; do
    for updates in 1 4 20; do
      adapt harmony "$seed" "$shift" $updates "" agent=harmony reward_scale=0
    done &
    for updates in 1 4 20; do
      adapt meta "$seed" "$shift" $updates "$kept/meta-$seed/checkpoints/best"
      adapt scratch "$seed" "$shift" $updates "" learning_rate=0.03
    done
    adapt one-head "$seed" "$shift" 4 "$kept/one-head-$seed/checkpoints/best" second_head=false
    wait $!
  done
done

echo "== scores"
files=()
for shift in $shifts; do
  who=
  for seed in $seeds; do
    who+=",checkpoint:$kept/meta-$seed/checkpoints/best,checkpoint:$kept/one-head-$seed-on/$shift-20/checkpoints/last"
    for arm in meta scratch harmony; do
      for episodes in 5 20 100; do
        who+=",checkpoint:$kept/$arm-$seed-on/$shift-$episodes/checkpoints/last"
      done
    done
  done
  "$yard" evaluate --cells "$cells" --only "shift-test/$shift-test/x0" --candidate "${who#,}" --out "$kept/scores" \
    --json-out "$kept/$shift.json" >/dev/null
  files+=("$kept/$shift.json")
done

# One line per seed and shift: mean JCT by arm and episodes, and of the policies compared with. Then, for each seed,
# the geometric mean of a ratio over shifts, and over seeds its mean and Student's t interval.
# shellcheck disable=SC2016  # the dollars are jq's
jq -s --arg seeds "$seeds" --arg shifts "$shifts" '
  def t: {"2": 12.706, "3": 4.303, "4": 3.182, "5": 2.776};
  [.[].cells[] | .cell as $cell | (., .others[]?, .policies[]?) | select(.mean_jct_s != null)
    | {key: (($cell | split("/")[1] | rtrimstr("-test")) + " " + .policy), value: .mean_jct_s}] | from_entries as $jct
  | ($shifts / " ") as $shifts | ($seeds / " ") as $seeds
  | def of($arm; $episodes; $seed; $shift):
      $jct[$shift + " checkpoint:runs/results/meta/" + (if $episodes == 0 then "meta-\($seed)/checkpoints/best"
        else "\($arm)-\($seed)-on/\($shift)-\($episodes)/checkpoints/last" end)];
    def ratio($a; $n; $b; $m):
      [$seeds[] as $seed | [$shifts[] as $shift | (of($a; $n; $seed; $shift) / of($b; $m; $seed; $shift)) | log] | add / length]
      | (add / length) as $mean | length as $k
      | (if $k > 1 then ((map(. - $mean | . * .) | add / ($k - 1) / $k | sqrt) * t["\($k)"]) else null end) as $half
      | {ratio: ($mean | exp), lo: (if $half then $mean - $half | exp else null end), hi: (if $half then $mean + $half | exp else null end)};
    {seeds: ($seeds | length),
     ratios: ([(("5", "20", "100") | tonumber) as $n
         | {meta: $n, scratch: $n} + ratio("meta"; $n; "scratch"; $n), {meta: $n, harmony: $n} + ratio("meta"; $n; "harmony"; $n)]
       + [{meta: 20, one_head: 20} + ratio("meta"; 20; "one-head"; 20), {meta: 20, meta_as_it_is: 0} + ratio("meta"; 20; "meta"; 0)]),
     mean_jct_s: [$shifts[] as $shift | {shift: $shift} + ([("meta", "scratch", "harmony") as $arm | (5, 20, 100) as $n
         | {key: "\($arm)-\($n)", value: ([$seeds[] as $s | of($arm; $n; $s; $shift)] | add / length | round)}] | from_entries)
       + {"meta-0": ([$seeds[] as $s | of("meta"; 0; $s; $shift)] | add / length | round),
          "one-head-20": ([$seeds[] as $s | of("one-head"; 20; $s; $shift)] | add / length | round)}
       + ($jct | with_entries(select((.key | startswith($shift + " ")) and (.key | contains("checkpoint") | not)) | .key |= split(" ")[1] | .value |= round))]}
' "${files[@]}" | tee "$kept/adapted.json"
