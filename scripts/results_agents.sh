# The agents of the literature, for results.sh, which sources it: five training seeds of each and of each
# of its ablations, then all five as one against the rivals. On a generator's jobs the seed is one that
# nobody trained on; of recorded traces it is the validation part.
# shellcheck shell=bash disable=SC2154  # kept, agents and yard are the caller's

# Trains five seeds: NAME CONFIG [KEY=VALUE...]. `%` in a value is the seed.
seeds_of=
train_seeds() {
  local name=$1 config=$2 n
  shift 2
  seeds_of=
  for n in 1 2 3 4 5; do
    train "$kept/$name-$n" "" "experiments/configs/$config.yaml" --set "seed=$n" "${@//%/$n}"
    seeds_of+=,$kept/$name-$n/checkpoints/best
  done
  seeds_of=${seeds_of#,}
}

servers_6=(--trace synthetic:servers --cluster servers-6 --generate-jobs 3000 --seed 31001 --from "10%"
  --set trace.most=0 trace.drawn=true trace.worker_cores=3 trace.load=0.45
  --against "least-loaded,tetris,lif-linear,lif-quadratic,las-skew")
servers_13=(--trace synthetic:servers --cluster servers-13 --profiles experiments/speeds/servers.csv
  --generate-jobs 3000 --seed 31002 --from "10%" --against "drf,optimus")
local_jobs=(--cells experiments/sched2.yaml --only validate --out "$kept/scores"
  --candidate "fifo,backfill,las-skew,sjf-qssf,checkpoint:checkpoints/pilot")
urgent_jobs=(--cells experiments/mlfs.yaml --only validate --out "$kept/scores"
  --candidate "mlf-h,las,2d-las,gandiva,fair-share,checkpoint:checkpoints/pilot")

for part in $agents; do
  name=${part%:*}
  wanted "agents/$name" || continue
  echo "== agent $name"
  if [[ $name == meta ]]; then  # adapts to each shift, and is compared by episodes
    YARD_BIN=$(dirname "$yard") scripts/meta_adapt.sh
    cp "$kept/meta/adapted.json" evaluations/meta.json
    continue
  fi
  case $name in
    sched2) train_seeds "$name" sched2 ;;
    sched2-anywhere) train_seeds "$name" sched2 locality=false ;;
    harmony) train_seeds "$name" harmony ;;
    harmony-unmodelled) train_seeds "$name" harmony model=none ;;
    harmony-measured) train_seeds "$name" harmony model=measured ;;
    harmony-actor-critic) train_seeds "$name" harmony-paper ;;
    dl2) train_seeds "$name" dl2 ;;
    # The paper's supervised start, without a prior that knows DRF; and neither.
    dl2-cloned)
      train_seeds dl2-start dl2-start
      train_seeds "$name" dl2 prior_gap=0 "start=$kept/dl2-start-%/checkpoints/best"
      ;;
    dl2-alone) train_seeds "$name" dl2 prior_gap=0 ;;
    mlfs) train_seeds "$name" mlfs ;;
    mlfs-load) train_seeds "$name" mlfs load_control=true ;;
  esac
  case $name in
    sched2*) where=("${local_jobs[@]}") ;;
    harmony*) where=("${servers_6[@]}") ;;
    dl2*) where=("${servers_13[@]}") ;;
    mlfs*) where=("${urgent_jobs[@]}") ;;
  esac
  "$yard" evaluate "${where[@]}" --checkpoint "$seeds_of" --json-out "$kept/agents-$name.json"
  # shellcheck disable=SC2016  # the dollars are jq's
  jq --arg agent "$name" '[.cells[] | select(.seeds > 1)
    | (if .cell == "as it is" then .trace + " on " + .cluster else .cell end) as $cell | .best_hindsight as $best | .ended_early as $ended
    | [.policies[] | select(.candidate_ratio != null) | {policy, ratio: .candidate_ratio, lo, hi}] + (.others // [])
    | unique_by(.policy)[]
    | select(.policy == $best or (.policy | IN("fifo", "backfill", "las-skew", "las", "2d-las", "sjf-qssf", "gandiva", "fair-share",
        "mlf-h", "tetris", "least-loaded", "lif-linear", "lif-quadratic", "drf", "optimus", "checkpoint:checkpoints/pilot")))
    | {agent: $agent, cell: $cell, rival: (.policy + if .policy == $best then ", the best in hindsight" else "" end), ratio, lo, hi,
       ended_early: $ended}]' "$kept/agents-$name.json" >"$kept/agents-$name.rows"
done
if compgen -G "$kept/agents-*.rows" >/dev/null; then
  jq -s 'add' "$kept"/agents-*.rows >"$kept/agents.part"
  mv "$kept/agents.part" evaluations/agents.json
fi
