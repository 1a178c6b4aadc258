#!/bin/sh
# build.sh PRESET JOBS [CMAKE ARGUMENT...]: configures the preset if it is not configured yet or if
# arguments are given, and builds it. Ninja compiles only what has changed.
#   TARGETS="..."  builds these targets only
set -eu
cd "$(dirname "$0")/.."
preset=$1
jobs=$2
shift 2

folder=build/$preset
if [ "$preset" = release ]; then folder=build; fi
if [ ! -f "$folder/build.ninja" ] || [ $# -gt 0 ]; then
  cmake --preset "$preset" "$@"
fi
# shellcheck disable=SC2086  # one argument per target
cmake --build --preset "$preset" --parallel "$jobs" ${TARGETS:+--target $TARGETS}
