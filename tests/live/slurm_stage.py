"""The run of slurm.sh: submits the workload, and checks what became of it.

slurm_stage.py submit OUT: reads OUT/trace.csv, submits jobs as they arrive, waits until all have ended.
slurm_stage.py check OUT: compares the jobs' own stamps and Slurm's record with the decision log and the agent's
events. The last line that it prints has the figures. Exit code 1 if a criterion fails.
"""

import json
import os
import statistics
import sys
import time

import slurm_workload


def submit(out):
    jobs, facts = slurm_workload.make(f"{out}/trace.csv", int(os.environ["JOBS"]), float(os.environ["SPAN_S"]),
                                      float(os.environ["LOAD"]), int(os.environ["GOVERNED"]),
                                      float(os.environ["MOST_S"]))
    print(json.dumps(facts), flush=True)
    submitter = slurm_workload.Submitter(os.environ["SLURM_CONF"], out)
    begin_s = time.time()
    submitter.submit_all(jobs, begin_s, say=lambda text: print(text, flush=True))
    with open(f"{out}/submitted.json", "w") as file:
        json.dump({"ids": submitter.ids, "facts": facts, "run_s": [run_s for _, run_s, _ in jobs],
                   "nodes": int(os.environ["GOVERNED"])}, file)
    left = submitter.wait(begin_s + float(os.environ["LIMIT_S"]))
    if left:
        sys.exit(f"{left} jobs are left after LIMIT_S")


def lines(path):
    with open(path) as file:
        return [json.loads(line) for line in file if line.strip()]


def starts_in(records):
    """The decision log's starts: (job, restart) -> nodes of the last decision that starts it."""
    decided = {}
    for record in records:
        for action in record.get("decision", {}).get("response", {}).get("actions", []):
            # A policy may move a job, too: stop it and start it elsewhere. The agent only stops it.
            if action.get("verb") == "START" and action.get("expected") != "RUNNING":
                nodes = sorted(piece["node"] for piece in action["pieces"])
                decided[action["job"], int(action.get("restart", 0))] = nodes
    return decided


def count(events, *keys):
    out = {}
    for event in events:
        name = ":".join(str(event[key]) for key in keys)
        out[name] = out.get(name, 0) + 1
    return out


def check(out):
    with open(f"{out}/submitted.json") as file:
        submitted = json.load(file)
    facts = submitted["facts"]
    ids = [one for of_job in submitted["ids"].values() for one in of_job]
    jobs = slurm_workload.completed(f"{out}/jobcomp.log")
    events = lines(f"{out}/agent.jsonl")
    decided = starts_in(lines(f"{out}/decisions.jsonl"))
    stamps = slurm_workload.Submitter(os.devnull, out).stamps()
    starts = [stamp for stamp in stamps if stamp.event in ("start", "overlap")]
    sources = count([e for e in events if e["event"] == "decision"], "source")
    actions = count([e for e in events if e["event"] == "action"], "action", "outcome")
    by_lease = [e for e in events if e["event"] == "started" and e["by"] != "agent"]
    by_agent = {(e["job"], e["restarts"]) for e in events if e["event"] == "started" and e["by"] == "agent"}
    first, submits = {}, {id: records[0][1] for id, records in jobs.items()}
    for stamp in starts:
        first.setdefault(stamp.id, stamp)
    waits = [first[id].at_s - submits[id] for id in ids if id in first and id in submits]
    at_s = sorted(stamp.at_s for stamp in starts)
    figures = {
        **facts,
        "jobs_ended": sum(any(record[0] == "COMPLETED" for record in jobs.get(id, [])) for id in ids),
        "runs": len(starts),
        "runs_of_the_agent": len({(s.id, s.restart) for s in starts} & by_agent),
        "runs_twice": len(starts) - len({(s.id, s.restart) for s in starts}),
        "runs_overlapping": sum(stamp.event == "overlap" for stamp in stamps),
        "started_by_lease": len(by_lease),
        "placed_elsewhere_than_decided": sum(decided.get((s.id, s.restart)) != s.nodes for s in starts),
        "decisions": sources,
        "policy_share": sources.get("POLICY", 0) / max(1, sum(sources.values())),
        "reasons": count([e for e in events if e["event"] == "decision"], "source", "reason"),
        "preemptions": actions.get("preempt:done", 0),
        "restarts": sum(stamp.restart > 0 for stamp in starts),
        "waited_over_3_s": sum(wait > 3 for wait in waits) / max(1, len(waits)),
        "mean_wait_s": statistics.mean(waits) if waits else 0,
        "starts_per_s": len(at_s) / max(1.0, at_s[-1] - at_s[0]) if at_s else 0,
        "actions": actions,
        "failures": [e for e in events if e["event"] == "failure"][:5],
    }
    print(json.dumps(figures, indent=1))
    with open(f"{out}/figures.json", "w") as file:
        json.dump(figures, file, indent=1)
    few, fewest_preemptions = int(os.environ["FEWEST_JOBS"]), int(os.environ["FEWEST_PREEMPTIONS"])
    criteria = {
        f"at least {few} jobs": facts["jobs"] >= few,
        "every job ended": figures["jobs_ended"] == facts["jobs"],
        "no run was started twice or overlaps another of its job": figures["runs_twice"] + figures["runs_overlapping"] == 0,
        "every start was the agent's": figures["started_by_lease"] == 0,
        "the agent saw every run": figures["runs_of_the_agent"] == len(starts),
        "at least 95 % of decisions are the policy's": figures["policy_share"] >= 0.95,
        "every placement is that of the decision log": figures["placed_elsewhere_than_decided"] == 0,
        "the offered load is at least 0.9": facts["offered_load"] >= 0.9,
        "a quarter of the jobs ask for several GPUs": facts["several_gpus"] >= 0.25,
        "the median job runs for at least 20 s": facts["median_run_s"] >= 20,
        "at least 40 % of jobs wait": figures["waited_over_3_s"] >= 0.4,
        f"at least {fewest_preemptions} preemptions": figures["preemptions"] >= fewest_preemptions,
        "fewer than 3 starts a second": figures["starts_per_s"] < 3,
    }
    for what, holds in criteria.items():
        print(f"{'ok  ' if holds else 'FAIL'} {what}")
    print(f"{facts['jobs']} jobs at load {facts['offered_load']:.2f}, {facts['several_gpus']:.0%} with several GPUs, median "
          f"{facts['median_run_s']:.0f} s, {figures['starts_per_s']:.2f} starts/s, {figures['waited_over_3_s']:.0%} waited, "
          f"{figures['preemptions']} preemptions, {figures['started_by_lease']} starts by lease, "
          f"{figures['policy_share']:.1%} of {sum(sources.values())} decisions by the policy, "
          f"{figures['placed_elsewhere_than_decided']} of {len(starts)} starts elsewhere than in the decision log")
    if not all(criteria.values()):
        sys.exit(1)


if __name__ == "__main__":
    {"submit": submit, "check": check}[sys.argv[1]](sys.argv[2])
