"""Loads the server of prometheus.sh, asks Prometheus every expression of the dashboard, and prints the figures.

usage: prometheus_check.py OUT BIN GRPC_ADDRESS PROBES_ADDRESS PROMETHEUS_URL
"""

import json
import math
import os
import pathlib
import subprocess
import sys
import time
import urllib.parse
import urllib.request

out, binaries, grpc_at, probes_at, prometheus_at = pathlib.Path(sys.argv[1]), *sys.argv[2:]
GRAFANA = pathlib.Path("docs/examples/grafana/yardmaster.json")
SNAPSHOT = pathlib.Path("experiments/snapshots/idle.json")


def get(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


def query(path, **values):
    answer = json.loads(get(f"{prometheus_at}/api/v1/{path}?{urllib.parse.urlencode(values)}"))
    if answer["status"] != "success":
        sys.exit(f"Prometheus refused {values}: {answer}")
    return answer["data"]


def decide(snapshot, token="token"):
    command = [f"{binaries}/yardmaster", "decide", "--server", grpc_at, "--snapshot", snapshot, "--tls-ca",
               out / "cert.pem", "--token-file", out / token, "--deadline-ms", "2000"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def write_snapshot(name, change):
    snapshot = json.loads(SNAPSHOT.read_text())
    change(snapshot)
    (out / name).write_text(json.dumps(snapshot))
    return out / name


def load_server():
    """Asks for LOAD_S seconds. A few requests have a wrong token, an odd record, or contradict themselves."""
    def add_impossible_job(snapshot):
        snapshot["jobs"].append({"id": "huge", "submit_s": snapshot["time_s"], "gpus": 1 << 30, "state": "WAITING"})

    def repeat_node(snapshot):
        snapshot["nodes"].append(dict(snapshot["nodes"][0]))

    odd = write_snapshot("odd.json", add_impossible_job)
    contradicting = write_snapshot("contradicting.json", repeat_node)
    asked = 0
    end = time.monotonic() + float(os.environ["LOAD_S"])
    while time.monotonic() < end:
        answer = decide(SNAPSHOT)
        if "source POLICY" not in answer.stdout:
            sys.exit(f"the policy did not answer: {answer.stdout} {answer.stderr}")
        decide(odd)
        decide(contradicting)
        decide(SNAPSHOT, token="wrong-token")
        asked += 4
        time.sleep(0.2)
    return asked


def expression_of(target):
    return target["expr"].replace("$__rate_interval", "30s").replace("$instance", ".*")


def main():
    asked = load_server()
    metrics = get(f"http://{probes_at}/metrics")
    (out / "metrics.txt").write_text(metrics)
    lint = subprocess.run(["promtool", "check", "metrics"], input=metrics, capture_output=True, text=True, check=False)
    if lint.returncode != 0 or lint.stderr:
        sys.exit(f"promtool check metrics: {lint.stderr}")

    dashboard = json.loads(GRAFANA.read_text())
    expressions = [(panel["title"], expression_of(target))
                   for panel in dashboard["panels"] for target in panel.get("targets", [])]
    empty = []
    for title, expression in expressions:
        values = [float(one["value"][1]) for one in query("query", query=expression)["result"]]
        if not any(math.isfinite(value) for value in values):
            empty.append(f"{title}: {expression}")
    if empty:
        sys.exit("without data:\n" + "\n".join(empty))

    rules = [rule for group in query("rules")["groups"] for rule in group["rules"]]
    bad = [rule["name"] for rule in rules if rule["health"] != "ok"]
    if bad or not rules:
        sys.exit(f"rules which Prometheus cannot evaluate: {bad}")
    families = sum(line.startswith("# TYPE") for line in metrics.splitlines())
    print(f"{len(expressions)} expressions with data, {len(rules)} rules evaluated, {families} metrics without a fault,"
          f" {asked} requests")


main()
