"""What the chaos stage runs: two Slurm clusters, and for the first one a policy server and two agents.

The server is in a network namespace of its own, behind a pair of virtual interfaces that can be cut.
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

import slurm_workload

HERE = pathlib.Path(__file__).parent
LOCK_S = 6


class Arm:
    """A Slurm cluster with its workload."""

    def __init__(self, name, folder, out):
        self.name, self.folder, self.out = name, folder, out
        self.submitter = slurm_workload.Submitter(folder / "etc/slurm.conf", out)
        self.problem = None  # why the submission of jobs ended early

    def pid(self, daemon):
        return int((self.folder / "run" / f"{daemon}.pid").read_text())

    def signal(self, daemon, number):
        os.kill(self.pid(daemon), number)

    def restart(self, daemon):
        subprocess.run([HERE / "slurm_cluster.sh", "restart", self.folder, daemon], check=True, timeout=10)

    def set_node(self, node, state):
        for _ in range(3):  # slurmctld may be busy
            if self.submitter.run("scontrol", "update", f"NodeName={node}", f"State={state}", "Reason=chaos") is not None:
                return


class Process:
    """A program that can be killed and started again."""

    def __init__(self, argv, log, environment=None):
        self.argv, self.log, self.environment = argv, log, environment
        self.running = None
        self.stopped = False

    def start(self):
        with open(self.log, "ab") as log:
            self.running = subprocess.Popen(self.argv, stdout=subprocess.PIPE, stderr=log, env=self.environment)
        threading.Thread(target=self.read, args=(self.running,), daemon=True).start()

    def read(self, running):
        for line in running.stdout:
            self.heard(running.pid, line)

    def heard(self, pid, line):
        pass

    @property
    def pid(self):
        return self.running.pid

    def signal(self, number):
        self.running.send_signal(number)
        if number == signal.SIGKILL:
            self.running.wait()

    def end(self):
        if self.running and self.running.poll() is None:
            self.running.send_signal(signal.SIGCONT)
            self.running.terminate()
            try:
                self.running.wait(20)
            except subprocess.TimeoutExpired:
                self.running.kill()


class Agent(Process):
    """`yardmaster slurm`. Its events are kept with their times and the process that reported them."""

    def __init__(self, events, *arguments):
        super().__init__(*arguments)
        self.events = events

    def heard(self, pid, line):
        try:
            event = {"at_s": time.time(), "pid": pid, **json.loads(line)}
        except ValueError:
            return  # cut short by a kill
        self.events.append(event)
        with open(self.log.with_suffix(".jsonl"), "a") as file:
            print(json.dumps(event), file=file)


class World:
    """Two clusters of `nodes` nodes: `ours` with the agents and the server, `control` without."""

    def __init__(self, out, work, nodes, bin, faulty_server):
        self.out, self.work, self.nodes, self.bin = out, work, nodes, bin
        self.ours = Arm("ours", work / "ours", out / "ours")
        self.control = Arm("control", work / "control", out / "control")
        self.arms = (self.ours, self.control)
        self.events = []
        self.namespace = f"yard{os.getpid()}"
        self.link = f"y{os.getpid()}"
        self.model = out / "pilot"
        subprocess.run(["cp", "-r", "checkpoints/pilot", self.model], check=True)
        self.address, self.admin = "10.213.77.2:50051", "127.0.0.1:50052"
        # Limits on preemption and idling suit jobs of seconds instead of hours.
        self.server = Process(
            ["ip", "netns", "exec", self.namespace, faulty_server, "serve", "--checkpoint", self.model, "--listen",
             self.address, "--insecure", "--admin", self.admin, "--json", "--budget-ms", "400", "--min-run", "10",
             "--max-idle", "4", "--grace", "0"], out / "server.log")
        self.commands = out / "commands"
        self.agents = [self.agent(i) for i in range(2)]

    def agent(self, number):
        bin_folder = self.out / f"bin{number}"
        bin_folder.mkdir()
        for name in ("squeue", "sinfo", "scontrol", "sacctmgr"):
            path = subprocess.run(["sh", "-c", f"command -v {name}"], capture_output=True, text=True).stdout.strip()
            log = f'echo "$(date +%s.%N) $PPID $*" >>{self.commands}\n' if name == "scontrol" else ""
            (bin_folder / name).write_text(f'#!/bin/sh\n{log}exec {path} "$@"\n')
            (bin_folder / name).chmod(0o755)
        config = self.out / f"agent{number}.yaml"
        config.write_text(f"partitions: [gpu]\nserver: {self.address}\nbin: {bin_folder}\nlock: {self.work}/lock\n"
                          f"lock_s: {LOCK_S}\ncommand_timeout_s: 2\ndeadline_ms: 500\npreempt: true\n"
                          "save_s: 1\nrestore_s: 2\nrestore_large_s: 2\n")
        environment = {**os.environ, "SLURM_CONF": str(self.ours.folder / "etc/slurm.conf")}
        return Agent(self.events, [f"{self.bin}/yardmaster", "slurm", "--config", config, "--json"],
                     self.out / f"agent{number}.log", environment)

    def start(self):
        inside = ["ip", "netns", "exec", self.namespace]
        for argv in (["ip", "netns", "add", self.namespace],
                     ["ip", "link", "add", f"{self.link}a", "type", "veth", "peer", "name", f"{self.link}b"],
                     ["ip", "link", "set", f"{self.link}b", "netns", self.namespace],
                     ["ip", "addr", "add", "10.213.77.1/24", "dev", f"{self.link}a"],
                     ["ip", "link", "set", f"{self.link}a", "up"],
                     [*inside, "ip", "addr", "add", "10.213.77.2/24", "dev", f"{self.link}b"],
                     [*inside, "ip", "link", "set", f"{self.link}b", "up"],
                     [*inside, "ip", "link", "set", "lo", "up"]):
            subprocess.run(argv, check=True)
        self.server.start()
        time.sleep(1)
        for agent in self.agents:
            agent.start()

    def stop(self):
        for process in (*self.agents, self.server):
            process.end()
        subprocess.run(["ip", "netns", "del", self.namespace], check=False)
        subprocess.run(["ip", "link", "del", f"{self.link}a"], check=False, stderr=subprocess.DEVNULL)

    def cut(self, is_cut):
        """Cuts the network between agents and server: frames are lost, as if a cable was pulled."""
        subprocess.run(["ip", "netns", "exec", self.namespace, "ip", "link", "set", f"{self.link}b",
                        "down" if is_cut else "up"], check=True)

    def leader(self):
        """The agent that said last that it leads, if it lives; else the first one that lives."""
        alive = {agent.pid: agent for agent in self.agents if agent.running.poll() is None}
        for event in reversed(self.events):
            if event["event"] == "leads" and event["pid"] in alive:
                return alive[event["pid"]]
        return next(iter(alive.values()))

    def models(self, *arguments):
        done = subprocess.run(["ip", "netns", "exec", self.namespace, f"{self.bin}/yardmaster", "models", *arguments,
                               "--server", self.admin, "--deadline-ms", "5000"], capture_output=True, text=True)
        if done.returncode != 0:
            print(f"models {' '.join(arguments)}: {done.stderr.strip()}", flush=True)
        return done.returncode == 0

    def commands_of(self, pid, begin_s, end_s):
        """What one agent sent to Slurm in a period."""
        out = []
        for line in self.commands.read_text().splitlines() if self.commands.exists() else []:
            match = re.match(r"([\d.]+) (\d+) (.*)", line)
            if match and int(match[2]) == pid and begin_s < float(match[1]) < end_s:
                out.append(match[3])
        return out
