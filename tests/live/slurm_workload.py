"""A workload from a public trace, submitted to a live Slurm, and Slurm's record of what became of it.

Jobs run slurm_job.sh, whose stamps tell when and where each run began and ended. Jobs are numbered in the order of
their arrival: a Slurm that lost its latest state gives the ids of lost jobs to others.
"""

import collections
import csv
import os
import pathlib
import re
import statistics
import subprocess
import time

NODE_GPUS = 8
MIN_RUN_S = 20
SEVERAL = 0.25  # of jobs that ask for several GPUs
MOST_GAPS = 3  # between two arrivals, in mean gaps

Stamp = collections.namedtuple("Stamp", "event number id restart at_s nodes")


class Failure(Exception):
    """A check which cannot go on."""


def several_of(jobs):
    return sum(gpus > 1 for _, _, gpus in jobs) / len(jobs)


def make(trace, count, span_s, offered_load, nodes, most_s):
    """Returns jobs (arrival in s, run time in s, GPUs) and facts about them.

    The jobs are those `count` successive ones that ask for the most GPUs, scaled so that they arrive within
    `span_s`, run for `MIN_RUN_S` to `most_s`, and ask for `offered_load` times the GPU seconds that `nodes` have
    meanwhile. Virtual clusters of which few jobs ask for several GPUs are left out: with a good policy, jobs of one GPU
    hardly ever wait.
    """
    cluster_gpus = nodes * NODE_GPUS
    with open(trace, newline="") as file:
        rows = list(csv.DictReader(file))
    clusters = collections.Counter(row["tenant"] for row in rows)
    several = collections.Counter(row["tenant"] for row in rows if int(row["gpus"]) > 1)
    jobs = []
    for row in rows:
        if several[row["tenant"]] < SEVERAL * clusters[row["tenant"]]:
            continue
        gpus = int(row["gpus"])
        if gpus > NODE_GPUS:
            gpus = -(-gpus // NODE_GPUS) * NODE_GPUS  # whole nodes
        if 1 <= gpus <= cluster_gpus / 4 and float(row["run_s"]) > 0:
            jobs.append((float(row["submit_s"]), float(row["run_s"]), gpus))
    jobs.sort()
    windows = [jobs[first : first + count] for first in range(0, len(jobs) - count, max(1, count // 8))]
    windows = [window for window in windows if several_of(window) >= SEVERAL]
    if not windows:
        raise Failure("no window of the trace has enough jobs with several GPUs")
    window = max(windows, key=lambda window: sum(gpus for _, _, gpus in window))
    # Lulls are cut, or the cluster would be empty for a part of so short an experiment.
    gaps = [b[0] - a[0] for a, b in zip(window, window[1:])]
    most = MOST_GAPS * statistics.mean(gaps)
    arrivals = [0.0]
    for gap in gaps:
        arrivals.append(arrivals[-1] + min(gap, most))
    # Run times are scaled and cut at both ends, so that a short experiment has this load.

    def run_s(factor, seconds):
        return min(max(factor * seconds, MIN_RUN_S), most_s)

    def load(factor):
        return sum(g * run_s(factor, r) for _, r, g in window) / (cluster_gpus * span_s)

    low, high = 1e-9, 1e9
    for _ in range(200):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if load(middle) < offered_load else (low, middle)
    if load(high) < 0.99 * offered_load:
        raise Failure(f"the jobs cannot ask for more than {load(high):.2f} of the cluster: take more or longer ones")
    out = [(at / arrivals[-1] * span_s, round(run_s(high, r)), g) for at, (_, r, g) in zip(arrivals, window)]
    return out, {"jobs": len(out), "offered_load": load(high), "several_gpus": several_of(window),
                 "median_run_s": statistics.median(r for _, r, _ in out), "run_time_scale": high}


class Submitter:
    """Submits jobs to the Slurm of one configuration file, and waits for their ends.

    A submission that fails is tried again until `give_up_s` have passed.
    """

    def __init__(self, conf, folder, give_up_s=120):
        self.environment = {**os.environ, "SLURM_CONF": str(conf)}
        self.folder = pathlib.Path(folder)
        for name in ("locks", "progress"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        (self.folder / "stamps").touch()
        self.script = pathlib.Path(__file__).with_name("slurm_job.sh")
        self.give_up_s = give_up_s
        self.ids = {}  # number -> every id under which the job was accepted
        self.submitted_s = {}  # number -> Unix time at which the job was accepted
        self.retries = self.repairs = 0

    def run(self, *argv, timeout=15):
        """Returns what a command of Slurm printed, or None if it failed."""
        try:
            done = subprocess.run(argv, capture_output=True, text=True, timeout=timeout, env=self.environment)
        except subprocess.TimeoutExpired:
            return None
        return done.stdout if done.returncode == 0 else None

    def queue(self):
        """Returns {id: (name, state)} of jobs that have not ended, or None without an answer."""
        text = self.run("squeue", "--noheader", "--format=%i %j %T")
        return None if text is None else {line.split()[0]: tuple(line.split()[1:]) for line in text.splitlines()}

    def submit(self, number, run_s, gpus):
        """Submits one job. After a failure the job may have been accepted all the same: its name tells."""
        end_s = time.time() + self.give_up_s
        while True:
            text = self.run("sbatch", "--parsable", "--requeue", "--output=/dev/null", f"--job-name=w{number}",
                            f"--gpus={gpus}", str(self.script), str(self.folder), str(number), str(run_s))
            if text:
                self.ids.setdefault(number, []).append(text.strip())
                self.submitted_s[number] = time.time()
                return
            self.retries += 1
            if time.time() > end_s:
                raise Failure(f"sbatch failed for {self.give_up_s} s")
            time.sleep(1)
            queue = self.queue()
            found = [] if queue is None else [id for id, (name, _) in queue.items() if name == f"w{number}"]
            if found:
                self.ids.setdefault(number, []).extend(found)
                self.submitted_s[number] = time.time()
                return

    def submit_all(self, jobs, begin_s, say=None):
        for number, (at_s, run_s, gpus) in enumerate(jobs):
            time.sleep(max(0, begin_s + at_s - time.time()))
            self.submit(number, run_s, gpus)
            if say and (number + 1) % 100 == 0:
                say(f"{time.time() - begin_s:.0f} s: {number + 1} jobs submitted")

    def wait(self, until_s):
        """Waits until the queue is empty. Returns the number of jobs left at `until_s`."""
        while True:
            queue = self.queue()
            if queue is not None and not queue:
                return 0
            if time.time() > until_s:
                return -1 if queue is None else len(queue)
            self.repair()
            time.sleep(2)

    def repair(self):
        """Does what an operator does after faults: releases jobs that Slurm held, and resumes nodes that it took out."""
        for line in (self.run("squeue", "--noheader", "--states=PD", "--format=%i %r") or "").splitlines():
            id, reason = line.split(maxsplit=1)
            if reason.startswith(("JobHeld", "launch failed")):
                self.repairs += self.run("scontrol", "release", id) is not None
        for node in set((self.run("sinfo", "--noheader", "--Node", "--states=drain,down", "--format=%N") or "").split()):
            self.repairs += self.run("scontrol", "update", f"NodeName={node}", "State=RESUME") is not None

    def stamps(self):
        out = []
        for line in (self.folder / "stamps").read_text().splitlines():
            event, number, id, restart, at_s, nodes = line.split()
            out.append(Stamp(event, int(number), id, int(restart), float(at_s), expand(nodes)))
        return out


def expand(nodes):
    """Returns the names in a list of nodes as Slurm writes it, sorted."""
    out = []
    for prefix, inside, single in re.findall(r"(\w+)\[([^]]*)\]|(\w+)", nodes):
        if single:
            out.append(single)
        for part in inside.split(",") if inside else []:
            first, _, last = part.partition("-")
            out += [f"{prefix}{n}" for n in range(int(first), int(last or first) + 1)]
    return sorted(out)


def completed(jobcomp):
    """Slurm's own record of ended jobs: id -> list of (state, submit, start, end, nodes)."""
    jobs = {}
    for line in pathlib.Path(jobcomp).read_text().splitlines():
        fields = dict(word.split("=", 1) for word in line.split() if "=" in word)
        times = []
        for key in ("SubmitTime", "StartTime", "EndTime"):
            try:
                times.append(time.mktime(time.strptime(fields[key], "%Y-%m-%dT%H:%M:%S")))
            except ValueError:
                times.append(0.0)  # "Unknown"
        jobs.setdefault(fields["JobId"], []).append((fields["JobState"], *times, expand(fields["NodeList"])))
    return jobs
