"""chaos.py run OUT WORK: submits one workload to two clusters, with faults; see chaos.sh.
chaos.py check OUT: checks what became of the jobs. The last line that it prints has the figures. Exit code 1 if a
criterion fails.
"""

import collections
import json
import os
import pathlib
import random
import signal
import sys
import threading
import time

import chaos_check
import slurm_workload
from chaos_faults import FAULTS, schedule
from chaos_world import World


def say(text):
    print(text, flush=True)


def submit(arm, jobs, begin_s):
    try:
        arm.submitter.submit_all(jobs, begin_s, say=lambda text: say(f"{arm.name}: {text}"))
    except Exception as error:  # the other arm goes on
        arm.problem = f"{type(error).__name__}: {error}"


def inflict(world, names, seed, begin_s, gap_s):
    """One fault after another. Returns their records."""
    records = []
    rng = random.Random(seed + 1)
    for number, name in enumerate(names):
        time.sleep(max(0, begin_s + number * gap_s - time.time()))
        record = {"name": name, "of_slurm": FAULTS[name][2], "begin_s": time.time()}
        steps = FAULTS[name][1](world, rng, record)
        time.sleep(next(steps))
        for _ in steps:
            pass
        record["end_s"] = time.time()
        records.append(record)
        say(f"{record['begin_s'] - begin_s:5.0f} s  {name} {record.get('node', '')}")
    return records


def run(out, work):
    seed, nodes = int(os.environ["SEED"]), int(os.environ["NODES"])
    jobs, facts = slurm_workload.make(out / "trace.csv", int(os.environ["JOBS"]), float(os.environ["SPAN_S"]),
                                      float(os.environ["LOAD"]), nodes, float(os.environ["MOST_S"]))
    most = int(os.environ["FAULTS"]) if os.environ.get("FAULTS") else None
    names = schedule(random.Random(seed), most)
    say(f"{facts}, {len(names)} faults {dict(collections.Counter(names))}")
    world = World(out, work, nodes, os.environ["YARD_BIN"], os.environ["FAULTY_SERVER"])
    world.start()
    begin_s = time.time()
    threads = [threading.Thread(target=submit, args=(arm, jobs, begin_s), daemon=True) for arm in world.arms]
    try:
        for thread in threads:
            thread.start()
        faults = inflict(world, names, seed, begin_s + float(os.environ["FIRST_S"]), float(os.environ["GAP_S"]))
        for thread in threads:
            thread.join()
        limit_s = begin_s + float(os.environ["LIMIT_S"])
        left = {arm.name: arm.submitter.wait(limit_s) for arm in world.arms}
    finally:
        world.stop()
    for fault in faults:
        if "stopped_pid" in fault:
            again = [event["at_s"] for event in world.events if event["event"] == "leads"
                     and event["pid"] == fault["stopped_pid"] and event["at_s"] > fault["end_s"]]
            until_s = min(again, default=time.time())
            fault["commands_after"] = world.commands_of(fault["stopped_pid"], fault["end_s"], until_s)
    with open(out / "run.json", "w") as file:
        json.dump({"facts": facts, "begin_s": begin_s, "faults": faults, "events": world.events, "left": left,
                   "ids": {arm.name: arm.submitter.ids for arm in world.arms},
                   "repairs": {arm.name: arm.submitter.repairs for arm in world.arms},
                   "submitted_s": {arm.name: arm.submitter.submitted_s for arm in world.arms},
                   "problems": {arm.name: arm.problem for arm in world.arms if arm.problem}}, file)


if __name__ == "__main__":
    for number in (signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit("ended by a signal"))
    if sys.argv[1] == "run":
        run(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
    else:
        chaos_check.check(pathlib.Path(sys.argv[2]))
