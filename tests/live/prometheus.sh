#!/bin/bash
# prometheus.sh [OUT]: a real Prometheus with the example's settings and rules scrapes a real server with TLS,
# tokens and a decision log under a little load. Checks that every expression of the Grafana dashboard
# returns data, that every alert rule is evaluated, and that promtool finds no fault. Writes OUT
# (build/live/prometheus) and prints the figures. Needs Prometheus and openssl.
#   LOAD_S=40              seconds of load
#   YARD_BIN=build/bin     folder of the programs
set -eu
cd "$(dirname "$0")/../.."
out=${1:-build/live/prometheus}
bin=${YARD_BIN:-build/bin}
export LOAD_S=${LOAD_S:-40}
examples=docs/examples/prometheus

fail() {
  echo "prometheus.sh: $*" >&2
  exit 1
}

[ -x "$bin/yardmaster" ] || fail "no $bin/yardmaster; run make build"
command -v prometheus >/dev/null || fail "no prometheus (scripts/install.sh prometheus)"
rm -rf "$out"
mkdir -p "$out"
out=$(cd "$out" && pwd)
server='' prometheus=''
# shellcheck disable=SC2329  # called by the trap
finish() {
  for pid in $prometheus $server; do kill "$pid" 2>/dev/null || true; done
}
trap finish EXIT

promtool check rules $examples/yardmaster.rules.yml >"$out/promtool.log"
promtool check config $examples/prometheus.yml >>"$out/promtool.log"
promtool test rules $examples/yardmaster.rules.test.yml >>"$out/promtool.log"

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 90 -subj /CN=localhost \
  -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout "$out/key.pem" -out "$out/cert.pem" 2>/dev/null
echo a-token-of-sixteen-bytes >"$out/token"
echo a-token-that-nobody-knows >"$out/wrong-token"
chmod 600 "$out"/*token
"$bin/yardmaster" serve --config docs/examples/serve.yaml --checkpoint checkpoints/pilot --json \
  --listen 127.0.0.1:0 --probes 127.0.0.1:0 --probes-tls off --tls-cert "$out/cert.pem" --tls-key "$out/key.pem" \
  --token-file "$out/token" --decision-log "$out/decisions" --log-format json \
  >"$out/server.json" 2>"$out/server.log" &
server=$!
for _ in $(seq 100); do
  [ -s "$out/server.json" ] && break
  sleep 0.1
done
address() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$out/server.json" "$1"; }
probes=$(address probes)

cp $examples/yardmaster.rules.yml "$out"
sed -e "s/127.0.0.1:9464/$probes/" -e 's/_interval: 15s/_interval: 1s/' $examples/prometheus.yml >"$out/prometheus.yml"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
prometheus --config.file="$out/prometheus.yml" --storage.tsdb.path="$out/tsdb" --web.listen-address="127.0.0.1:$port" \
  >"$out/prometheus.log" 2>&1 &
prometheus=$!

python3 tests/live/prometheus_check.py "$out" "$bin" "$(address grpc)" "$probes" "http://127.0.0.1:$port"
kill "$server"
wait "$server" || fail "the server ended with $?"
server=
rm -rf "$out/tsdb"
