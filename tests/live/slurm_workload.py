"""Submits a workload from a trace to Slurm, and checks what became of it; see slurm.sh.

slurm_workload.py submit OUT: reads OUT/trace.csv, submits jobs as they arrive, waits until all have ended.
slurm_workload.py check OUT: compares Slurm's record of completed jobs with the decision log and the agent's
events. Exit code 1 if a criterion fails.
"""

import collections
import csv
import json
import os
import re
import statistics
import subprocess
import sys
import time

NODE_GPUS = 8
MIN_RUN_S = 20
MOST_GAPS = 3  # between two arrivals, in mean gaps


def setting(name):
    return float(os.environ[name])


def workload(rows):
    """The first window of JOBS jobs in which a quarter ask for several GPUs, scaled to SPAN_S and LOAD.

    Without the largest virtual cluster, half of the trace, whose jobs ask for one GPU.
    """
    count, span_s = int(setting("JOBS")), setting("SPAN_S")
    gpus_of_cluster = setting("GOVERNED") * NODE_GPUS
    rows = list(rows)
    largest = collections.Counter(row["tenant"] for row in rows).most_common(1)[0][0]
    jobs = []
    for row in rows:
        if row["tenant"] == largest:
            continue
        gpus = int(row["gpus"])
        if gpus > NODE_GPUS:
            gpus = -(-gpus // NODE_GPUS) * NODE_GPUS  # whole nodes
        if 1 <= gpus <= gpus_of_cluster / 4 and float(row["run_s"]) > 0:
            jobs.append((float(row["submit_s"]), float(row["run_s"]), gpus))
    jobs.sort()
    for first in range(0, len(jobs) - count, count // 8):
        window = jobs[first : first + count]
        several = sum(gpus > 1 for _, _, gpus in window) / count
        if several >= 0.25 and window[-1][0] > window[0][0]:
            break
    else:
        sys.exit("no window of the trace has enough jobs with several GPUs")
    # Lulls are cut, or the cluster would be empty for a part of so short an experiment.
    gaps = [b[0] - a[0] for a, b in zip(window, window[1:])]
    most = MOST_GAPS * statistics.mean(gaps)
    arrivals = [0.0]
    for gap in gaps:
        arrivals.append(arrivals[-1] + min(gap, most))
    # Run times are scaled and cut at both ends, so that a short experiment has a load of LOAD.
    most_s = span_s / 2

    def run_s(factor, seconds):
        return min(max(factor * seconds, MIN_RUN_S), most_s)

    def load(factor):
        return sum(g * run_s(factor, r) for _, r, g in window) / (gpus_of_cluster * span_s)

    low, high = 1e-9, 1e9
    for _ in range(200):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if load(middle) < setting("LOAD") else (low, middle)
    out = [(at / arrivals[-1] * span_s, round(run_s(high, r)), g) for at, (_, r, g) in zip(arrivals, window)]
    return out, {"offered_load": load(high), "several_gpus": several,
                 "median_run_s": statistics.median(r for _, r, _ in out)}


def command(*argv):
    return subprocess.run(argv, capture_output=True, text=True, timeout=60)


def submit(out):
    with open(f"{out}/trace.csv", newline="") as file:
        jobs, facts = workload(csv.DictReader(file))
    print(f"{len(jobs)} jobs in {setting('SPAN_S'):.0f} s, {facts}", flush=True)
    with open(f"{out}/job.sh", "w") as file:
        file.write('#!/bin/sh\nexec sleep "$1"\n')
    begin, ids = time.time(), []
    for at_s, run_s, gpus in jobs:
        time.sleep(max(0, begin + at_s - time.time()))
        done = command("sbatch", "--parsable", "--output=/dev/null", f"--gpus={gpus}", f"{out}/job.sh", str(run_s))
        if done.returncode != 0:
            sys.exit(f"sbatch: {done.stderr}")
        ids.append(done.stdout.strip())
        if len(ids) % 100 == 0:
            print(f"{time.time() - begin:.0f} s: {len(ids)} jobs submitted", flush=True)
    with open(f"{out}/submitted.json", "w") as file:
        json.dump({"ids": ids, **facts}, file)
    left = None
    while time.time() < begin + setting("LIMIT_S"):
        left = len(command("squeue", "--noheader", "--format=%i").stdout.split())
        if left == 0:
            return
        time.sleep(2)
    sys.exit(f"{left} jobs are left after LIMIT_S")


def expand(nodes):
    out = []
    for prefix, inside, single in re.findall(r"(\w+)\[([^]]*)\]|(\w+)", nodes):
        if single:
            out.append(single)
        for part in inside.split(",") if inside else []:
            first, _, last = part.partition("-")
            out += [f"{prefix}{n}" for n in range(int(first), int(last or first) + 1)]
    return sorted(out)


def completed(out):
    """Slurm's own record of jobs: id -> (submit, start, end, nodes)."""
    jobs = {}
    with open(f"{out}/jobcomp.log") as file:
        for line in file:
            fields = dict(word.split("=", 1) for word in line.split() if "=" in word)
            times = [time.mktime(time.strptime(fields[key], "%Y-%m-%dT%H:%M:%S"))
                     for key in ("SubmitTime", "StartTime", "EndTime")]
            jobs.setdefault(fields["JobId"], []).append((*times, expand(fields["NodeList"])))
    return jobs


def lines(path):
    with open(path) as file:
        return [json.loads(line) for line in file if line.strip()]


def check(out):
    with open(f"{out}/submitted.json") as file:
        facts = json.load(file)
    ids = facts.pop("ids")
    jobs = completed(out)
    events = lines(f"{out}/agent.jsonl")
    records = [r["decision"] for r in lines(f"{out}/decisions.jsonl") if "decision" in r]
    decided = {}  # job -> nodes of the last decision to start it
    for record in records:
        for action in record.get("response", {}).get("actions", []):
            if action.get("verb") == "START":
                decided[action["job"]] = sorted(piece["node"] for piece in action["pieces"])
    sources = {}
    for event in events:
        if event["event"] == "decision":
            sources[event["source"]] = sources.get(event["source"], 0) + 1
    started = [event for event in events if event["event"] == "started"]
    outcomes = {}
    for event in events:
        if event["event"] == "action":
            key = f"{event['action']}:{event['outcome']}"
            outcomes[key] = outcomes.get(key, 0) + 1
    starts = sorted(runs[0][1] for job, runs in jobs.items() if job in set(ids))
    waits = [jobs[job][0][1] - jobs[job][0][0] for job in ids if job in jobs]
    elapsed_s = starts[-1] - starts[0] if starts else 0
    elsewhere = [job for job in ids if job in jobs and jobs[job][0][3] != decided.get(job)]
    figures = {
        **facts,
        "jobs": len(ids),
        "jobs_completed_once": sum(len(jobs.get(job, [])) == 1 for job in ids),
        "started_by_agent": len({e["job"] for e in started if e["by"] == "agent"}),
        "started_by_lease": len({e["job"] for e in started if e["by"] != "agent"}),
        "placed_elsewhere_than_decided": len(elsewhere),
        "decisions": sources,
        "policy_share": sources.get("POLICY", 0) / max(1, sum(sources.values())),
        "waited_over_3_s": sum(wait > 3 for wait in waits) / max(1, len(waits)),
        "mean_wait_s": statistics.mean(waits) if waits else 0,
        "starts_per_s": len(starts) / max(1, elapsed_s),
        "actions": outcomes,
        "failures": [e for e in events if e["event"] == "failure"][:5],
    }
    print(json.dumps(figures, indent=1))
    with open(f"{out}/figures.json", "w") as file:
        json.dump(figures, file, indent=1)
    criteria = {
        "every job completed, once": figures["jobs_completed_once"] == len(ids),
        "every start was the agent's": figures["started_by_lease"] == 0,
        "at least 95 % of decisions are the policy's": figures["policy_share"] >= 0.95,
        "every placement is that of the decision log": not elsewhere,
        "the offered load is at least 0.9": facts["offered_load"] >= 0.9,
        "a quarter of the jobs ask for several GPUs": facts["several_gpus"] >= 0.25,
        "the median job runs for at least 20 s": facts["median_run_s"] >= 20,
        "at least 40 % of jobs wait": figures["waited_over_3_s"] >= 0.4,
        "fewer than 3 starts a second": figures["starts_per_s"] < 3,
    }
    for what, holds in criteria.items():
        print(f"{'ok  ' if holds else 'FAIL'} {what}")
    if not all(criteria.values()):
        sys.exit(1)


if __name__ == "__main__":
    {"submit": submit, "check": check}[sys.argv[1]](sys.argv[2])
