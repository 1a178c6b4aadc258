#!/bin/sh
# two_hosts.sh CONFIG OUT [ARGUMENT...]: trains CONFIG on two hosts, which are network namespaces of this
# machine, with one rank each, configured by torchrun's variables. Their output is in OUT.log.0 and OUT.log.1.
# Exit code 77: network namespaces are not permitted. Needs root and iproute2.
set -eu
config=$1
out=$2
shift 2
yard=${YARD_BIN:-$(dirname "$0")/../build/bin}/yardmaster
name=yard$$
clean() {
  for host in 0 1; do ip netns del "$name-$host" 2>/dev/null || true; done
}
trap clean EXIT
if ! ip netns add "$name-0" 2>/dev/null; then
  echo "two_hosts: network namespaces are not permitted here" >&2
  exit 77
fi
ip netns add "$name-1"
ip link add "$name.0" netns "$name-0" type veth peer name "$name.1" netns "$name-1"
for host in 0 1; do
  ip -n "$name-$host" link set lo up
  ip -n "$name-$host" addr add "10.213.0.$((host + 1))/24" dev "$name.$host"
  ip -n "$name-$host" link set "$name.$host" up
done
for host in 0 1; do
  RANK=$host WORLD_SIZE=2 MASTER_ADDR=10.213.0.1 MASTER_PORT=29400 \
    ip netns exec "$name-$host" "$yard" train "$config" --out "$out" "$@" >"$out.log.$host" 2>&1 &
  eval "pid$host=\$!"
done
status=0
wait "$pid0" || status=$?
wait "$pid1" || status=$?
exit "$status"
