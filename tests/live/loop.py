"""loop.py OUT WORK: the run of loop.sh. Prints what happens; the last line has the figures. Exit code 1 if a step
fails, a job is lost, or the verdict was not carried out.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import slurm_workload

BIN = pathlib.Path(os.environ["YARD_BIN"])
NODES, JOBS, SPAN_S = int(os.environ["NODES"]), int(os.environ["JOBS"]), float(os.environ["SPAN_S"])
TURN_S, MAX_TURNS, LIMIT_S = os.environ["TURN_S"], os.environ["MAX_TURNS"], float(os.environ["LIMIT_S"])
LEARN_AFTER_S = 180  # of the changed workload, so that the log has its waits
SHADOW_S = 60
# The parts of the workload, before and after the change: time in SPAN_S, offered load, longest run time.
PARTS = ((1, 0.9, 90), (2, 1.2, 240))
TRAINING = {
    "clone": ["updates=20"],
    "better": ["learner=group", "updates=40", "num_envs=16", "group=4", "episode_jobs=60", "validate_jobs=120"],
}


def say(text):
    print(f"{time.time() - BEGIN_S:6.0f} s: {text}", flush=True)


def program(*argv, timeout=900):
    done = subprocess.run([BIN / "yardmaster", *argv], capture_output=True, text=True, timeout=timeout)
    if done.returncode != 0:
        raise slurm_workload.Failure(f"yardmaster {' '.join(map(str, argv))}: {done.stderr or done.stdout}")
    return done.stdout


def start(out, name, *argv):
    return subprocess.Popen([BIN / "yardmaster", *argv], stdout=open(out / f"{name}.json", "w"),
                            stderr=open(out / f"{name}.log", "w"))


def workload(out):
    """The jobs of both parts by arrival, and what is known of each part."""
    jobs, facts, begin_s = [], [], 0.0
    for spans, load, most_s in PARTS:
        some, about = slurm_workload.make(out / "trace.csv", spans * JOBS, spans * SPAN_S, load, NODES, most_s)
        jobs += [(begin_s + at_s, run_s, gpus) for at_s, run_s, gpus in some]
        facts.append(about)
        begin_s += spans * SPAN_S
    return jobs, facts


class Admin:
    def __init__(self, address):
        self.address = address

    def __call__(self, *argv):
        return json.loads(program("models", *argv, "--server", self.address, "--json"))

    def model(self):
        return self("list")["servers"][0]["models"][0]


def learn(out):
    """Trains from the log, and returns the folder of the checkpoint."""
    log, clone, better = out / "decisions", out / "runs/clone", out / "runs/better"
    program("train", "--from-log", log, "--out", clone, "--set", *TRAINING["clone"])
    program("train", "--from-log", log, "--out", better, "--set", f"start={clone}/checkpoints/best",
            *TRAINING["better"])
    return better / "checkpoints/best"


def try_out(out, admin, checkpoint, until_s):
    """Shadow, canary, review. Returns the last review."""
    admin("load", "--policy", f"checkpoint:{checkpoint}")
    admin("mode", "--mode", "shadow")
    time.sleep(SHADOW_S)
    shadow = admin.model()["shadow"]
    say(f"shadow: {shadow}")
    if shadow["same"] + shadow["different"] == 0:
        raise slurm_workload.Failure("the shadow made no decision")
    admin("mode", "--mode", "canary", "--share", "0.5", "--turn", TURN_S)
    began_s = time.time()
    while time.time() < until_s:
        time.sleep(float(TURN_S))
        review = admin("review", "--log", out / "decisions", "--max-turns", MAX_TURNS, "--apply")
        if review["applied"]:
            return review
    raise slurm_workload.Failure(f"no verdict in {until_s - began_s:.0f} s: {review['reason']}")


def main():
    out, work = map(pathlib.Path, sys.argv[1:])
    jobs, facts = workload(out)
    say(json.dumps(facts))
    server = start(out, "server", "serve", "--policy", "las", "--name", "main", "--listen", "127.0.0.1:0", "--admin",
                   "127.0.0.1:0", "--json", "--budget-ms", "400", "--min-run", "15", "--decision-log",
                   out / "decisions")
    processes = [server]
    try:
        while not (out / "server.json").read_text().strip():
            time.sleep(0.1)
        addresses = json.loads((out / "server.json").read_text())
        admin = Admin(addresses["admin"])
        (out / "agent.yaml").write_text(f"partitions: [gpu]\nnodes: n[0-{NODES - 1}]\nserver: {addresses['grpc']}\n"
                                        f"lock: {work}/lock\ndeadline_ms: 500\n")
        processes.append(start(out, "agent", "slurm", "--config", out / "agent.yaml", "--json"))
        submitter = slurm_workload.Submitter(os.environ["SLURM_CONF"], out)
        arrivals = threading.Thread(target=submitter.submit_all, args=(jobs, BEGIN_S), daemon=True)
        arrivals.start()
        time.sleep(max(0, BEGIN_S + SPAN_S + LEARN_AFTER_S - time.time()))
        say("the workload has changed: training from the log")
        began_s = time.time()
        checkpoint = learn(out)
        training_s = time.time() - began_s
        say(f"trained in {training_s:.0f} s")
        review = try_out(out, admin, checkpoint, BEGIN_S + LIMIT_S - 300)
        say(f"{review['verdict']}: {review['reason']}")
        model = admin.model()
        promoted = review["verdict"] == "promote"
        if model["mode"] != "on":
            raise slurm_workload.Failure(f"after the verdict, the model is {model}")
        if promoted != model["current"]["policy"].startswith("checkpoint:"):
            raise slurm_workload.Failure(f"the verdict {review['verdict']} was not carried out: {model}")
        arrivals.join()
        left = submitter.wait(BEGIN_S + LIMIT_S)
    finally:
        for process in reversed(processes):
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=30)
    ended = {stamp.number for stamp in submitter.stamps() if stamp.event == "end"}
    described = json.loads(program("log", "describe", out / "decisions", "--json"))
    reported = described["outcomes"]["reported"]
    print(f"{described['decisions']} decisions logged, {reported} outcomes reported, trained in {training_s:.0f} s, "
          f"{review['turns']} turns compared, verdict: {review['verdict']} ({review['reason']}), carried out; "
          f"{len(ended)} of {len(jobs)} jobs ended")
    if left or len(ended) != len(jobs) or reported == 0:
        sys.exit(f"{left} jobs are left, {len(jobs) - len(ended)} did not end, {reported} outcomes were reported")


BEGIN_S = time.time()
try:
    main()
except slurm_workload.Failure as failure:
    sys.exit(f"loop.py: {failure}")
