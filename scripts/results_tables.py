"""Writes the tables of results from evaluations/*.json; see results_tables.sh."""

import csv
import html
import io
import json
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/results.md"
TABLES = ROOT / "evaluations/tables"
SEEDS = "pilot, 5 seeds"
PILOT_FILES = "goal test unseen printed mixed-test mixed-unseen start-test requeue-test sizes".split()

# Rows whose rival was corrected after they were measured -> the rival as it was.
AS_MEASURED = {"drf (before)": "drf before its correction", "gandiva (600 s)": "gandiva with slices of 600 s"}

# What the agents and their rivals are, for readers of the tables.
HEURISTICS = {"drf", "lif-linear", "lif-quadratic", "mlf-h", "mlf-h-hours", "optimus"}
VARIANTS = {
    "dl2-alone": "dl2 without a supervised start", "dl2-start": "dl2's supervised start", "dl2-untrained": "dl2 before training",
    "harmony-actor-critic": "harmony, the paper's learner", "harmony-blind": "harmony without job lengths",
    "harmony-flat": "harmony, one input vector", "harmony-measured": "harmony, sees measured speeds",
    "harmony-unmodelled": "harmony without its throughput model", "mlfs-load": "mlfs with load control",
    "sched2-anywhere": "sched2 without locality"}
STARTS = {"dl2": "dl2-start", "sched2": "fifo-consolidate", "harmony": "least-loaded", "mlfs": "mlf-h-slow",
          "meta": "greedy-best-fit"}
RIVALS = {
    "afs-tuned": "tuned on the agent's training workload", "drf-jobs": "DRF between jobs (share=job)",
    "exchange-sjf": "chooses the all-reduce, best-fit", "exchange-sjf-tuned": "the same, strictly consolidated",
    "sjf-consolidate": "shortest limit first, strictly consolidated", "own-node": "keeps a job's tasks together",
    "survival-consolidate": "the order of sched2, strictly consolidated", "mlf-h-load": "ends jobs early",
    "survival-consolidate-tuned": "the same, tuned on the agent's training workload",
    "gandiva-long": "slices of 60 times the cost of a stop", "mlf-h-slow": "decides every 10 min, no stop within 20 min",
    "mlf-h-hours": "time unit 1 h"}


def load(name):
    """Returns evaluations/NAME.json with plain names of policies; `lo` and `hi` become `ratio_lo` and `ratio_hi`."""
    def renamed(row):
        out = {}
        for key, value in row.items():
            if key in ("policy", "baseline", "best_hindsight"):
                value = plain(value)
            out[f"ratio_{key}" if key in ("lo", "hi") else key] = value
        return out
    return json.loads((ROOT / f"evaluations/{name}.json").read_text(), object_hook=renamed)


def plain(policy):
    """Returns a policy's name without folders; the pooled seeds of the pilot are `pilot, 5 seeds`."""
    if policy is None or policy.endswith(" and 4 more seeds"):
        return policy and SEEDS
    policy = re.sub(r"^checkpoint:|/checkpoints/(best|last)$", "", policy)
    name = policy.rsplit("/", 1)[-1].removesuffix(".yaml")
    return name + ", tuned" if "/tuned/" in policy else name


def text(value):
    """Returns a value as a CSV has it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4f}" if abs(value) < 10 else f"{value:.1f}"
    return "" if value is None else str(value)


def figure(row, key="ratio", digits=3):
    """Returns `0.957 [0.929, 0.986]`, or without the interval if there is none."""
    if row is None or row.get(key) is None:
        return "–"
    out = f"{row[key]:.{digits}f}"
    if row.get(key + "_lo") is not None:
        out += f" [{row[key + '_lo']:.{digits}f}, {row[key + '_hi']:.{digits}f}]"
    return out + ("" if row.get("conclusive") in (True, None) or key != "ratio" else "\\*")


def verdict(row):
    """Returns how a policy compares by its interval."""
    word = "better" if row["ratio_hi"] < 1 else "worse" if row["ratio_lo"] > 1 else "level"
    return word + ("" if row["conclusive"] else "\\*")


def mean(ratios):
    """Returns the geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def link(name):
    return f"[{name}](../evaluations/{name}.json)"


# Tables in full: each function returns rows as dictionaries.


def pilot_cells():
    return [{"file": name, **row, "gradient": row["policy"].startswith("gradient")}
            for name in PILOT_FILES if name != "goal" for row in load(name)["cells"]]


