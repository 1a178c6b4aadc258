"""What became of the jobs of the chaos stage: losses, overlapping runs, the deciders, recovery times."""

import collections
import json
import os
import sys

import slurm_workload

AFTER_S = 5  # after a fault, which count as its window
STATE_S = 10  # a slurmctld killed so soon after a submission may not have saved it


def arm_of(out, name, facts, run):
    """What became of the jobs of one arm."""
    stamps = slurm_workload.Submitter(os.devnull, out / name).stamps()
    crashes = [fault["begin_s"] for fault in run["faults"] if fault["name"] == "slurmctld_killed"]
    ended = {stamp.number for stamp in stamps if stamp.event == "end"}
    accepted = {int(number): at_s for number, at_s in run["submitted_s"][name].items()}
    missing = [number for number in range(facts["jobs"]) if number not in ended]
    forgotten = [number for number in missing
                 if number in accepted and any(-STATE_S < accepted[number] - crash < 5 for crash in crashes)]
    begun = {}  # (number, id, restart) -> time of its first start
    again = {"twice": 0, "overlaps": 0, "forgotten": 0, "forgotten_overlaps": 0}
    restarts_beside = 0
    for stamp in stamps:
        if stamp.event not in ("start", "overlap"):
            continue
        first_s = begun.setdefault((stamp.number, stamp.id, stamp.restart), stamp.at_s)
        if first_s == stamp.at_s:
            restarts_beside += stamp.event == "overlap"
            continue
        # A slurmctld that was killed just after the first start comes back without knowing of it.
        kind = "forgotten" if any(-STATE_S < first_s - crash < 5 for crash in crashes) else "twice"
        again[kind] += 1
        if stamp.event == "overlap":
            again["overlaps" if kind == "twice" else "forgotten_overlaps"] += 1
    return {"runs": len(begun), "restarts": sum(restart > 0 for _, _, restart in begun),
            "submitted_again": sum(len(ids) > 1 for ids in run["ids"][name].values()),
            "lost_by_a_killed_slurmctld": len(forgotten), "lost": len(missing) - len(forgotten),
            "lost_numbers": [number for number in missing if number not in forgotten][:20],
            "started_twice": again["twice"], "overlaps_of_one_run": again["overlaps"],
            "started_twice_by_a_killed_slurmctld": again["forgotten"],
            "overlaps_by_a_killed_slurmctld": again["forgotten_overlaps"], "overlaps_of_restarts": restarts_beside,
            "repairs_by_hand": run["repairs"][name], "left": run["left"][name]}


def recovery(run):
    """Adds to each fault how long after its end the policy decided again, and its longest pause."""
    policy_s = [event["at_s"] for event in run["events"] if event["event"] == "decision" and event["source"] == "POLICY"]
    for fault in run["faults"]:
        after = next((at_s for at_s in policy_s if at_s > fault["end_s"]), None)
        fault["recovery_s"] = None if after is None else after - fault["end_s"]
        around = [at_s for at_s in policy_s if fault["begin_s"] - 10 < at_s <= (after or fault["end_s"])]
        fault["pause_s"] = max((b - a for a, b in zip(around, around[1:]) if b > fault["begin_s"]), default=0)


def sources(run):
    inside, outside = collections.Counter(), collections.Counter()
    reasons = collections.Counter()
    for event in run["events"]:
        if event["event"] != "decision":
            continue
        hit = any(f["begin_s"] <= event["at_s"] <= f["end_s"] + AFTER_S for f in run["faults"])
        (inside if hit else outside)[event["source"]] += 1
        reasons[f"{event['source']} {event['reason']}"] += 1
    return inside, outside, reasons


def check(out):
    with open(out / "run.json") as file:
        run = json.load(file)
    facts = run["facts"]
    ours, control = (arm_of(out, name, facts, run) for name in ("ours", "control"))
    recovery(run)
    inside, outside, reasons = sources(run)
    share = outside["POLICY"] / max(1, sum(outside.values()))
    events = run["events"]
    starts = collections.Counter(event["by"] for event in events if event["event"] == "started")
    actions = collections.Counter(f"{e['action']} {e['outcome']}" for e in events if e["event"] == "action")
    stops = [fault for fault in run["faults"] if "commands_after" in fault]
    late = [command for fault in stops for command in fault["commands_after"]]
    for fault in run["faults"]:
        recovered = "never" if fault["recovery_s"] is None else f"{fault['recovery_s']:.1f} s"
        print(f"{fault['begin_s'] - run['begin_s']:6.0f} s  {fault['name']:<40} {fault.get('node', ''):<5} lasted "
              f"{fault['end_s'] - fault['begin_s']:4.1f} s, recovery {recovered:>7}, longest pause {fault['pause_s']:.1f} s")
    figures = {**facts, "faults": len(run["faults"]), "ours": ours, "control": control, "decisions_outside": outside,
               "decisions_inside": inside, "policy_share_outside": share, "reasons": reasons, "starts": starts,
               "actions": actions, "commands_of_deposed_leaders": late, "problems": run["problems"]}
    print(json.dumps(figures, indent=1))
    with open(out / "figures.json", "w") as file:
        json.dump(figures, file, indent=1)
    few = int(os.environ.get("FEWEST_FAULTS", "50"))
    criteria = {
        f"at least {few} faults": len(run["faults"]) >= few,
        "all jobs were submitted": not run["problems"],
        "every job ended: none is left in a queue": ours["left"] == control["left"] == 0,
        "no job is lost but by a killed slurmctld": ours["lost"] == 0,
        "no (job, restart) runs twice but by a killed slurmctld": ours["started_twice"] == 0,
        "no two runs of one (job, restart) overlap but by a killed slurmctld": ours["overlaps_of_one_run"] == 0,
        "a killed slurmctld does not cost more with Yardmaster": all(
            ours[f"{key}_by_a_killed_slurmctld"] <= 1.5 * control[f"{key}_by_a_killed_slurmctld"] + 3
            for key in ("lost", "started_twice", "overlaps")),
        "at least 90 % of decisions outside faults are the policy's": share >= 0.9,
        "after each fault the policy decided again": all(f["recovery_s"] is not None for f in run["faults"]),
        "a leader that was stopped for twice its lock time sent nothing": bool(stops) and not late,
    }
    for what, holds in criteria.items():
        print(f"{'ok  ' if holds else 'FAIL'} {what}")
    times = sorted(fault["recovery_s"] for fault in run["faults"] if fault["recovery_s"] is not None)
    both = [f"{ours[key]} and {control[key]}" for key in (
        "lost", "started_twice", "overlaps_of_one_run", "lost_by_a_killed_slurmctld",
        "started_twice_by_a_killed_slurmctld", "overlaps_by_a_killed_slurmctld")]
    print(f"{len(run['faults'])} faults, {facts['jobs']} jobs an arm; with and without Yardmaster: lost {both[0]}, begun twice "
          f"{both[1]}, overlapping {both[2]}; by a killed slurmctld: lost {both[3]}, begun twice {both[4]}, overlapping "
          f"{both[5]}; {share:.1%} of {sum(outside.values())} decisions outside faults by the policy; recovery median "
          f"{times[len(times) // 2] if times else 0:.1f} s, longest {times[-1] if times else 0:.1f} s; {len(late)} commands "
          f"by {len(stops)} deposed leaders")
    if not all(criteria.values()):
        sys.exit(1)
