#!/bin/sh
# build.sh PRESET JOBS [CMAKE ARGUMENT...]: configures the preset where that was not done yet, or
# where arguments are given, and builds it. Ninja does the rest anew only where something changed.
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
cmake --build --preset "$preset" --parallel "$jobs"