def pilot_summary():
    return [{"file": name, **row} for name in PILOT_FILES for row in load(name)["summary"]]


def pilot_rivals():
    return [{"file": row["file"], "cell": row["cell"], "over": rival["policy"],
             **{key: rival[key] for key in ("ratio", "ratio_lo", "ratio_hi")}}
            for row in pilot_cells() for rival in row.get("against", [])]


def gradient_stage():
    """Each seed's gradient stage over the seed's searched rule, on which it is trained."""
    return [{"file": row["file"], "cell": row["cell"], "seed": int(row["policy"][-1]), "conclusive": row["conclusive"], **rival}
            for row in pilot_cells() if row["gradient"]
            for rival in row["others"] if rival["policy"] == "pilot-" + row["policy"][-1]]


def embedded():
    return [{"start": row["from"], **row, "against": plain(row["against"])} for row in load("embedded")]


def agents():
    rows = []
    for row in load("agents"):
        agent, rival = row["agent"], row["rival"]
        about = row.get("chosen") or RIVALS.get(rival) or VARIANTS.get(rival, "")
        if rival == agent + "-untrained":
            about = "before training"
        elif rival == STARTS.get(agent.split("-")[0]):
            about = "its start" + (about and ": " + about)
        variant = "a rule" if agent in HEURISTICS else VARIANTS.get(agent, "")
        rows.append({**row, "variant": variant, "rival": AS_MEASURED.get(rival, rival), "rival_is": about})
    return rows


def meta_adaptation():
    rows = []
    for row in load("meta")["ratios"]:
        over = next(key for key in row if key not in ("meta", "ratio", "ratio_lo", "ratio_hi"))
        name = {"scratch": "trained from scratch", "harmony": "harmony", "one_head": "meta without its second head",
                "meta_as_it_is": "meta without adaptation"}[over]
        rows.append({"episodes": row["meta"], "over": name, "over_episodes": row[over], **row})
    return rows


def meta_jct():
    return [{"shift": row["shift"], "policy": policy, "mean_jct_s": jct}
            for row in load("meta")["mean_jct_s"] for policy, jct in row.items() if policy != "shift"]


RATIO = "ratio ratio_lo ratio_hi "
FULL = [  # file, title, text, columns, rows
    ("pilot_summary", "The pilot: geometric means over cells", "<code>ONLY=a|b|c|sizes make results</code>. "
     "The gap is what an oracle of run times leaves; it is empty where an oracle is no bound.",
     "file policy group over cells " + RATIO + "ratio_worst ratio_hindsight oracle_gap_closed oracle_gap_closed_lo "
     "oracle_gap_closed_hi iqm probability_of_improvement better worse p99_ratio largest_class_jct_ratio max_wait_ratio_worst "
     "preemptions_ratio training_core_s decisions_per_s", pilot_summary),
    ("pilot_cells", "The pilot: cells", "<code>ONLY=a|b|c|sizes make results</code>. Ratios are over the baseline.",
     "file cell policy jobs load blocks baseline " + RATIO + "conclusive best_hindsight ratio_hindsight headroom_hindsight "
     "oracle_gap_closed p99_ratio largest_class largest_class_jct_ratio max_wait_ratio preemptions_per_job moves_per_job "
     "mean_jct_s test_openings", pilot_cells),
    ("pilot_rivals", "The pilot: its five seeds over the three nearest rules and the tuned rule", "<code>ONLY=a|b|c|sizes "
     "make results</code>. The nearest rules are chosen in hindsight.", "file cell over " + RATIO, pilot_rivals),
    ("gradient_stage", "A network trained by gradient on top of the pilot, over the same seed without it",
     "<code>ONLY=gradient make results &amp;&amp; ONLY=b make results</code>. The network draws its actions at a temperature of 1, the "
     "rule takes its best; the untrained network was not measured.", "file cell seed " + RATIO + "conclusive", gradient_stage),
    ("embedded", "Rules searched by evolve on synthetic:mixed", "<code>ONLY=d make results</code>. 60 episodes of 256 jobs, seeds "
     "5101 to 5160; start: joint with its defaults (untuned) or with 16 tuned constants (tuned, tuned-9).",
     "start seed against " + RATIO, embedded),
    ("agents", "Agents of the literature, variants and heuristics", "<code>ONLY=agents make results</code>, "
     "<code>SHIPPED=1</code> for the shipped seeds. Five seeds pooled.",
     "agent variant cell rival rival_is " + RATIO + "conclusive", agents),
    ("meta_adaptation", "Meta after adaptation to a shift", "<code>scripts/meta_adapt.sh</code>. Geometric mean over five shifts; "
     "the interval is over five seeds.", "episodes over over_episodes " + RATIO, meta_adaptation),
    ("meta_jct", "Mean JCT on the shifts of meta", "<code>scripts/meta_adapt.sh</code>. A number after an arm is its episodes of "
     "adaptation.", "shift policy mean_jct_s", meta_jct)]


