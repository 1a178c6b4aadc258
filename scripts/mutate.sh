#!/usr/bin/env bash
# Seeded mutations: small lies are planted in the rules and choose functions of a copy of the tree,
# all in one build; then the tests of simulator and policies run once for each, and must fail. A
# survivor is a hole in the tests, or changes nothing that anybody could see.
#   scripts/mutate.sh [JOBS [COUNT [SEED]]]
# Ends with a table and the survivors; fails where fewer than 90 % were caught, or fewer than 200
# were tried. build/mutants keeps the copy, so that the next run compiles less; RESULTS there says
# which test caught which.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
jobs=${1:-$(nproc)}
count=${2:-240}
seed=${3:-1}
copy=$PWD/build/mutants
rules=(env/sim/{rules,shape,rates,advance,queue,free_map,agenda,choose}.h env/sim/{plan,faults}.cc
  env/sim/speed/{contention,speed}.h policies/order.cc policies/ranked.h policies/heuristic/*.cc)

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

# What does not compile with a lie in it is told apart by the line that the compiler names.
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
  echo "does not compile with a mutation, left alone: ${bad[*]}"
  without+=("${bad[@]}")
done

# tests ID GROUP LIMIT: queueing formulas are slow and coarse, readers know no rules.
tests() {
  env -u YARD_REQUIRE -u YARD_TRACES YARD_MUTANT="$1" timeout "$3" "build/tests/yard_$2_test" \
    --gtest_brief=1 --gtest_fail_fast \
    --gtest_filter='-*Queueing*:*Reader*:Cluster*:*WrongYaml*:Like*:Habits*' 2>&1
}
begin=$SECONDS
for group in policies env; do
  tests 0 $group 300 >test.log || { echo "fails without a mutation:"; tail -n 30 test.log; exit 1; }
done
limit=$((10 + 3 * (SECONDS - begin)))

# try ID: one line, the number and what caught the mutation.
try() {
  local group output status
  ulimit -v 8000000 -c 0
  for group in policies env; do
    output=$(tests "$1" $group "$limit")
    status=$?
    ((status == 0)) && continue
    if ((status == 124)); then
      echo "$1 a time-out of $group"
    else
      echo "$1 $(sed -nE 's/.*\[  FAILED  \] ([^ ,]+).*/\1/p' <<<"$output" | head -n 1 |
        grep . || echo "an abort of $group")"
    fi
    return
  done
  echo "$1 SURVIVED"
}
export -f tests try
export limit
cut -f 1 planted | xargs -P "$jobs" -I{} bash -c 'try {}' | sort -n >verdicts
join -t $'\t' <(tr ' ' '\t' <verdicts | cut -f 1-2 | sort) <(sort planted) | sort -n >RESULTS

awk -F '\t' '
  { file = $3; sub(/:.*/, "", file); ++tried[file]; ++all }
  $2 == "SURVIVED" { ++left[file]; ++alive; lines = lines "  " $3 "  " $4 "  ->  " $5 "\n" }
  END {
    for (file in tried) printf "%-34s %4d of %4d caught\n", file, tried[file] - left[file], tried[file] | "sort"
    close("sort")
    printf "%-34s %4d of %4d caught, %.1f %%\n", "all", all - alive, all, 100 * (all - alive) / all
    if (alive > 0) printf "survivors:\n%s", lines
    exit !(all >= 200 && all - alive >= 0.9 * all)
  }' RESULTS
