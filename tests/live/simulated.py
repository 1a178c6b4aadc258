"""simulated.py OUT BIN: plays the workload of slurm.sh (its folder OUT) in the simulator as well, and compares.

Slurm's reaction times are measured in OUT: from a submission until the agent lists the job, from a decision until the
job starts, from its end until the agent sees free GPUs. In the simulation, jobs arrive later by the first, and hold
their GPUs longer by the other two. OUT/simulated.json gets the
result; the last line that is printed has the figures. Exit code 1 if fewer than 90 % of pairs of jobs start in the same
order, or the correlation of waits is below 0.8.
"""

import csv
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import sys

import slurm_workload

COST_SCALE = "0.075"  # 3 s for a preemption, as slurm.sh tells the agent, instead of 40 s


def decisions_of(out):
    """The decisions with their requests: (time, jobs by id, actions)."""
    with open(out / "decisions.jsonl") as file:
        records = [json.loads(line).get("decision") for line in file]
    return [(float(r["request"]["time_s"]), {job["id"]: job for job in r["request"]["jobs"]},
             r["response"].get("actions", [])) for r in records if r]


def reaction_times(decisions, starts, ends, submits):
    seen, start, freed = [], [], []
    first = {}
    for at_s, jobs, actions in decisions:
        for id in jobs:
            first.setdefault(id, at_s)
        for action in actions:
            key = action["job"], int(action.get("restart", 0))
            if action["verb"] == "START" and key in starts:
                start.append((key, at_s))
    last = dict(start)  # the decision that took effect
    start = [starts[key] - at_s for key, at_s in last.items()]
    seen = [at_s - submits[id] for id, at_s in first.items() if id in submits]
    times = [at_s for at_s, _, _ in decisions]
    for id, end_s in ends.items():
        after = [n for n, at_s in enumerate(times) if at_s > end_s][:3]
        gone = next((times[n] for n in after if id not in decisions[n][1]), None)
        if gone is not None and gone - end_s < 5:  # else nothing waited meanwhile
            freed.append(gone - end_s)
    return {"seen_s": statistics.mean(seen), "start_s": statistics.mean(start), "freed_s": statistics.mean(freed)}


def write_trace(path, jobs, run_s, submits, zero_s, took):
    held_s = took["start_s"] + took["freed_s"]
    with open(path, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["job_id", "submit_s", "run_s", "gpus", "user", "name", "groups"])
        for id, job in sorted(jobs.items(), key=lambda item: submits[item[0]]):
            groups = [{"role": g.get("role", "node"), "count": int(g.get("count", 1)), "gpus": int(g["task"]["gpus"]),
                       "cpu_milli": int(g["task"].get("cpu_milli", 0))} for g in job["groups"]]
            rows.writerow([id, f"{submits[id] - zero_s + took['seen_s']:.3f}", f"{run_s[id] + held_s:.3f}", job["gpus"],
                           job["user"], job["name"], json.dumps(groups)])


def simulated_nodes(timeline):
    """The nodes of each job's first run."""
    nodes = {}
    with open(timeline) as file:
        events = [e for e in json.load(file)["traceEvents"] if e["ph"] == "X" and e.get("cat") == "run"]
    for event in sorted(events, key=lambda event: event["ts"]):
        begun_us, held = nodes.setdefault(event["name"], (event["ts"], set()))
        if event["ts"] == begun_us:
            held.add(f"n{event['pid'] - 1}")
    return {id: sorted(held) for id, (_, held) in nodes.items()}