# Headline tables: each function returns the rows of a Markdown table, the head first.


def untrained_mean(names, group):
    """Returns the pooled seeds over `joint` with its defaults, geometric mean over the group's conclusive cells."""
    cells = {(row["cell"], row["policy"]): row for row in pilot_cells() if row["file"] in names}
    pairs = [(row, cells.get((cell, "joint"))) for (cell, policy), row in cells.items()
             if policy == SEEDS and row["conclusive"] and (group == "all" or cell.startswith(group + "/"))]
    ratios = [row["mean_jct_s"] / joint["mean_jct_s"] for row, joint in pairs if joint]
    return f"{mean(ratios):.3f}" if ratios else "–"


def headline_pilot():
    yield ["where", "over the baseline", "over the best in hindsight", "over `joint`, untrained", "oracle gap closed", "better/worse",
           "preemptions", "file"]
    for label, name, group, policy in [
            ("five logs, later time", "goal", "test", SEEDS), ("ITP 01, 02, 09", "goal", "unseen", SEEDS),
            ("both", "goal", "all", SEEDS), ("ITP 10", "goal", "printed", SEEDS), ("start only", "start-test", "all", SEEDS),
            ("start and requeue", "requeue-test", "all", SEEDS), ("other sizes and loads", "sizes", "all", SEEDS),
            ("GPU types, ITP 08 and Philly", "mixed-test", "all", SEEDS), ("GPU types, ITP 02", "mixed-unseen", "all", SEEDS),
            ("RLScheduler, five logs", "test", "all", "rlscheduler")]:
        rows = [row for row in load(name)["summary"] if row["policy"] == policy and row["group"] == group]
        row = next((row for row in rows if row["over"] == "conclusive cells"), rows[0])
        row["conclusive"] = row["over"] == "conclusive cells"
        gap = next((row for row in rows if "headroom" in row["over"]), None)
        names = ["test", "unseen"] if name == "goal" else [name]
        yield [label, figure(row), f"{row['ratio_hindsight']:.3f}", untrained_mean(names, group) if policy == SEEDS else "–",
               figure(gap, "oracle_gap_closed", 2), f"{row['better']}/{row['worse']} of {row['cells']}",
               figure(row, "preemptions_ratio", 1), link(name)]


def headline_cells():
    yield ["cell", "baseline", "over the baseline", "longest wait", "largest jobs", "file"]
    rows = sorted((row for row in pilot_cells() if row["policy"] == SEEDS and row["file"] != "requeue-test"),
                  key=lambda row: row["ratio"])
    sure, unsure = ([row for row in rows if row["conclusive"] == yes] for yes in (True, False))
    for row in [*sure[:4], *sure[-3:], unsure[-1], max(rows, key=lambda row: row["max_wait_ratio"])]:
        yield [row["cell"], f"`{row['baseline']}`", figure(row), f"{row['max_wait_ratio']:.1f}",
               f"{row['largest_class_jct_ratio']:.1f}", link(row["file"])]


def headline_types():
    yield ["cell", "over `srsf-move`", "over `srsf-move`, tuned", "file"]
    rivals = pilot_rivals()
    for row in pilot_cells():
        if row["policy"] == SEEDS and row["file"].startswith("mixed"):
            tuned = next(rival for rival in rivals if rival["cell"] == row["cell"] and "tuned" in rival["over"])
            yield [row["cell"], figure(row), figure({**tuned, "conclusive": row["conclusive"]}), link(row["file"])]


