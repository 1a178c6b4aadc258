# The agents of the literature, for results.sh, which sources this file. Trains five seeds of each agent and
# ablation, then compares the five pooled seeds with the agent's start, its untrained network, its rivals, the best
# rule and the pilot. Generated jobs use a seed on which no policy was trained. Recorded traces use the validation
# part or, for ONLY=test/agents-NAME, the test part. SHIPPED=1 uses the seeds in checkpoints/ and trains only
# untrained networks: one update with a learning rate of 0.
# shellcheck shell=bash disable=SC2154  # kept, agents and yard are the caller's

# checkpoint_of NAME: which checkpoint of a training is used. The best of MLFS on windows of 1,000 jobs is best by
# chance: the queues of a whole stretch of Philly are longer.
checkpoint_of() { if [[ $1 == mlfs* ]]; then echo last; else echo best; fi; }

# A build without LibTorch has no trainer (docs/reference/dependencies.md). The other rows of shipped seeds can still be made.
has_trainer() { [[ -z ${SHIPPED:-} || -x ${yard%/*}/yardmaster-train ]]; }
no_training=(updates=1 validate_every=1 learning_rate=0)

# NAME CONFIG [KEY=VALUE...]: the untrained network of an agent, with the same settings as its seeds, as a candidate
# after a comma.
untrained_of=
untrained() {
  local name=$1-untrained-1 config=$2
  local none=("${no_training[@]}")
  [[ $1 != meta* ]] || none+=(meta_updates=1)  # updates must be a multiple of it
  shift 2
  if ! has_trainer; then
    echo "== agent $name: no yardmaster-train: its rows are kept"
    return
  fi
  train "$kept/$name" "" "experiments/configs/$config.yaml" --set seed=1 "${@//%/1}" "${none[@]}"
  untrained_of=,checkpoint:$kept/$name/checkpoints/last
}

# NAME CONFIG [KEY=VALUE...]: trains five seeds. `%` in a value is the seed. DL2's untrained networks are a separate agent.
seeds_of=
train_seeds() {
  local name=$1 config=$2 n
  [[ $name == dl2* ]] || untrained "$@"
  shift 2
  seeds_of=
  for n in 1 2 3 4 5; do
    if [[ -n ${SHIPPED:-} && $name != *-untrained ]]; then
      seeds_of+=,checkpoints/$name-$n
      continue
    fi
    train "$kept/$name-$n" "" "experiments/configs/$config.yaml" --set "seed=$n" "${@//%/$n}"
    seeds_of+=,$kept/$name-$n/checkpoints/$(checkpoint_of "$name")
  done
  seeds_of=${seeds_of#,}
}

# NAME: the five seeds of an agent as candidates, each after a comma, from finished trainings or as shipped. Empty if
# one is missing.
others() {
  local n all=
  for n in 1 2 3 4 5; do
    if [[ (-z ${SHIPPED:-} || $1 == *-untrained) && -f $kept/$1-$n/done ]]; then
      all+=,checkpoint:$kept/$1-$n/checkpoints/$(checkpoint_of "$1")
    elif [[ -d checkpoints/$1-$n ]]; then
      all+=,checkpoint:checkpoints/$1-$n
    else
      return 0
    fi
  done
  printf '%s' "$all"
}

# FROM TO: adds load control to a checkpoint of MLFS.
give_load_control() {
  local from=$1 to=$2 use
  rm -rf "$to"
  mkdir -p "$(dirname "$to")"
  cp -r "$from" "$to"
  # The manifest has a hash of everything that affects how the weights are used (policies/learned/checkpoint.cc).
  jq '.task.load_control = "true"' "$from/manifest.json" >"$to/changed.json"
  use=$(jq -j '.agent, .network, .task, .feature_schema | tojson' "$to/changed.json" | sha256sum)
  jq --arg use "${use%% *}" '.use_sha256 = $use' "$to/changed.json" >"$to/manifest.json"
  rm "$to/changed.json"
}

# MLF-C on the seeds of MLFS and on its untrained network: as in the paper, it is added after training.
with_load_control() {
  local from to n=0
  untrained mlfs mlfs
  if [[ -n $untrained_of ]]; then
    to=$kept/mlfs-load-untrained-1/checkpoints/last
    give_load_control "${untrained_of#,checkpoint:}" "$to"
    untrained_of=,checkpoint:$to
  fi
  seeds_of=
  for from in $(others mlfs | tr ',' ' '); do
    n=$((n + 1)) to=$kept/mlfs-load-$n/checkpoints/last
    give_load_control "${from#checkpoint:}" "$to"
    touch "$kept/mlfs-load-$n/done"
    seeds_of+=,$to
  done
  seeds_of=${seeds_of#,}
}

pilot=checkpoint:checkpoints/pilot
turns=experiments/rivals/gandiva-long.yaml,gandiva
all_rivals=fifo,greedy,easy,las,tiresias,2d-las,las-skew,fifo-skew,sjf-estimate,srtf-estimate,srsf-rate,srsf-move,$turns,fair-share
some_jobs=(--trace synthetic:servers --generate-jobs 3000)
fixed_sizes=(--set trace.most=0 trace.drawn=true trace.worker_cores=3 trace.load=0.45)
elastic=(--profiles experiments/speeds/servers.csv)
servers_6=("${some_jobs[@]}" --cluster servers-6 --seed 31001 --from "10%" "${fixed_sizes[@]}")
larger=("${some_jobs[@]}" --cluster servers-13 --seed 31003 --from "10%" "${fixed_sizes[@]}")
servers_13=("${some_jobs[@]}" --cluster servers-13 --seed 31002 --from "10%" "${elastic[@]}")
local_jobs=(--cells experiments/sched2.yaml --out "$kept/scores")
urgent_jobs=(--cells experiments/mlfs.yaml --out "$kept/scores")
shifts=(--cells experiments/meta.yaml --only shift-test --out "$kept/scores")
local_rivals=experiments/rivals/fifo-consolidate.yaml,fifo,greedy,las-skew
# Did not exist when the test parts were opened, which are not opened again for it. Untuned it is a rival of the cells.
local_rules=experiments/rivals/survival-consolidate-tuned.yaml
ring_rules=exchange-sjf,experiments/rivals/exchange-sjf-tuned.yaml,experiments/rivals/sjf-consolidate.yaml
placing=least-loaded,experiments/rivals/own-node.yaml,tetris,lif-linear,lif-quadratic
sizing=experiments/rivals/drf-jobs.yaml,optimus,afs,experiments/rivals/afs-tuned.yaml
urgent_rivals=experiments/rivals/mlf-h-slow.yaml,mlf-h,las,tiresias,2d-las,$turns,fair-share

# AGENT JSON: the ratios of the agent to the rivals in `rivals`, to the best of all and to the pilot. A group of several
# cells has rows over all of them, too (docs/reference/metrics.md, "Over several cells").
to_rows() {
  # shellcheck disable=SC2016  # the dollars are jq's
  jq --arg agent "$1" --arg shown "$rivals" '
    def plain: if test("-[1-5](/checkpoints/(best|last))?$") then capture("(?<name>[a-z0-9-]+)-[1-5](/checkpoints/(best|last))?$").name
      else ltrimstr("checkpoint:checkpoints/") | ltrimstr("experiments/rivals/") | rtrimstr(".yaml") end;
    # For several seeds of a rival: the mean over them, with their interval and spread.
    def half: (.hi / .lo | log) / 2;
    def as_one: if length == 1 then .[0] else (map(.ratio | log)) as $logs | ($logs | add / length) as $mid
      | ([$logs[] | . - $mid | . * .] | add / (length - 1) | 2.776 * 2.776 / ($logs | length) * .) as $apart
      | ((map(half) | add / length) | . * . + $apart | sqrt) as $half
      | .[0] + {conclusive: all(.conclusive), ratio: ($mid | exp), lo: ($mid - $half | exp), hi: ($mid + $half | exp)} end;
    [.cells[] | select(.seeds > 1 or .policy == $agent)] as $own
    | [$own[].cell | split("/")[0]] as $groups
    | [.summary[] | select((.policy | IN($own[].policy)) and .cells > 1 and (.over | test("headroom") | not))
       | if .group == "all" and ($groups | unique | length) == 1 then .group = $groups[0] else . end
       | select(.group as $group | .cells == ([$groups[] | select(. == $group)] | length))
       | .cells as $cells | {cell: "\(.group), all \(.cells) cells",
          rivals: [.against[], {best: true, ratio: .ratio_hindsight, lo: .ratio_hindsight_lo, hi: .ratio_hindsight_hi,
            conclusive: .conclusive_hindsight} | .conclusive = (.conclusive == $cells)]}]
    + [$own[] | .best_hindsight as $best | [.policies[], .others[]?] as $rivals
       | {cell: (if .cell == "as it is" then .trace + " on " + .cluster else .cell end),
          rivals: ($rivals + [$rivals[] | select(.policy == $best and ($rivals | length) > 1) | .best = true])}]
    | ($agent | plain) as $agent
    | [.[] | .cell as $cell | .rivals[]
       | {$agent, cell: $cell, conclusive, rival: (if .best then "the best in hindsight" else .policy | plain end),
          chosen: (if .best and .policy then .policy | plain else null end), ratio: (.candidate_ratio // .ratio), lo, hi, policy}
       | select(.ratio != null and .lo != null and .rival != $agent)
       | select(.rival | IN($shown | split(",")[], "the best in hindsight", "pilot"))]
    | [group_by([.cell, .rival])[] | unique_by(.policy) | as_one | del(.policy)]' "$2"
}

# NAME AGENT OPTION...: compares and records the result.
made=()
compare() {
  local name=$1 agent=$2
  shift 2
  "$yard" evaluate "$@" --json-out "$kept/agents-$name.json"
  to_rows "$agent" "$kept/agents-$name.json" >"$kept/agents.part"
  mv "$kept/agents.part" "$kept/agents-$name.rows"
  made+=("$kept/agents-$name.rows")
}

# AGENT RIVAL CLUSTER OPTION...: the same over many seeds of a generator, if a rival is so poor that a trace is one block.
compare_seeds() {
  local agent=$1 rival=$2 cluster=$3
  shift 3
  scripts/over_seeds.sh 5101 5120 "${some_jobs[@]}" --cluster "$cluster" "$@" --policy "$agent,$rival" |
    jq -Rn --arg agent "$agent" --arg cell "synthetic:servers on $cluster, 20 seeds" \
    '[inputs | capture("^(?<rival>\\S+) +(?<ratio>[0-9.]+) +(?<lo>[0-9.]+) to (?<hi>[0-9.]+)$")
      | {agent: $agent, cell: $cell, conclusive: true, rival, chosen: null,
         ratio: (.ratio | tonumber), lo: (.lo | tonumber), hi: (.hi | tonumber)}]' >"$kept/agents.part"
  mv "$kept/agents.part" "$kept/agents-$agent.rows"
  made+=("$kept/agents-$agent.rows")
}

for part in $agents; do
  name=${part%:*}
  wanted "agents/$name" || continue
  if [[ -n ${SHIPPED:-} && ! $name =~ ^(rules|mlfs-load|dl2-untrained)$ && ! -d checkpoints/$name-1 ]]; then
    echo "== agent $name: no seeds in checkpoints/: the ablation is trained again"
    continue
  fi
  echo "== agent $name"
  untrained_of=
  case $name in
    sched2) train_seeds "$name" sched2 ;;
    sched2-anywhere) train_seeds "$name" sched2 locality=false ;;
    harmony) train_seeds "$name" harmony ;;
    harmony-unmodelled) train_seeds "$name" harmony model=none ;;
    harmony-blind) train_seeds "$name" harmony lengths=false ;;
    harmony-measured) train_seeds "$name" harmony model=measured ;;
    # One vector of fixed length, as in public notes; 128 units per layer were the best.
    harmony-flat) train_seeds "$name" harmony network=flat hidden=128 ;;
    harmony-actor-critic) train_seeds "$name" harmony-paper ;;
    # Clones of DRF (the paper's supervised start), training from these, training from random weights, and random weights.
    dl2-start) train_seeds "$name" dl2-start ;;
    dl2)
      train_seeds dl2-start dl2-start
      has_trainer && train_seeds dl2-untrained dl2 start= "${no_training[@]}"
      train_seeds "$name" dl2 "start=$kept/dl2-start-%/checkpoints/best"
      ;;
    dl2-alone) train_seeds "$name" dl2 start= ;;
    dl2-untrained) train_seeds "$name" dl2 start= "${no_training[@]}" ;;
    mlfs) train_seeds "$name" mlfs ;;
    mlfs-load) with_load_control ;;
    # Compared after adapting to each shift, by episodes; then without adapting.
    meta)
      if [[ -n ${SHIPPED:-} ]]; then
        train_seeds meta meta
      else
        untrained meta meta
        YARD_BIN=$(dirname "$yard") scripts/meta_adapt.sh
        cp "$kept/meta/adapted.json" evaluations/meta.json
        seeds_of=$(echo "$kept"/meta/meta-{1..5}/checkpoints/best | tr ' ' ,)
      fi
      ;;
  esac
  case $name in
    sched2*) rivals=fifo-consolidate,fifo,greedy,las-skew,survival-consolidate,survival-consolidate-tuned ;;
    harmony*) rivals=least-loaded,own-node,tetris,lif-linear,lif-quadratic ;;
    dl2*) rivals=drf-jobs,optimus,afs,afs-tuned,dl2-start,dl2-untrained ;;
    mlfs*) rivals=mlf-h-slow,mlf-h,mlf-h-load,las,tiresias,2d-las,gandiva-long,gandiva,fair-share ;;
    meta) rivals=greedy-best-fit,las-skew,srtf-estimate,exchange-sjf,exchange-sjf-tuned,sjf-consolidate ;;
    rules) rivals=random,las,tiresias,2d-las,gandiva-long,gandiva,fair-share,drf,mlf-h ;;
  esac
  rivals+=,$name-untrained
  whole=  # the agent of which this is an ablation
  if [[ $name == *-* ]]; then
    whole=${name%%-*}
    rivals+=,$whole
  fi
  more=$pilot$untrained_of${whole:+$(others "$whole")}
  case $name in
    sched2*)
      compare "$name" "$name" "${local_jobs[@]}" --only validate --checkpoint "$seeds_of" \
        --candidate "$local_rivals,$local_rules,$more"
      compare "$name-start" "$name" "${local_jobs[@]}" --only start --checkpoint "$seeds_of" \
        --candidate "$local_rivals,$local_rules,$more"
      ;;
    harmony*)
      compare "$name" "$name" "${servers_6[@]}" --checkpoint "$seeds_of" --candidate "$more" \
        --against "$placing,$all_rivals"
      # On more servers than in training.
      [[ $name != harmony ]] || compare harmony-larger harmony "${larger[@]}" --checkpoint "$seeds_of" --candidate "$more" \
        --against "$placing,$all_rivals"
      ;;
    dl2*)
      [[ $name == dl2-start ]] || more+=$(others dl2-start)
      [[ $name == dl2-untrained ]] || more+=$(others dl2-untrained)
      compare "$name" "$name" "${servers_13[@]}" --checkpoint "$seeds_of" --candidate "$more" --against "$sizing,$all_rivals"
      ;;
    mlfs*) compare "$name" "$name" "${urgent_jobs[@]}" --only validate --checkpoint "$seeds_of" \
      --candidate "experiments/rivals/mlf-h-load.yaml,$urgent_rivals,$more" ;;
    meta) compare "$name" "$name" "${shifts[@]}" --checkpoint "$seeds_of" --candidate "experiments/rivals/greedy-best-fit.yaml,$more" \
      --against "$ring_rules,$all_rivals" ;;
    rules)  # the heuristics of the papers
      compare mlf-h mlf-h "${urgent_jobs[@]}" --only validate --candidate mlf-h --against "random,las,tiresias,2d-las,$turns,fair-share"
      compare mlf-h-hours experiments/rivals/mlf-h-hours.yaml "${urgent_jobs[@]}" --only validate \
        --candidate experiments/rivals/mlf-h-hours.yaml --against random,las,tiresias,mlf-h
      compare optimus optimus "${servers_13[@]}" --candidate optimus --against drf
      compare_seeds lif-linear random servers-6 "${fixed_sizes[@]}"
      compare_seeds lif-quadratic random servers-6 "${fixed_sizes[@]}"
      compare_seeds drf random servers-13 "${elastic[@]}"
      ;;
  esac
done

# Test parts, on which no policy was trained, tuned or chosen; opened once. All compared policies are candidates.
unseen() {  # "AGENT ABLATION..." OPTION...: the seeds are appended to the last option
  local names=$1 name each=
  shift
  local -a options=("$@")
  for name in $names; do
    if [[ -n ${SHIPPED:-} && -z $(others "$name") ]]; then
      names=${names/ $name/}  # an ablation
      continue
    fi
    [[ -n $(others "$name") ]] || { echo "results.sh: test: expected five seeds of $name, got fewer" >&2; exit 2; }
    each+=$(others "$name")
  done
  options[-1]+=$each
  for name in $names; do
    seeds_of=$(others "$name")
    seeds_of=${seeds_of//,checkpoint:/,}
    compare "$name-test" "$name" "${options[@]}" --checkpoint "${seeds_of#,}"
  done
}
if wanted test/agents-sched2; then
  echo "== test, sched2"
  rivals=fifo-consolidate,fifo,greedy,las-skew,sched2
  unseen "sched2 sched2-anywhere" "${local_jobs[@]}" --only test,unseen --candidate "$local_rivals,$pilot"
fi
if wanted test/agents-mlfs; then
  echo "== test, mlfs"
  rivals=mlf-h-slow,mlf-h,mlf-h-load,las,tiresias,2d-las,gandiva-long,gandiva,fair-share,mlfs
  unseen "mlfs mlfs-load" "${urgent_jobs[@]}" --only unseen --candidate "experiments/rivals/mlf-h-load.yaml,$urgent_rivals,$pilot"
fi

# Keeps the rows of rivals that were not compared here. Rows by episodes of adaptation come from scripts/meta_adapt.sh.
if [[ ${#made[@]} -gt 0 ]]; then
  # shellcheck disable=SC2016  # the dollars are jq's
  jq -s 'def made: [.agent, (.cell | split("[/,]"; "")[0]), .rival];
    .[0] as $old | (.[2:] | add) as $new
    | [.[1].ratios[] | (.meta | tostring) as $n
       | {agent: "meta", cell: "adapted to shifts, after \($n) episodes", rival: (if has("scratch") then "from scratch, \(.scratch)"
            elif has("harmony") then "harmony, \(.harmony)" elif has("one_head") then "meta without its second head, \(.one_head)"
            else "meta as it comes" end), chosen: null, ratio, lo, hi}] as $adapted
    | (($new + $adapted) | map(made) | unique) as $anew
    | [$old[] | select(made as $m | $anew | index([$m]) | not)] + $new + $adapted
    | sort_by(.agent, (.cell | contains(", all ") | not), .cell, .rival)
    ' evaluations/agents.json evaluations/meta.json "${made[@]}" >"$kept/agents.part"
  mv "$kept/agents.part" evaluations/agents.json
fi
