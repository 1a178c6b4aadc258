#!/bin/bash
# slurm_cluster.sh start FOLDER NODES [LEASE_S]: starts a Slurm of NODES nodes with 8 fake GPUs each, all on
#   loopback, with the lease gate of serving/slurm/job_submit.lua; LEASE_S 0: without the gate.
# slurm_cluster.sh restart FOLDER slurmctld|NODE: starts a daemon again, after it ended, with its state.
# slurm_cluster.sh stop FOLDER: cancels all jobs and ends what `start` started.
# Needs root and Debian's packages slurm-wlm, slurm-client, munge, slurm-wlm-basic-plugins.
# `export SLURM_CONF=FOLDER/etc/slurm.conf` selects the cluster. YARD_SLURM_PORT (27700): the first of the
# ports. YARD_SLURM_EXTRA: further lines of slurm.conf. YARD_SLURM_PARTITION: further settings of the
# partition `gpu`.
set -eu

fail() {
  echo "slurm_cluster.sh: $*" >&2
  exit 1
}

# Waits up to $1 seconds until the rest of the arguments succeeds as a command.
wait_for() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.1
  done
}

# launch FOLDER slurmctld|NODE [OPTION]: starts a daemon and notes its process in run/DAEMON.pid.
launch() {
  local root=$1 daemon=$2 command=(slurmd -N "$2")
  [ "$daemon" = slurmctld ] && command=(slurmctld "${@:3}")
  setsid "${command[@]}" -D -f "$root/etc/slurm.conf" >>"$root/log/$daemon.out" 2>&1 </dev/null &
  echo $! >"$root/run/$daemon.pid"
}

start() {
  local root=$1 nodes=$2 lease=${3:-30} port=${YARD_SLURM_PORT:-27700} last=$(($2 - 1)) i
  local here
  here=$(cd "$(dirname "$0")/../.." && pwd)
  [ "$(id -u)" -eq 0 ] || fail "start needs root"
  command -v slurmctld slurmd munged >/dev/null || fail "Slurm is not installed"
  [ ! -e "$root/etc" ] || fail "$root has a cluster"
  mkdir -p "$root"/{etc,state,spool,log,munge,run,dev}
  root=$(cd "$root" && pwd)

  dd if=/dev/urandom of="$root/munge/munge.key" bs=1024 count=1 status=none
  chown -R munge:munge "$root/munge" "$root/run"
  chmod 700 "$root/munge"
  chmod 600 "$root/munge/munge.key"
  chmod 755 "$root" "$root/run"
  # munged refuses a log below a folder that its user cannot traverse.
  setpriv --reuid=munge --regid=munge --clear-groups munged --key-file="$root/munge/munge.key" \
    --socket="$root/run/munge.socket" --pid-file="$root/run/munged.pid" --log-file="$root/munge/munged.log" \
    --seed-file="$root/munge/munged.seed" --num-threads=4 --force

  # slurmd accepts only character devices as GPUs. These are clones of /dev/null.
  for i in 0 1 2 3 4 5 6 7; do
    mknod -m 666 "$root/dev/nvidia$i" c 1 3
  done
  echo "NodeName=n[0-$last] Name=gpu Type=a100 File=$root/dev/nvidia[0-7]" >"$root/etc/gres.conf"

  local gate=
  if [ "$lease" -gt 0 ]; then
    gate=JobSubmitPlugins=lua
    sed "s/^local LEASE_S = .*/local LEASE_S = $lease/; s/^local PARTITIONS = .*/local PARTITIONS = {gpu = true}/" \
      "$here/serving/slurm/job_submit.lua" >"$root/etc/job_submit.lua"
  fi
  cat >"$root/etc/slurm.conf" <<CONF
ClusterName=yardtest
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$port
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$root/run/munge.socket,cred_expire=10
CredType=cred/munge
StateSaveLocation=$root/state
SlurmdSpoolDir=$root/spool/%n
SlurmctldPidFile=$root/slurmctld.pid
SlurmdPidFile=$root/slurmd.%n.pid
SlurmctldLogFile=$root/log/slurmctld.log
SlurmdLogFile=$root/log/slurmd.%n.log
SlurmctldDebug=verbose
SlurmdDebug=info
ReturnToService=2
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
$gate
PreemptMode=REQUEUE
PreemptType=preempt/partition_prio
JobCompType=jobcomp/filetxt
JobCompLoc=$root/log/jobcomp.log
SwitchType=switch/none
MpiDefault=none
GresTypes=gpu
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,sched_min_interval=10000
PriorityType=priority/basic
SlurmdParameters=config_overrides
MinJobAge=300
MaxJobCount=100000
InactiveLimit=0
KillWait=2
Waittime=0
SlurmctldTimeout=30
SlurmdTimeout=60
MessageTimeout=10
${YARD_SLURM_EXTRA:-}
NodeName=n[0-$last] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + nodes))] CPUs=64 Boards=1 SocketsPerBoard=1 CoresPerSocket=64 ThreadsPerCore=1 RealMemory=500000 Gres=gpu:a100:8 State=UNKNOWN
PartitionName=gpu Nodes=n[0-$last] Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO ${YARD_SLURM_PARTITION:-}
PartitionName=other Nodes=n[0-$last] MaxTime=INFINITE State=UP OverSubscribe=NO
CONF

  export SLURM_CONF=$root/etc/slurm.conf
  launch "$root" slurmctld -c
  for i in $(seq 0 "$last"); do
    mkdir -p "$root/spool/n$i"
    launch "$root" "n$i"
  done
  local all="idle $nodes"
  # shellcheck disable=SC2329  # called by wait_for
  idle() { [ "$(timeout 5 sinfo -h -p gpu -o '%T %D' 2>/dev/null)" = "$all" ]; }
  wait_for 60 idle || fail "the nodes did not become idle; see $root/log"
}

stop() {
  local root pid
  root=$(cd "$1" && pwd)
  export SLURM_CONF=$root/etc/slurm.conf
  # Without their jobs first, slurmstepd processes would stay behind.
  timeout 10 scancel --user="$(id -un)" --quiet 2>/dev/null || true
  # shellcheck disable=SC2329
  empty() { [ -z "$(timeout 5 squeue -h 2>/dev/null)" ]; }
  wait_for 30 empty || true
  # slurmctld last, since slurmd reports to it.
  local pids
  pids="$(cat "$root"/run/n*.pid) $(cat "$root/run/slurmctld.pid")"
  for pid in $pids; do kill -CONT "$pid" 2>/dev/null || true; done
  for pid in $pids; do kill "$pid" 2>/dev/null || true; done
  # shellcheck disable=SC2329
  gone() {
    for pid in $pids; do
      # A zombie has ended, even if nothing reaps it.
      case "$(cut -d' ' -f3 "/proc/$pid/stat" 2>/dev/null)" in '' | Z) ;; *) return 1 ;; esac
    done
  }
  wait_for 10 gone || for pid in $pids; do kill -KILL "$pid" 2>/dev/null || true; done
  kill "$(cat "$root/run/munged.pid")" 2>/dev/null || true
}

case "${1:-}" in
  start) shift && start "$@" ;;
  restart) launch "$(cd "$2" && pwd)" "$3" ;;
  stop) shift && stop "$@" ;;
  *) fail "usage: slurm_cluster.sh start FOLDER NODES [LEASE_S] | restart FOLDER DAEMON | stop FOLDER" ;;
esac