def headline_agents():
    yield ["agent", "where", "over its untrained network", "over the strongest chosen rule",
           "over the best in hindsight", "over the pilot", "result"]
    rows = load("agents")
    for agent, cell, label in [
            ("harmony", "synthetic:servers on servers-6", "`servers-6`"),
            ("harmony", "synthetic:servers on servers-13", "`servers-13`"), ("mlfs", "validate, all 2 cells", "validation"),
            ("mlfs", "unseen, all 2 cells", "ITP 09"), ("dl2", "synthetic:servers on servers-13", "`servers-13`"),
            ("sched2", "validate, all 4 cells", "validation"), ("sched2", "start, all 4 cells", "start only"),
            ("sched2", "test, all 2 cells", "ITP 04"), ("sched2", "unseen, all 2 cells", "ITP 01"),
            ("meta", "shift-test, all 5 cells", "five shifts")]:
        by = {row["rival"]: row for row in rows if (row["agent"], row["cell"]) == (agent, cell)}
        untrained = by.get(agent + "-untrained") or by[STARTS[agent]]
        best, pilot = by["the best in hindsight"], by["pilot"]
        rules = [row for rival, row in by.items() if rival not in [*VARIANTS, *STARTS.values(), *AS_MEASURED, "mlf-h-load"]
                 and row not in (untrained, best, pilot)]
        rule = max(rules, key=lambda row: row["ratio"])
        yield [agent, label, figure(untrained), f"`{rule['rival']}` {figure(rule)}", figure(best), figure(pilot), verdict(best)]


def headline_parts():
    yield ["policy", "over", "where", "ratio", "file"]
    for name, label in [("mixed-test", "GPU types, ITP 08 and Philly"), ("mixed-unseen", "GPU types, ITP 02")]:
        rows = [row for row in gradient_stage() if row["file"] == name]
        yield ["pilot with a trained network", "without", label, pooled(rows), link(name)]
    for start, against, label in [("untuned", "joint", "`joint`, untrained"), ("tuned", "tuned-9", "tuned `joint`")]:
        rows = [row for row in embedded() if (row["from"], row["against"]) == (start, against)]
        yield ["`evolve`, 14 generations", label, "`synthetic:mixed`", pooled(rows), link("embedded")]
    servers, validate = "synthetic:servers on servers-", "validate, all {} cells"
    rows = {(row["agent"], row["rival"], row["cell"]): row for row in load("agents")}
    for agent, rival, cell in [
            ("dl2", "dl2-start", servers + "13"), ("dl2-alone", "dl2", servers + "13"), ("harmony-blind", "harmony", servers + "6"),
            ("harmony-unmodelled", "harmony", servers + "6"), ("harmony-flat", "harmony", servers + "6"),
            ("harmony-actor-critic", "harmony", servers + "6"), ("sched2-anywhere", "sched2", validate.format(4)),
            ("mlfs-load", "mlfs", validate.format(2)), ("mlfs-load", "mlf-h-load", validate.format(2))]:
        where = "validation" if "validate" in cell else f"`{cell.split()[-1]}`"
        yield [VARIANTS.get(agent, agent), VARIANTS.get(rival, rival), where, figure(rows[agent, rival, cell]), link("agents")]
    for row in meta_adaptation():
        if row["episodes"] == 20 and row["over"] != "harmony":
            yield ["meta, 20 episodes", row["over"], "five shifts", figure(row), link("meta")]


def counts(rows):
    """Returns how many intervals lie below and above 1, as `5/0`."""
    return f"{sum(row['ratio_hi'] < 1 for row in rows)}/{sum(row['ratio_lo'] > 1 for row in rows)}"


def pooled(rows):
    return f"{mean([row['ratio'] for row in rows]):.3f} ({counts(rows)} of {len(rows)})"


HEADLINES = {"pilot": headline_pilot, "cells": headline_cells, "types": headline_types, "agents": headline_agents,
             "parts": headline_parts}


# Output.


def as_csv(columns, rows):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([[text(row.get(column)) for column in columns] for row in rows])
    return out.getvalue()


def as_html(columns, rows):
    """Returns a table with each value and its interval in one column, green below 1 and red above by the interval."""
    shown = [column for column in columns if not re.search("_(lo|hi)$", column)]
    out = ["<table><thead><tr>" + "".join(f"<th>{column.replace('_', ' ')}" for column in shown) + "</thead><tbody>"]
    for row in rows:
        line = "<tr>"
        for column in shown:
            value = row.get(column)
            if column + "_lo" in columns and value is not None:
                colour = {"1/0": " class=b", "0/1": " class=w"}.get(counts([row]), "") if column == "ratio" else ""
                line += f"<td{colour}>{figure({**row, 'conclusive': True}, column)}"
            else:
                line += f"<td>{value:.3f}" if isinstance(value, float) and abs(value) < 10 else f"<td>{html.escape(text(value))}"
        out.append(line)
    return "\n".join([*out, "</tbody></table>"])


