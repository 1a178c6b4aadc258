#!/usr/bin/env bash
# Seeded mutations: one small lie at a time is put into the rules and policies of a copy of the tree,
# and the tests of simulator and policies must fail. A survivor is a hole in the tests.
#   scripts/mutate.sh [JOBS] [NAME...]     only these mutations
# Ends with a table; fails where a mutation survived or no longer applies.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
jobs=${1:-$(nproc)}
shift || true
only=" $* "
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files --cached --others --exclude-standard -z | tar --null --files-from=- -cf - | tar -xf - -C "$copy"

build() {  # build GROUP
  cmake --build "$copy/build" --parallel "$jobs" --target "yard_$1_test" >"$copy/build.log" 2>&1
}

# Times out where a mutation makes the world stand still. Queueing formulas are slow and coarse.
tests() {  # tests GROUP
  (cd "$copy" && env -u YARD_REQUIRE timeout 120 "build/tests/yard_$1_test" --gtest_brief=1 \
    --gtest_fail_fast --gtest_filter='-*Queueing*') >"$copy/test.log" 2>&1
}

# The quickest code to compile; the same numbers.
cmake -S "$copy" -B "$copy/build" -G Ninja -DYARD_AGENTS=OFF -DYARD_SERVING=OFF -DYARD_WERROR=OFF \
  -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 >"$copy/configure.log" 2>&1 ||
  { cat "$copy/configure.log"; exit 1; }
for group in env policies; do
  build $group || { tail -n 50 "$copy/build.log"; exit 1; }
  tests $group || { echo "the tests fail without any mutation:"; tail -n 50 "$copy/test.log"; exit 1; }
done

table=()
failed=0
# mutate NAME FILE SED: how the lie is told; it must change the file.
mutate() {
  local name=$1 file=$2 lie=$3 verdict
  [[ $only == "  " || $only == *" $name "* ]] || return 0
  cp -p "$copy/$file" "$copy/kept"
  sed -i "$lie" "$copy/$file"
  if cmp -s "$copy/$file" "$copy/kept"; then
    verdict="NO LONGER APPLIES"
  else
    verdict=SURVIVED
    for group in env policies; do
      build $group || { verdict="caught by the compiler"; break; }
      tests $group || { verdict="caught by $(grep -m1 '  FAILED  ' "$copy/test.log" |
        sed 's/.*  FAILED  \] //; s/[ ,].*//')"; break; }
    done
    [[ $verdict != "caught by " ]] || verdict="caught by an abort or a time-out"
  fi
  [[ $verdict == caught* ]] || failed=1
  cp "$copy/kept" "$copy/$file"
  table+=("$(printf '%-26s %s' "$name" "$verdict")")
  echo "${table[-1]}"
}

rules=env/sim/rules.h
mutate free-restore $rules 's/if (s.done_us\[slot\] > 0) ready_us += /if (s.done_us[slot] < 0) ready_us += /'
mutate free-save $rules 's/= now_us + f.costs.save_us;/= now_us;/'
mutate start-does-not-wait $rules 's/if (at > ready_us) ready_us = at;/if (at < ready_us) ready_us = at;/'
mutate fastest-member $rules 's/f.spec.node_speed\[node\] < speed/f.spec.node_speed[node] > speed/'
mutate lowest-gpu $rules 's/if (at_us >= best_us) continue;/if (best != 0) continue;/'
mutate work-lost $rules 's/  s.done_us\[slot\] += static_cast<double>(ran_us)/  s.done_us[slot] = static_cast<double>(ran_us)/'
mutate node-named-twice $rules 's/if (pieces\[k\].node == p.node) return false;/if (pieces[k].node < 0) return false;/'
mutate end-rounded-down env/sim/advance.h 's/if (static_cast<double>(whole) < wall)/if (static_cast<double>(whole) > wall)/'
mutate arrival-left-out env/sim/advance.h 's/while (h.arrived < h.end_job \&\&/if (h.arrived < h.end_job \&\&/'
mutate timer-kept env/sim/advance.h 's/if (h.timer_us <= at_us) h.timer_us = kNever;/if (h.timer_us < at_us) h.timer_us = kNever;/'
mutate undo-forgets-ready env/sim/plan.cc 's/lowest_bit(rest)\] = 0;/lowest_bit(rest)] += 0;/'
mutate undo-forgets-queue env/sim/plan.cc 's/if (u.phase == Phase::kWaiting) queue_link(s, u.slot);/if (u.phase == Phase::kWaiting) queue_append(s, u.slot);/'
mutate starts-before-stops env/sim/plan.cc '/^void execute/,/^}/{s/Verb::kPreempt/Verb::kX/;s/Verb::kStart/Verb::kPreempt/;s/Verb::kX/Verb::kStart/}'
mutate stale-handle env/sim/plan.cc 's/s.generation\[job.slot\] == job.generation/s.generation[job.slot] >= job.generation/'
mutate loosest-node env/sim/choose.h "s/: placer.tightest(gpus)/: placer.first_at_least(gpus)/"
mutate summary-not-cleared env/sim/free_map.h 's/if (word == 0) {/if (word == 1) {/'
mutate agenda-ties env/sim/agenda.h 's/job\[a\] < job\[b\]/job[a] > job[b]/'
mutate ranked-loses-siblings policies/ranked.h 's/    sibling_\[other\] = child_\[first\];/    sibling_[other] = kNone;/'
mutate ranked-ties policies/ranked.h 's/a.serial < b.serial/a.serial > b.serial/'
mutate las-never-sinks policies/heuristic/las.cc 's/(service_us >= limits_us_\[1\])/(service_us < 0)/'

echo
printf '%s\n' "${table[@]}"
exit "$failed"
