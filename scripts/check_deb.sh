#!/usr/bin/env bash
# check_deb.sh [FILE.deb]: installs the package in a bare Debian of this machine's release, runs what a
# user would run first, removes the package, and looks for what it left behind. Uses this machine's
# package sources. Needs root, debootstrap and a network; without them it prints "skipped: REASON"
# and succeeds.
set -euo pipefail
cd "$(dirname "$0")/.."

skip() {
  echo "check_deb: skipped: $*"
  exit 0
}

deb=${1:-}
if [[ -z $deb ]]; then
  version=$(sed -n 's/^project(yardmaster VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
  deb=build/yardmaster_${version}_$(dpkg --print-architecture 2>/dev/null || true).deb
fi
[[ $(id -u) == 0 ]] || skip "not root"
command -v debootstrap >/dev/null || skip "no debootstrap (apt-get install debootstrap)"
[[ -f $deb ]] || { echo "check_deb: no package $deb (make deb)" >&2; exit 1; }

# shellcheck disable=SC1091
release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
[[ -n $release ]] || skip "this Debian has no release name"
mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
  sed -n 's/^deb \(\[[^]]*\] \)\?\(http[^ ]*\).*/\2/p; s/^URIs: *\([^ ]*\).*/\1/p' | grep '/debian/*$' | head -1) || true
mirror=${mirror:-http://deb.debian.org/debian}

mkdir -p build
root=$(mktemp -d "$PWD/build/deb-root.XXXXXX")
mounted=
clean() {
  if [[ -n $mounted ]]; then umount "$root/proc" || umount -l "$root/proc"; fi
  rm -rf --one-file-system "$root" "$root".*
}
trap clean EXIT
log=$root.log
quietly() { "$@" >"$log" 2>&1 </dev/null || { tail -n 30 "$log" >&2; return 1; }; }

echo "== a bare Debian ($release from $mirror)"
if ! debootstrap --variant=minbase "$release" "$root" "$mirror" >"$log" 2>&1; then
  if grep -q 'Failed getting release file\|Invalid Release file\|Couldn.t download\|Failure trying to run: chroot\|Cannot install into target' "$log"; then
    reason=$(grep -m1 '^[EW]:' "$log" || tail -n 1 "$log")
    skip "debootstrap: $reason"
  fi
  tail -n 30 "$log" >&2
  exit 1
fi
mount -t proc proc "$root/proc" 2>/dev/null || skip "may not mount /proc"
mounted=1
rm -rf "$root/etc/apt/sources.list" "$root/etc/apt/sources.list.d"
mkdir "$root/etc/apt/sources.list.d"
for sources in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
  # Debian's own, whose key the bare system has.
  if [[ -f $sources ]] && grep -q '/debian' "$sources"; then
    cp "$sources" "$root/etc/apt/${sources#/etc/apt/}"
  fi
done
for proxy in /etc/apt/apt.conf.d/*; do
  if grep -qs 'Acquire' "$proxy"; then cp "$proxy" "$root/etc/apt/apt.conf.d/"; fi
done
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"  # no service starts
chmod +x "$root/usr/sbin/policy-rc.d"
echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io"  # faster

inside() {
  chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root \
    DEBIAN_FRONTEND=noninteractive ${http_proxy:+"http_proxy=$http_proxy"} "$@"
}
# Files outside the records of dpkg and apt.
files() {
  inside find / -xdev -not -path '/proc*' -not -path '/sys*' -not -path '/dev*' -not -path '/tmp/*' -not -path '/run/*' \
    -not -path '/var/lib/dpkg/*' -not -path '/var/lib/apt/*' -not -path '/var/cache/*' \
    -not -path '/var/log/*' -not -type d | sort
}

echo "== install"
cp "$deb" "$root/tmp/yardmaster.deb"
cp experiments/snapshots/idle.json "$root/tmp/"
quietly inside apt-get -qq update || skip "apt-get update failed (offline?)"
quietly inside apt-get -y install --no-install-recommends systemd  # to check the units
inside useradd --system slurm
quietly inside apt-get -y install --no-install-recommends /tmp/yardmaster.deb
inside dpkg -L yardmaster | sort >"$root.owned"
files | comm -23 - "$root.owned" >"$root.others"

echo "== use"
inside yardmaster --version
# shellcheck disable=SC2016  # expanded inside
inside sh -euc '
  cd /tmp
  yardmaster simulate --trace synthetic:habits --cluster 8x8 --policy fifo,las
  yardmaster simulate --trace synthetic:habits --generate-jobs 500 --cluster servers-13 \
    --policy las,checkpoint:/usr/share/yardmaster/checkpoints/pilot >/dev/null
  yardmaster list agents >/dev/null
  yardmaster serve --policy las --listen 127.0.0.1:0 --grace 0 --json >served &
  server=$!
  trap "kill $server 2>/dev/null" EXIT
  for i in $(seq 100); do [ -s served ] && break; sleep 0.1; done
  address=$(sed -n "s/.*\"grpc\": *\"\([^\"]*\)\".*/\1/p" served)
  yardmaster decide --server "$address" --snapshot idle.json --deadline-ms 10000 --json >decided
  grep "\"source\": *\"POLICY\"" decided
  kill $server
  wait $server
  trap - EXIT
  rm served decided
'
# The units as systemd reads them, the server as yardmaster.service starts it, and its exposure.
# shellcheck disable=SC2016  # expanded inside
inside sh -euc '
  cd /usr/lib/systemd/system
  systemd-analyze verify --man=no ./yardmaster.service ./yardmaster-slurm.service ./yardmaster-drift.timer
  systemd-analyze security --offline=true --threshold=20 ./yardmaster.service | tail -1
  cd /tmp
  perl -MSocket -MIO::Socket::UNIX -e "\$| = 1;
    \$socket = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => q(notify)) or die;
    while (defined \$socket->recv(\$message, 4096)) { print qq(\$message\n) }" >notified &
  manager=$!
  until [ -S notify ]; do sleep 0.1; done
  NOTIFY_SOCKET=/tmp/notify yardmaster serve --config /etc/yardmaster/serve.yaml --grace 0 >served &
  server=$!
  trap "kill $manager $server 2>/dev/null" EXIT
  for i in $(seq 100); do grep -q READY=1 notified && break; sleep 0.1; done
  kill $server
  wait $server
  cat notified
  grep -q STOPPING=1 notified
  kill $manager
  trap - EXIT
  rm -f served notified notify
'
if inside sh -c 'command -v cc' >/dev/null; then
  inside sh -euc 'cd /tmp
    printf "#include <yardmaster_env.h>\nint main(void) { return yardmaster_env_abi() != YARDMASTER_ENV_ABI; }\n" >abi.c
    cc abi.c -lyardmaster_env -o abi && ./abi && rm abi abi.c'
else
  inside sh -euc 'ldconfig -p | grep libyardmaster_env'
fi

echo "== remove"
quietly inside apt-get -y purge yardmaster
left=$(files | comm -13 "$root.others" -
  inside find / -xdev -name '*yardmaster*' -not -path '/proc/*' -not -path '/tmp/*' \
    -not -path '/var/lib/dpkg/*')
if [[ -n $left ]]; then
  printf 'check_deb: files left behind:\n%s\n' "$left" >&2
  exit 1
fi
echo "check_deb: ok"
