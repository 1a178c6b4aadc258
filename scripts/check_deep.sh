#!/usr/bin/env bash
# The slow checks, to be run before a larger change is finished: ASan and UBSan over all tests, TSan
# over multi-threaded tests, the simulator against the reference simulator on 10,000 random worlds,
# mutations of the rules, libFuzzer on the readers, the rules under nvcc, a second LibTorch, the Debian
# package in a bare Debian, short forms of the live checks on Slurm, the commands of the documents that take minutes (the demo among them),
# formatting and lint. Checks that the machine cannot run are listed as
# skipped. Ends with a table; fails if any check failed.
#   YARD_TORCH_ROOT=...  root of the second LibTorch     YARD_DEEP="asan tsan ..."  only these checks
# shellcheck disable=SC2317  # check() calls the functions by name
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
jobs=${1:-$(nproc)}
only=${YARD_DEEP:-asan tsan worlds mutate fuzz cuda torch deb docs slurm format tidy}
table=()
failed=0

check() {  # check NAME COMMAND...: runs it, notes how it ended and how long it took
  local name=$1 begin=$SECONDS verdict=ok
  shift
  [[ " $only " == *" $name "* ]] || return 0
  echo "== $name"
  "$@" || verdict=FAILED
  [[ $verdict == ok ]] || failed=1
  table+=("$(printf '%-8s %-8s %4d s' "$name" "$verdict" $((SECONDS - begin)))")
}

skip() {  # skip NAME REASON
  [[ " $only " == *" $1 "* ]] && table+=("$(printf '%-8s skipped: %s' "$1" "$2")")
}

asan() {
  scripts/build.sh asan "$jobs" && scripts/test.sh build/asan "$jobs"
}

# The sanitizer of GCC 12 cannot place its shadow where address randomisation is at its strongest.
# It cannot see the locks of the distribution's gRPC: tests/tsan.supp says what it leaves out.
tsan() {
  local plain=() threaded='Engine|ModelStore|ModelCatalog|WorkPool|ServedLog|Logs|Http|HttpServer|Server'
  threaded+='|Register|ReportOutcome|Client|ClientDeltas|ClientManager|States|StoredStates'
  if setarch "$(uname -m)" -R true 2>/dev/null; then plain=(setarch "$(uname -m)" -R); fi
  { [[ -f build/tsan/build.ninja ]] || cmake --preset tsan; } &&
    cmake --build --preset tsan --parallel "$jobs" --target yard_batch_test yard_serving_test &&
    "${plain[@]}" scripts/test.sh build/tsan "$jobs" -R "^(batch\.|serving\.($threaded)\.)"
}

worlds() {
  YARD_WORLDS=${YARD_WORLDS:-10000} scripts/test.sh build "$jobs" -R 'WorldReference'
}

cuda() {
  YARD_REQUIRE=cuda scripts/test.sh build "$jobs" -R 'house.Cuda'
}

second_torch() {
  cmake --preset release -B build/torch "-DYARD_TORCH_ROOT=$YARD_TORCH_ROOT" -DYARD_SERVING=OFF &&
    cmake --build build/torch --parallel "$jobs" && scripts/test.sh build/torch "$jobs" -L agents
}

# The script says in its output what it lacks.
package() {
  scripts/install.sh deb && (cd build && cpack >/dev/null) && scripts/check_deb.sh | tee build/check_deb.txt
}

# They build and add files, so they run in a copy of the sources.
documented() {
  local tree=$PWD/build/docs
  rm -rf "$tree" && mkdir -p "$tree" &&
    git ls-files -z --cached --others --exclude-standard |
    tar --create --null --files-from=- --ignore-failed-read | tar --extract --directory="$tree" &&
    make -C "$tree" build JOBS="$jobs" </dev/null &&
    YARD_DOC_TREE=$tree YARD_BIN=$PWD/build/bin YARD_REQUIRE=minutes \
      build/tests/yard_cli_test --gtest_filter='*DocCommandsOfMinutes*'
}

# The stages slurm and chaos of check_live.sh, in some 10 minutes.
short_live() {
  NODES=8 JOBS=100 SPAN_S=120 LOAD=2 MOST_S=50 MIN_RUN=0 PREEMPTED_SHARE=1 FEWEST_JOBS=100 FEWEST_PREEMPTIONS=1 \
    tests/live/slurm.sh build/live/short-slurm &&
    NODES=8 JOBS=60 SPAN_S=240 LOAD=1.1 MOST_S=50 FAULTS=20 FEWEST_FAULTS=20 GAP_S=15 tests/live/chaos.sh build/live/short-chaos
}

# Omits files which git lists but which are deleted and not yet committed.
sources() {
  git ls-files --cached --others --exclude-standard -- '*.h' '*.cc' '*.cu' |
    while read -r file; do [[ -f $file ]] && echo "$file"; done
}

formatted() {
  sources | xargs clang-format --dry-run -Werror
}

# The clang of Debian 12 cannot read LibTorch's headers as C++20, so agents/ is not checked here.
# It cannot read GCC's precompiled headers either: without them, and file by file, it sees missing
# includes as well.
tidied() {
  cmake --preset release -B build/tidy -DYARD_PRECOMPILE=OFF -DYARD_UNITY=OFF -DYARD_TESTS=OFF >/dev/null &&
    cmake --build build/tidy --parallel "$jobs" --target yard_proto yard_version_header >/dev/null &&
    sources | grep '\.cc$' | grep -v -e '^tests/' -e '^agents/' -e '^experiments/train/' -e 'programs/train/' |
    xargs -P "$jobs" -n 4 clang-tidy -p build/tidy --quiet --extra-arg=-Wno-unknown-warning-option
}

check asan asan
check tsan tsan
check worlds worlds
check mutate scripts/mutate.sh "$jobs"
if command -v clang++ >/dev/null; then
  check fuzz scripts/fuzz.sh 10
else
  skip fuzz "no clang++"
fi
if command -v nvcc >/dev/null || [[ -x ${CUDA_HOME:-/usr/local/cuda}/bin/nvcc ]]; then
  check cuda cuda
else
  skip cuda "no CUDA toolkit"
fi
if [[ -n ${YARD_TORCH_ROOT:-} ]]; then
  check torch second_torch
else
  skip torch "YARD_TORCH_ROOT is not set to a second LibTorch"
fi
rm -f build/check_deb.txt
check deb package
reason=$(sed -n 's/^check_deb: skipped: //p' build/check_deb.txt 2>/dev/null)
[[ -z $reason ]] || table[-1]=$(printf '%-8s skipped: %s' deb "$reason")
check docs documented
if command -v slurmctld >/dev/null && [[ $(id -u) -eq 0 ]]; then
  check slurm short_live
else
  skip slurm "needs root and Slurm"
fi
if command -v clang-format >/dev/null; then
  check format formatted
else
  skip format "no clang-format"
fi
if command -v clang-tidy >/dev/null; then
  check tidy tidied
else
  skip tidy "no clang-tidy"
fi

echo
printf '%s\n' "${table[@]}"
exit "$failed"
