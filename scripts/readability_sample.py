#!/usr/bin/env python3
"""readability_sample.py [--seed TEXT]: draws 60 sentences of headers, help texts and documents and 40 identifiers.

Readers who have not seen the code say what each means; at least 57 and 38 should be right at first reading. The default
seed is the hash of the current commit, so that a draw can be repeated and a change of words gives a new one.
"""
import argparse
import hashlib
import random
import re
import subprocess

LIBRARY = ["env", "agents", "policies", "serving", "experiments", "include"]
GENERATED = re.compile(r"docs/reference/(cli|policies|agents|learners|rule-sets|formats|clusters|settings)\.md")


def tracked(*folders):
    return subprocess.run(["git", "ls-files", *folders], check=True, capture_output=True, text=True).stdout.split()


def sentences(text):
    for one in re.split(r"(?<=[.!?])\s+(?=[A-Z`])", re.sub(r"\s+", " ", text)):
        if 4 <= len(one.split()) <= 40 and one.endswith((".", "!", "?")):
            yield one.strip()


def of_header(code):
    block = []
    for line in code.split("\n"):
        comment = re.match(r"\s*//\s?(.*)", line)
        if comment:
            block.append(comment.group(1))
        elif block:
            yield from sentences(" ".join(block))
            block = []


def of_help(code):
    for text in re.findall(r'(?:f|add_option|add_flag)\(\s*"[^"]+",(?:[^"]|\n)*?((?:"(?:[^"\\]|\\.)*"\s*)+)\)', code):
        joined = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text))
        if len(joined.split()) >= 4:
            yield joined


def of_page(page):
    page = re.sub(r"```.*?```", "", page, flags=re.S)
    lines = [line for line in page.split("\n") if not line.startswith(("|", "#", "<", "- ["))]
    for paragraph in "\n".join(lines).split("\n\n"):
        yield from sentences(re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", paragraph))


def identifiers(code):
    code = re.sub(r"//[^\n]*", "", code)
    yield from re.findall(r"\b(?:class|struct|enum class)\s+([A-Z]\w+)\s*[{:]", code)
    yield from re.findall(r"\b([a-z]\w+)\((?:[^;{}]*)\)\s*(?:const)?\s*(?:override)?\s*[;{]", code)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", help="default: the hash of the current commit")
    seed = parser.parse_args().seed
    if seed is None:
        seed = subprocess.run(["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    rng = random.Random(hashlib.sha256(seed.encode()).digest())
    headers, helps, pages, names = [], [], [], set()
    for path in tracked(*LIBRARY):
        if not path.endswith((".h", ".cc")):
            continue
        with open(path, encoding="utf-8") as file:
            code = file.read()
        if path.endswith(".h"):
            headers += [(path, s) for s in of_header(code)]
            names.update(n for n in identifiers(code) if len(n) > 3)
        helps += [(path, s) for s in of_help(code)]
    for path in tracked("README.md", "docs"):
        if path.endswith(".md") and not GENERATED.match(path):
            with open(path, encoding="utf-8") as file:
                pages += [(path, s) for s in of_page(file.read())]
    print(f"seed {seed}\n")
    number = 0
    for title, pool, count in (("header", headers, 25), ("help", helps, 15), ("document", pages, 20)):
        for path, sentence in rng.sample(pool, count):
            number += 1
            print(f"{number}. ({title}, {path}) {sentence}")
    print()
    for i, name in enumerate(rng.sample(sorted(names - {"if", "for", "while", "switch", "return"}), 40), 1):
        print(f"{i}. {name}")


if __name__ == "__main__":
    main()
