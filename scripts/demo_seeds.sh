#!/usr/bin/env bash
# demo_seeds.sh [CHECKPOINT [FIRST LAST]]: the gain of the demo's training on jobs that neither
# training nor validation has seen. Prints the mean JCT of the trained policy divided by those of its
# untrained network (sampled in the same way), of its initial heuristic and of its rivals: geometric
# mean over the seeds, 95 % interval, and a verdict. Default: the checkpoint of `make demo`, 60 seeds.
#   YARD_BIN=...  folder of the programs (default: build/bin)
#   JSON=FILE     writes the figures there, too
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
checkpoint=${1:-runs/demo/checkpoints/best} first=${2:-5001} last=${3:-5060}

# The jobs of experiments/configs/demo.yaml, other seeds of them.
workload=(--trace synthetic:servers --cluster servers-6 --generate-jobs 200
  --set trace.most=0 trace.drawn=true trace.worker_cores=3 trace.load=0.45)
start=least-loaded
rule=experiments/rivals/own-node.yaml  # the strongest rule with the same information and verbs
rivals=(lif-linear lif-quadratic tetris)

if [[ -n ${JSON:-} ]]; then : >"$JSON"; fi
table=$(scripts/over_seeds.sh "$first" "$last" "${workload[@]}" \
  --policy "checkpoint:$checkpoint,untrained:$checkpoint,$start,$rule,$(IFS=, && echo "${rivals[*]}")")
awk -v start="$start" -v rule="$rule" -v first="$first" -v last="$last" '
  function verdict(lo, hi) { return hi < 1 ? "better" : lo > 1 ? "worse" : "inconclusive" }
  function percent(ratio) { return sprintf("%.0f %%", 100 * (ratio < 1 ? 1 - ratio : ratio - 1)) }
  BEGIN {
    label[start] = "least-loaded, its initial rule"
    label[rule] = "least-loaded own_node=true"
  }
  NR == 1 {
    printf "mean JCT of the trained policy divided by that of the other, %s seeds (%s to %s)\n", $(NF - 1), first, last
    next
  }
  {
    name = $1 ~ /^untrained:/ ? "its untrained network" : $1 in label ? label[$1] : $1
    ratio[$1 ~ /^untrained:/ ? "untrained" : $1] = $2
    said[$1 ~ /^untrained:/ ? "untrained" : $1] = verdict($3, $5)
    printf "  %-36s %.3f [%.3f, %.3f]  %s\n", name, $2, $3, $5, verdict($3, $5)
  }
  END {
    if (said["untrained"] == "better") {
      printf "Verdict: training improved it: jobs take %s less time than with its untrained network;", percent(ratio["untrained"])
    } else if (said["untrained"] == "worse") {
      printf "Verdict: training made it worse: jobs take %s more time than with its untrained network;", percent(ratio["untrained"])
    } else {
      printf "Verdict: the effect of training is inconclusive over these seeds;"
    }
    if (said[rule] == "inconclusive") {
      printf " the difference from the strongest rule with the same information and verbs is inconclusive (%.3f).\n", ratio[rule]
    } else {
      printf " they take %s %s time than with the strongest rule with the same information and verbs.\n",
        percent(ratio[rule]), ratio[rule] < 1 ? "less" : "more"
    }
  }' <<<"$table"
if [[ -n ${JSON:-} ]]; then
  awk -v checkpoint="$checkpoint" -v first="$first" -v last="$last" '
    NR == 1 { printf "{\"policy\": \"checkpoint:%s\", \"seeds\": [%d, %d], \"over\": [", checkpoint, first, last; next }
    { printf "%s\n  {\"policy\": \"%s\", \"ratio\": %s, \"lo\": %s, \"hi\": %s}", (NR > 2 ? "," : ""), $1, $2, $3, $5 }
    END { print "\n]}" }' <<<"$table" >"$JSON"
fi
