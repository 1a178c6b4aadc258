#!/usr/bin/env bash
# make_compat_data.sh: writes tests/data/vVERSION with the built programs: what this release writes and every
# later one has to read (tests/cli/compatibility_test.cc). Run it once, when a release is made.
#   checkpoint/    copy of checkpoints/pilot     log/           decisions of `serve --decision-log`
#   run/           a training of 3 updates, stopped after 2     snapshot.json  a question to the server
#   abi            number of the C interface     version        the release
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${YARD_BIN:-$PWD/build/bin}
yardmaster=$bin/yardmaster
version=$("$yardmaster" --version | sed -n '1s/^yardmaster \([0-9.]*\) .*/\1/p')
out=tests/data/v$version
if [[ -e $out ]]; then
  echo "make_compat_data: $out is there; a release writes its data once (remove it to make it anew)" >&2
  exit 2
fi
temp=$(mktemp -d)
server=
clean() {
  if [[ -n $server ]]; then kill "$server" 2>/dev/null || true; fi
  rm -rf "$temp"
}
trap clean EXIT

echo "$version" >"$temp/version"
sed -n 's/^#define YARDMASTER_ENV_ABI \([0-9]*\).*/\1/p' include/yardmaster_env.h >"$temp/abi"
cp -r checkpoints/pilot "$temp/checkpoint"
cp experiments/snapshots/preempt.json "$temp/snapshot.json"

cat >"$temp/tiny.yaml" <<'YAML'
trace: synthetic:habits
cluster: 2x8
trace_jobs: 400
episode_jobs: 40
num_envs: 4
group: 2
hidden: 8
threads: 1
keep: 1
validate_windows: 1
validate_jobs: 40
validate_every: 2
updates: 3
YAML
"$yardmaster" train "$temp/tiny.yaml" --out "$temp/run" --until 2
rm "$temp/tiny.yaml"

"$yardmaster" serve --policy las --listen 127.0.0.1:0 --json --grace 0 --budget-ms 20000 \
  --decision-log "$temp/log" >"$temp/served" &
server=$!
for _ in $(seq 100); do
  [[ ! -s $temp/served ]] || break
  sleep 0.1
done
address=$(sed -n 's/.*"grpc": *"\([^"]*\)".*/\1/p' "$temp/served")
for snapshot in experiments/snapshots/*.json; do
  "$yardmaster" decide --server "$address" --snapshot "$snapshot" --deadline-ms 20000
done
kill "$server"
wait "$server"
server=
rm "$temp/served" "$temp/log/.lock"

mkdir -p tests/data
cp -r "$temp" "$out"
chmod 755 "$out"
find "$out" -type f -exec ls -s {} +
