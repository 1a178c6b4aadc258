#!/usr/bin/env bash
# Seeded mutation testing: plants small faults in the rules and choose functions of a copy of the
# tree, all in one build. For each, the tests of simulator and policies run once and must fail. A
# survivor is a gap in the tests, or a change without observable effect.
#   scripts/mutate.sh [JOBS [COUNT [SEED]]]
# Ends with a table and the survivors; fails if fewer than 90 % were detected, or fewer than 200 were
# tried. build/mutants keeps the copy, so that the next run compiles less; its file RESULTS has the
# test which detected each mutation.
set -uo pipefail
export LC_ALL=C  # join needs byte order
cd "$(dirname "$0")/.." || exit 1
jobs=${1:-$(nproc)}
count=${2:-240}
seed=${3:-1}
copy=$PWD/build/mutants
rules=(env/sim/state/{queue,free_map,event_queue,exchange}.h
  env/sim/rules/{rules,holding,shape,rates,advance}.h env/sim/rules/faults.cc env/sim/view/plan.cc
  env/sim/placement/placement_rules.h env/sim/speed/{contention,speed}.h
  policies/{order,preemption_planner,victim_index}.cc
  policies/{freed_gpus,held_order,ranked_queue,remaining_time,queue_order}.h
  policies/heuristic/*.cc)

mkdir -p "$copy"
find "$copy" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
git ls-files --cached --others --exclude-standard -z |
  while IFS= read -r -d '' file; do [[ -f $file ]] && printf '%s\0' "$file"; done |
  tar --null --files-from=- -cf - | tar -xf - -C "$copy"
cd "$copy" || exit 1
cmake -S . -B build -G Ninja -DYARD_AGENTS=OFF -DYARD_SERVING=OFF -DYARD_WERROR=OFF \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O1 -w" >configure.log 2>&1 ||
  { cat configure.log; exit 1; }
compile() {  # compile TARGET...: all errors at once
  cmake --build build --parallel "$jobs" --target "$@" -- -k 0 >build.log 2>&1
}
compile yard_mutator || { tail -n 50 build.log; exit 1; }

# Mutations that do not compile are recognised by the line in the compiler error.
without=()
for ((round = 0; ; ++round)); do
  build/bin/yard_mutator ../.. "$seed" "$count" "${rules[@]}" --without "${without[@]}" >planted || exit 1
  compile yard_env_test yard_policies_test && break
  mapfile -t bad < <(grep -oE '(env|policies)/[a-z_/]+\.(h|cc):[0-9]+' build.log | sort -u |
    grep -Fxf <(cut -f 2 planted))
  if ((round == 5 || ${#bad[@]} == 0)); then
    tail -n 50 build.log
    exit 1
  fi
  echo "does not compile when mutated, not mutated: ${bad[*]}"
  without+=("${bad[@]}")
done

# Which tests reach which mutations, and how long they take: each runs once, by itself, unmutated.
# Queueing tests are slow and coarse, and readers do not use the rules.
export -n YARD_REQUIRE YARD_TRACES
for group in policies env; do
  build/tests/yard_${group}_test --gtest_list_tests --gtest_filter='-*Queueing*:*Reader*:Cluster*:*WrongYaml*' |
    awk -v group=$group '/^[^ ]/ { suite = $1 } /^ / { print group, suite $1 }'
done | grep -v ' Running' | nl >tests.list
reach() {  # reach NUMBER GROUP TEST
  local output
  output=$(YARD_REACHED="reached/$1" "build/tests/yard_$2_test" --gtest_filter="$3" 2>&1) ||
    { printf 'fails without a mutation:\n%s\n' "$output" >&2; exit 255; }
  touch "reached/$1"
  sed -nE "s/^\[.*OK \] .* \(([0-9]+) ms\)$/\1/p" <<<"$output" | head -n 1 |
    sed "s|.*|\0 $2 $3|" >"reached/$1.ms"
}
export -f reach
rm -rf reached && mkdir reached
xargs -P "$jobs" -L 1 bash -c 'reach "$@"' reach <tests.list || exit 1

# A plan for each: the quickest tests first, in a few runs.
for ms in reached/*.ms; do
  [[ -s $ms ]] && awk -v test="$(<"$ms")" '{ print $1, test }' "${ms%.ms}"
done | sort -k 1,1n -k 2,2n | awk '
  function flush() { for (g in filter) print id, g, int(sum / 1000), filter[g]; delete filter }
  $1 != id { flush(); id = $1; sum = 0; batch = 0 }
  { sum += $2 + 1; now = (sum > 50) + (sum > 300) + (sum > 1500)
    if (now != batch) { flush(); batch = now }
    filter[$3] = filter[$3] ":" $4 }
  END { flush() }' >plans

# try ID: one line, the number and what caught the mutation.
try() {
  local group seconds filter output status
  ulimit -v 8000000 -c 0
  while read -r _ group seconds filter; do
    output=$(ulimit -t $((2 + 10 * seconds)) &&
      YARD_MUTANT=$1 "build/tests/yard_${group}_test" --gtest_brief=1 --gtest_fail_fast \
        --gtest_filter="${filter#:}" 2>&1)
    status=$?
    ((status == 0)) && continue
    if ((status == 137 || status == 152)); then
      echo "$1 time-out in $group"
    else
      echo "$1 $(sed -nE 's/.*\[  FAILED  \] ([^ ,]+).*/\1/p' <<<"$output" | head -n 1 |
        grep . || echo "abort in $group")"
    fi
    return
  done < <(grep "^$1 " plans)
  echo "$1 $(grep -q "^$1 " plans && echo SURVIVED || echo "SURVIVED: not reached by a test")"
}
export -f try
cut -f 1 planted | xargs -P "$jobs" -I{} bash -c 'try {}' >verdicts
join -t $'\t' <(sed 's/ /\t/' verdicts | sort) <(sort planted) | sort -n >RESULTS

awk -F '\t' '
  { file = $3; sub(/:.*/, "", file); ++tried[file]; ++all }
  $2 ~ /^SURVIVED/ {
    ++left[file]; ++alive
    lines = lines "  " $3 "  " $4 "  ->  " $5 substr($2, 9) "\n"
  }
  END {
    for (file in tried) {
      printf "%-34s %4d of %4d detected\n", file, tried[file] - left[file], tried[file] | "sort"
    }
    close("sort")
    printf "%-34s %4d of %4d detected, %.1f %%\n", "all", all - alive, all, 100 * (all - alive) / all
    if (alive > 0) printf "survivors:\n%s", lines
    exit !(all >= 200 && all - alive >= 0.9 * all)
  }' RESULTS