HEAD = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Yardmaster: results</title>
<style>
body { font: 14px sans-serif; margin: 1em } table { border-collapse: collapse; font-size: 12px }
th, td { border: 1px solid #ccc; padding: 2px 5px; text-align: left; white-space: nowrap }
th { background: #eee; position: sticky; top: 2.6em } .b { background: #dcf2dc } .w { background: #f8dcdc }
#bar { position: sticky; top: 0; background: #fff; padding: .4em 0 }
</style>
<h1>Results</h1>
<p>Generated by <code>scripts/results_tables.sh</code> from <code>evaluations/*.json</code>. Ratios are of mean JCT, below 1 is
better; intervals are 95 %. Green: the interval lies below 1; red: above 1. Terms are those of
docs/reference/glossary.md; measurements which were made once are in evaluations/notes.md.</p>
<div id="bar"><input id="filter" size="40" placeholder="show rows which contain all of these words"></div>
"""
FOOT = """<script>
document.getElementById("filter").oninput = e => {
  const words = e.target.value.toLowerCase().split(/\\s+/);
  for (const row of document.querySelectorAll("tbody tr")) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every(word => text.includes(word));
  }
};
</script>
</html>
"""


def tables():
    """Returns file name -> content of evaluations/tables."""
    out = {}
    body = "<ul>" + "\n".join(f'<li><a href="#{name}">{title}</a>' for name, title, *_ in FULL) + "</ul>\n"
    for name, title, about, columns, rows in FULL:
        columns, rows = columns.split(), rows()
        out[name + ".csv"] = as_csv(columns, rows)
        body += f'<h2 id="{name}">{title}</h2>\n<p>{about} As CSV: {name}.csv.</p>\n{as_html(columns, rows)}\n'
    out["index.html"] = HEAD + body + FOOT
    return out


def page(old):
    """Returns docs/results.md with its tables made again, and what is wrong with its other text."""
    def made(match):
        head, *rows = HEADLINES[match[1]]()
        lines = [head, ["---"] * len(head), *rows]
        return f"<!-- headline {match[1]} -->\n\n" + "".join("|" + "|".join(line) + "|\n" for line in lines) + "\n<!-- end -->"
    block = re.compile(r"<!-- headline (\w+) -->.*?<!-- end -->", re.S)
    by_hand = re.findall(r"\d\.\d\d+", block.sub("", old))
    missing = set(HEADLINES) - set(block.findall(old))
    return block.sub(made, old), [f"figure outside of the tables: {value}" for value in by_hand] + [
        f"no table {name}" for name in sorted(missing)]


def numbers(value):
    """Returns all numbers in a file's content."""
    if isinstance(value, dict):
        return [n for part in value.values() for n in numbers(part)]
    if isinstance(value, list):
        return [n for part in value for n in numbers(part)]
    return [value] if isinstance(value, float) else []


def unsourced(path):
    """Returns the measured ratios of a page that no evaluations/*.json has which it names."""
    text = re.sub("```.*?```", "", path.read_text(), flags=re.S)
    named = {ROOT / f"evaluations/{name}.json" for name in re.findall(r"evaluations/([\w-]+)\.json\b", text)}
    known = {f"{n:.3f}" for file in named if file.exists() for n in numbers(json.loads(file.read_text()))}
    found = re.findall(r"(\d\.\d{3}) \[(\d\.\d{3}), (\d\.\d{3})\]", text)
    return [f"{path.relative_to(ROOT)}: no evaluations/*.json that it names has {ratio} [{low}, {high}]"
            for ratio, low, high in found if not {ratio, low, high} <= known]


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit("usage: results_tables.sh [--check]")
    new_page, wrong = page(PAGE.read_text())
    files = {TABLES / name: content for name, content in tables().items()}
    files[PAGE] = new_page
    wrong = [f"docs/results.md: {problem}" for problem in wrong]
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        wrong += unsourced(path) if path != PAGE and path.exists() else []
    for path in TABLES.glob("*"):
        if path not in files:
            wrong.append(f"{path.relative_to(ROOT)}: not a generated file")
    for path, content in files.items():
        if path.exists() and path.read_text() == content:
            continue
        if "--check" in sys.argv:
            wrong.append(f"{path.relative_to(ROOT)}: does not match evaluations/*.json; run scripts/results_tables.sh")
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(content)
    sys.exit("\n".join(wrong) or None)


main()