def main(out, bin):
    with open(out / "submitted.json") as file:
        submitted = json.load(file)
    number_of = {ids[0]: int(number) for number, ids in submitted["ids"].items()}
    wanted_s = submitted["run_s"]
    stamps = slurm_workload.Submitter(os.devnull, out).stamps()
    starts = {(s.id, s.restart): s.at_s for s in stamps if s.event == "start"}
    live_nodes = {s.id: s.nodes for s in reversed(stamps) if s.event == "start" and s.restart == 0}
    ends = {s.id: s.at_s for s in stamps if s.event == "end"}
    submits = {id: records[0][1] for id, records in slurm_workload.completed(out / "jobcomp.log").items()}
    decisions = decisions_of(out)
    jobs = {}
    for _, of_request, _ in decisions:
        for id, job in of_request.items():
            if id in number_of:
                jobs.setdefault(id, job)
    took = reaction_times(decisions, starts, ends, submits)
    zero_s = min(submits.values())
    write_trace(out / "jobs.csv", jobs, {id: wanted_s[number_of[id]] for id in jobs}, submits, zero_s, took)
    (out / "cluster.yaml").write_text(f"nodes:\n  - {{count: {submitted['nodes']}, gpus: 8, cpus: 64}}\n")
    subprocess.run([f"{bin}/yardmaster", "simulate", "--trace", out / "jobs.csv", "--cluster", out / "cluster.yaml",
                    "--policy", "checkpoint:checkpoints/pilot", "--cost-scale", COST_SCALE, "--jobs-out", out / "simulated.csv", "--timeline",
                    out / "timeline.json"], check=True, stdout=subprocess.DEVNULL)
    with open(out / "simulated.csv", newline="") as file:
        rows = {row["job_id"]: row for row in csv.DictReader(file)}
    live = {id: starts[id, 0] - submits[id] for id in jobs if (id, 0) in starts}
    late_s = took["seen_s"] + took["start_s"]
    simulated = {id: float(rows[id]["wait_s"]) + late_s for id in live}
    begun = {id: float(rows[id]["start_s"]) for id in live}
    pairs = [(a, b) for a, b in itertools.combinations(live, 2) if abs(starts[a, 0] - starts[b, 0]) > 1]
    same_order = sum((starts[a, 0] < starts[b, 0]) == (begun[a] < begun[b]) for a, b in pairs) / len(pairs)
    nodes = simulated_nodes(out / "timeline.json")
    figures = {
        **took, "jobs": len(live), "same_order_of_starts": same_order,
        "mean_wait_s": {"live": statistics.mean(live.values()), "simulated": statistics.mean(simulated.values())},
        "median_difference_of_waits_s": statistics.median(abs(live[id] - simulated[id]) for id in live),
        "correlation_of_waits": statistics.correlation([live[id] for id in live], [simulated[id] for id in live]),
        "same_number_of_nodes": sum(len(live_nodes[id]) == len(nodes[id]) for id in live) / len(live),
        "same_nodes": sum(live_nodes[id] == nodes[id] for id in live) / len(live),
        "preemptions": {"live": sum(s.restart > 0 for s in stamps if s.event == "start"),
                        "simulated": sum(int(row["preemptions"]) for row in rows.values())},
    }
    with open(out / "simulated.json", "w") as file:
        json.dump(figures, file, indent=1)
    print(json.dumps(figures, indent=1))
    wait = figures["mean_wait_s"]
    print(f"{figures['jobs']} jobs, live and simulated: mean wait {wait['live']:.1f} and {wait['simulated']:.1f} s, median "
          f"difference {figures['median_difference_of_waits_s']:.1f} s, correlation {figures['correlation_of_waits']:.2f}; "
          f"{same_order:.1%} of pairs start in the same order; the same number of nodes for "
          f"{figures['same_number_of_nodes']:.1%} and the same nodes for {figures['same_nodes']:.1%} of jobs; preemptions "
          f"{figures['preemptions']['live']} and {figures['preemptions']['simulated']}; measured: a job is seen after "
          f"{took['seen_s']:.2f} s, starts {took['start_s']:.2f} s after its decision, its GPUs are seen free after "
          f"{took['freed_s']:.2f} s")
    if same_order < 0.9 or figures["correlation_of_waits"] < 0.8:
        sys.exit(1)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2])
