#!/bin/sh
# test.sh FOLDER JOBS [CTEST ARGUMENT...]: runs the tests built in FOLDER, prints the reasons of skips
# and ends with "N passed, N failed, N skipped". Packages installed by scripts/test_packages.sh are
# required: a test that skips because one of them is missing fails.
set -eu
cd "$(dirname "$0")/.."
folder=$1
jobs=$2
shift 2

require() { YARD_REQUIRE="${YARD_REQUIRE:+$YARD_REQUIRE,}$1"; }
if [ -f build/venv/installed ]; then
  python=$PWD/build/venv/bin/python
  export YARD_ONNX_PYTHON="${YARD_ONNX_PYTHON:-$python}"
  export YARD_TENSORBOARD_PYTHON="${YARD_TENSORBOARD_PYTHON:-$python}"
  require onnx
  require tensorboard
fi
if mpirun --version 2>/dev/null | grep -q "Open MPI"; then require mpirun; fi
if command -v promtool >/dev/null; then require promtool; fi
if /usr/bin/python3 -c "import grpc, google.protobuf" 2>/dev/null; then require grpcio; fi
export YARD_REQUIRE="${YARD_REQUIRE:-}"

results=$PWD/$folder/test-results.xml
rm -f "$results"
status=0
ctest --test-dir "$folder" --parallel "$jobs" --output-on-failure --no-tests=error \
  --output-junit "$results" "$@" || status=$?
if [ -f "$results" ]; then
  echo
  awk -f scripts/test_summary.awk "$results"
fi
exit "$status"
