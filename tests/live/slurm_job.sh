#!/bin/sh
# slurm_job.sh FOLDER NUMBER RUN_S: a job that sleeps for RUN_S seconds in all of its runs together, as a
# program that writes a checkpoint when Slurm ends it. FOLDER/stamps has a line for each start and end of a
# run: EVENT NUMBER SLURM_JOB_ID RESTART UNIX_TIME NODES. The event `overlap` is a start while another run
# of the same job is alive: each run holds a lock that ends with its last process.
folder=$1 number=$2 run_s=$3
stamp() {
  echo "$1 $number $SLURM_JOB_ID ${SLURM_RESTART_COUNT:-0} $(date +%s.%N) $SLURM_JOB_NODELIST" >>"$folder/stamps"
}
exec 9>>"$folder/locks/$number"
if flock -n 9; then stamp start; else stamp overlap; fi
done_s=0
[ -e "$folder/progress/$number" ] && read -r done_s <"$folder/progress/$number"
begin=$(date +%s)
checkpoint() {
  kill "$sleep" 2>/dev/null
  echo $((done_s + $(date +%s) - begin)) >"$folder/progress/$number"
  stamp stopped
  exit 1
}
trap checkpoint TERM
left=$((run_s - done_s))
sleep $((left > 0 ? left : 0)) &
sleep=$!
wait "$sleep"
stamp end
