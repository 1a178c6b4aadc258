"""The table of live checks: for each stage its last result.

usage: live_table.py FILE note STAGE VERDICT SECONDS FIGURE   enters a result
       live_table.py FILE passed STAGE                        succeeds if the stage passed at this commit
       live_table.py FILE show                                prints the table
"""

import datetime
import json
import pathlib
import subprocess
import sys


def git(*arguments):
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout


def all_but(table):
    """Arguments for git: the whole tree without the table, which changes with every result."""
    inside = not pathlib.Path(table).is_absolute()
    return ["--", ".", *([f":(exclude){table}"] if inside else [])]


def commit(table):
    """The commit of the working tree; "+" follows if anything but the table differs from it."""
    changed = git("status", "--porcelain", "--untracked-files=no", *all_but(table))
    return git("rev-parse", "--short=12", "HEAD").strip() + ("+" if changed else "")


def entered_only(table, earlier):
    """Whether the table is all that has changed since an earlier commit."""
    if earlier.endswith("+"):
        return False
    return subprocess.run(["git", "diff", "--quiet", earlier, *all_but(table)], check=False).returncode == 0


def main():
    table, action, *values = sys.argv[1:]
    path = pathlib.Path(table)
    stages = json.loads(path.read_text()) if path.exists() else {}
    if action == "note":
        name, verdict, seconds, figure = values
        stages[name] = {"verdict": verdict, "date": datetime.date.today().isoformat(), "commit": commit(table),
                        "seconds": int(seconds), "figure": figure}
        rows = [f"  {json.dumps(one)}: {json.dumps(stages[one], ensure_ascii=False)}" for one in sorted(stages)]
        path.write_text("{\n" + ",\n".join(rows) + "\n}\n")
    elif action == "passed":
        last = stages.get(values[0], {"verdict": "none"})
        return 0 if last["verdict"] == "ok" and entered_only(table, last["commit"]) else 1
    elif action == "show":
        for name, row in sorted(stages.items()):
            print(f"{name:<11} {row['verdict']:<7} {row['date']} {row['commit']:<13} {row['seconds']:>5} s  "
                  f"{row['figure']}")
    else:
        sys.exit(__doc__)
    return 0


sys.exit(main())
