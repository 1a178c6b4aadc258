#!/usr/bin/env bash
# results_tables.sh [--check]: writes the tables of docs/results.md and docs/agents.md from evaluations/*.json. A table
# is between `<!-- table KIND FILE -->` and `<!-- end -->`. KIND is cells, summary, against (the pooled seeds relative to
# the closest rules), gradient (each seed relative to its base rule), embedded, agents (the agents of the literature
# relative to their rivals) or floors (relative to their start or to the whole agent).
# --check: changes nothing; fails if a table does not match its file. Needs jq.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# shellcheck disable=SC2016  # the dollars are jq's
common='
  def digits($n): if . == null then "–" else
    (. * pow(10; $n) | round | tostring) as $d
    | (if ($d | startswith("-")) then "-" else "" end) as $sign | ($d | ltrimstr("-")) as $d
    | ("0" * ([$n + 1 - ($d | length), 0] | max) // "") + $d
    | $sign + .[:length - $n] + "." + .[length - $n:] end;
  def whole: if . == null then "–" else round | tostring end;
  def percent: if . == null then "–" else (. * 100 | digits(1)) + " %" end;
  def within($row; $name): if $row[$name] == null then "–" else
    ($row[$name] | digits(3)) + " [" + ($row[$name + "_lo"] | digits(3)) + ", " + ($row[$name + "_hi"] | digits(3)) + "]" end;
  def line: "| " + join(" | ") + " |";
  def table($head): ($head | line), ([$head[] | "---"] | line), .;
'

# shellcheck disable=SC2016
rows() {
  case $1 in
    cells)
      jq -r "$common"'[.cells[] | . + {ratio_lo: .lo, ratio_hi: .hi} | [.cell, .policy, (.jobs | tostring), (.load | digits(2)),
          .yardstick, within(.; "ratio"), (.ratio_hindsight | digits(3)), (.headroom_hindsight | percent), (.captured | digits(2)),
          (.p99_ratio | digits(2)), (.largest_class // "–") + ": " + (.largest_class_jct_ratio | digits(2)),
          (.max_wait_ratio | digits(2)), (.preemptions_per_job | digits(2)), (if .judged then "" else "not judged" end)] | line]
        | table(["cell", "policy", "jobs", "load", "yardstick", "ratio [95 %]", "to the best in hindsight", "headroom in hindsight",
          "captured", "p99", "largest class", "longest wait", "preemptions a job", ""]) | if type == "array" then .[] else . end' "$2" ;;
    summary)
      jq -r "$common"'[.summary[] | [.policy, .group, (.cells | tostring) + " " + .over, within(.; "ratio"), (.ratio_worst | digits(3)),
          (.ratio_hindsight | digits(3)), within(.; "captured"), (.iqm | digits(3)), (.probability_of_improvement | digits(2)),
          (.better | tostring) + " / " + (.worse | tostring), (.p99_ratio | digits(2)), (.largest_class_jct_ratio | digits(2)),
          (.max_wait_ratio_worst | digits(2)), (.preemptions_ratio | digits(2)),
          (.training_core_s | whole), (.decisions_per_s | whole)] | line]
        | table(["policy", "group", "over", "ratio [95 %]", "worst", "to the best in hindsight", "captured [95 %]", "IQM",
          "probability of improvement", "better / worse", "p99", "largest class", "longest wait, worst", "preemptions",
          "training, core-s", "decisions/s"])
        | if type == "array" then .[] else . end' "$2" ;;
    gradient)
      # The gradient stage relative to its base rule, by seed.
      jq -r "$common"'([.cells[] | select(.policy | test("gradient-")) | (.policy | capture("gradient-(?<n>[0-9]+)").n) as $n
            | {cell, n: $n} + (.others[] | select(.policy | endswith("pilot-" + $n)) | . + {ratio_lo: .lo, ratio_hi: .hi})])
          as $pairs
        | ([$pairs[].n] | unique) as $seeds
        | [$pairs | group_by(.cell)[] | . as $row | [.[0].cell, ($seeds[] as $n | first(($row[] | select(.n == $n)), null) | if . == null then "–" else within(.; "ratio") end),
            ((map(.ratio | log) | add / length) | exp | digits(3))] | line]
        | table(["cell", ($seeds[] | "seed " + .), "mean"]) | if type == "array" then .[] else . end' "$2" ;;
    against)
      # The pooled seeds relative to the closest rules and to the tuned ones.
      jq -r "$common"'[.cells[] | select(.against) | .cell as $cell | .against[] | . + {ratio_lo: .lo, ratio_hi: .hi}
            | [$cell, .policy, within(.; "ratio")] | line]
        | table(["cell", "over", "ratio [95 %]"]) | if type == "array" then .[] else . end' "$2" ;;
    embedded)
      # Relative to each start, by training seed.
      jq -r "$common"'def cell: if . == null then "–" else (.ratio | digits(3)) + " (" + (.lo | digits(3)) + " to "
          + (.hi | digits(3)) + ")" end;
        def mean: (map(.ratio | log) | add / length) | exp | digits(3);
        (map(select(.from == "untuned" and .against == "joint"))) as $untuned
        | (map(select(.from == "tuned" and (.against | endswith(".yaml"))))) as $tuned
        | [($untuned[] | .seed as $n | [($n | tostring), cell, (first(($tuned[] | select(.seed == $n)), null) | cell)]),
           ["mean", ($untuned | mean), ($tuned | mean)] | line]
        | table(["training seed", "of `joint` as it comes", "from the tuned start, of it"]) | if type == "array" then .[] else . end' "$2" ;;
    agents)
      jq -r "$common"'[.[] | . + {ratio_lo: .lo, ratio_hi: .hi} | [.agent, .cell, .rival + (if .who then ": " + .who else "" end), within(.; "ratio") + (if .judged == false then ", not judged" else "" end)] | line]
        | table(["agent", "where", "rival", "ratio [95 %]"]) | if type == "array" then .[] else . end' "$2" ;;
    floors)
      # If an agent has several cells, all of them pooled.
      jq -r "$common"'def floor: {"sched2 fifo-consolidate": "its start", "harmony least-loaded": "its start", "dl2 drf-jobs": "what its start cloned",
          "mlfs mlf-h-slow": "its start", "mlfs mlf-h": "the same by minutes",
          "sched2 survival-consolidate": "the same order by a rule", "sched2 survival-consolidate-tuned": "the same, tuned",
          "harmony own-node": "the rule for places that comes nearest", "dl2 afs": "the rule that comes nearest", "dl2 afs-tuned": "the same, tuned",
          "meta exchange-sjf": "a rule that chooses the exchange", "meta exchange-sjf-tuned": "the same, strictly consolidated", "meta sjf-consolidate": "the same without the exchange",
          "dl2 dl2-start": "its supervised start", "dl2 dl2-untrained": "its untrained network", "dl2-start drf-jobs": "what it cloned", "meta greedy-best-fit": "its start",
          "meta from scratch, 20": "the same from scratch", "mlf-h random": "no order", "lif-linear random": "no order",
          "lif-quadratic random": "no order", "drf random": "no order", "sched2-anywhere sched2": "the same with locality",
          "harmony-unmodelled harmony": "the same with its model", "harmony-actor-critic harmony": "by another learner", "harmony-blind harmony": "the same that sees lengths", "harmony-flat harmony": "the same that takes any number of rows",
          "harmony-measured harmony": "the same that learns its model",
          "dl2-alone dl2": "the same with a supervised start", "mlf-h las": "its queues alone", "mlf-h tiresias": "Tiresias", "mlf-h-hours las": "its queues alone", "mlf-h-hours tiresias": "Tiresias", "mlf-h-hours random": "no order", "optimus drf": "the one before it", "mlfs-load mlfs": "the same without load control",
          "meta meta without its second head, 20": "the same without it"}[.agent + " " + .rival]
          // if .rival == .agent + "-untrained" then "its untrained network" else null end;
        [.[] | . + {ratio_lo: .lo, ratio_hi: .hi, floor: floor} | select(.floor and (.cell | contains("/") | not) and ((.cell | startswith("start,") | not) or (.rival | test("^survival|untrained"))))
          | [.agent, .rival, .floor, .cell, within(.; "ratio") + (if .judged == false then ", not judged" else "" end)] | line]
        | table(["agent", "over", "which is", "where", "ratio [95 %]"]) | if type == "array" then .[] else . end' "$2" ;;
    *) echo "results_tables.sh: expected cells, summary, against, gradient, embedded, agents or floors, got '$1'" >&2; return 2 ;;
  esac
}

made=$(mktemp)
trap 'rm -f "$made"' EXIT
for page in docs/results.md docs/agents.md; do
  inside=
  while IFS= read -r text; do
    if [[ $text =~ ^'<!-- table '([a-z]+)' '([^ ]+)' -->'$ ]]; then
      [[ -f ${BASH_REMATCH[2]} ]] || { echo "$page: expected the file ${BASH_REMATCH[2]}, got none" >&2; exit 2; }
      inside=1
      printf '%s\n\n' "$text"
      rows "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
      printf '\n'
    elif [[ $text == '<!-- end -->' ]]; then
      inside=
      printf '%s\n' "$text"
    elif [[ -z $inside ]]; then
      printf '%s\n' "$text"
    fi
  done <$page >"$made"
  [[ -z $inside ]] || { echo "$page: expected <!-- end --> after a table, got none" >&2; exit 2; }
  if [[ ${1:-} == --check ]]; then
    diff "$page" "$made" >/dev/null || { echo "$page: does not match evaluations/*.json; run $0" >&2; exit 1; }
  else
    cmp -s "$page" "$made" || cp "$made" "$page"
  fi
done
