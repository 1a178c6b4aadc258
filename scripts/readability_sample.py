#!/usr/bin/env python3
"""readability_sample.py [--seed TEXT]: draws 60 sentences of headers, help texts and documents and 40 identifiers.

Readers who have not seen the code say what each means; at least 57 and 38 should be right at first reading. Each item
comes with what a reader has before her eyes where it stands: the declaration below a comment, the option of a help text,
the heading of a paragraph, the class and the declaration of an identifier. The default seed is the hash of the current
commit, so that a draw can be repeated and a change of words gives a new one.
"""
import argparse
import hashlib
import random
import re
import subprocess

LIBRARY = ["env", "agents", "policies", "serving", "experiments", "include"]
GENERATED = re.compile(r"docs/reference/(cli|policies|agents|learners|rule-sets|formats|clusters|settings)\.md")
KEYWORDS = {"if", "for", "while", "switch", "return", "operator", "sizeof", "decltype", "static_assert"}


def tracked(*folders):
    return subprocess.run(["git", "ls-files", *folders], check=True, capture_output=True, text=True).stdout.split()


def sentences(text):
    for one in re.split(r"(?<=[.!?])\s+(?=[A-Z`])", re.sub(r"\s+", " ", text).strip()):
        if 4 <= len(one.split()) <= 40 and one.endswith((".", "!", "?")):
            yield one.strip()


CLASS = re.compile(r"\s*(?:template <.*> )?(?:class|struct|enum class)\s+([A-Z]\w+)[^;]*$")


def statement(lines):
    """The declaration which begins the lines, up to its end or its body."""
    text = re.sub(r"\s+", " ", re.sub(r"//[^\n]*", "", "\n".join(lines[:8]))).strip()
    if text.startswith("#"):
        return "head of the file"
    end = re.search(r"[;{]", text)
    return (text[: end.start()] if end else text)[:160].strip()


def classes_of(lines):
    """For each line "in CLASS: ", or nothing outside of classes."""
    inside, out = [], []
    for line in lines:
        code = re.sub(r"//.*", "", line)
        indent = len(code) - len(code.lstrip())
        while inside and code.strip() and indent <= inside[-1][0] and not re.match(r"\s*(public|private|protected):", code):
            inside.pop()
        out.append(f"in {inside[-1][1]}: " if inside else "")
        declared = CLASS.match(code)
        if declared and "{" in code and "}" not in code:
            inside.append((indent, declared.group(1)))
    return out


def of_header(code):
    """Sentences of comments, each with the declaration which follows or stands in front."""
    lines, block = code.split("\n"), []
    where = classes_of(lines)
    behind = None  # a comment behind a declaration, which may go on below it: its column, words and declaration
    for i, line in enumerate(lines):
        comment = re.match(r"(\s*)//\s?(.*)", line)
        if behind and comment and len(comment.group(1)) == behind[0]:
            behind[1] += " " + comment.group(2)
            continue
        if behind and len(behind[1].split()) >= 4:
            yield behind[1], behind[2]
        behind = None
        if comment:
            block.append(comment.group(2))
            continue
        yield from ((one, where[i] + statement(lines[i:])) for one in sentences(" ".join(block)))
        block = []
        trailing = re.match(r"(.*\S\s+)// (.*)", line)
        if trailing:
            behind = [len(trailing.group(1)), trailing.group(2), where[i] + trailing.group(1).strip()]


def of_help(code):
    """Help texts, each with its option or setting."""
    pattern = r'(?:f|add_option|add_flag)\(\s*"([^"]+)",[^"]*?((?:"(?:[^"\\]|\\.)*"\s*)+)\)'
    for name, text in re.findall(pattern, code):
        joined = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text))
        if len(joined.split()) >= 4:
            yield joined, name


def of_page(page):
    """Sentences of paragraphs, each with the heading above it."""
    page = re.sub(r"```.*?```", "", page, flags=re.S)
    heading = ""
    for paragraph in page.split("\n\n"):
        kept = []
        for line in paragraph.split("\n"):
            if line.startswith("#"):
                heading = line.lstrip("# ")
            elif not line.startswith(("|", "<", "- [")):
                kept.append(line)
        text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", "\n".join(kept))
        for item in re.split(r"^(?:- |\d+\. )", text, flags=re.M):
            yield from ((one, heading) for one in sentences(item))


def of_declarations(code):
    """Names of classes and functions which a header declares, each with its class and declaration."""
    lines = re.sub(r"//[^\n]*", "", code).split("\n")
    for i, (line, where) in enumerate(zip(lines, classes_of(lines))):
        declared = CLASS.match(line)
        function = re.match(r"\s*(?!return\b|else\b|throw\b|case\b|new\b)(?:[\w:<>,*&\[\]]+\s+)+[*&]?([a-z]\w+)\(", line)
        in_body = len(line) - len(line.lstrip()) > (4 if where else 0)
        if declared:
            yield declared.group(1), where + statement(lines[i:])
        elif function and "=" not in line[: function.end()] and not in_body:
            yield function.group(1), where + statement(lines[i:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", help="default: the hash of the current commit")
    seed = parser.parse_args().seed
    if seed is None:
        seed = subprocess.run(["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    rng = random.Random(hashlib.sha256(seed.encode()).digest())
    headers, helps, pages, names = [], [], [], {}
    for path in tracked(*LIBRARY):
        if not path.endswith((".h", ".cc")):
            continue
        with open(path, encoding="utf-8") as file:
            code = file.read()
        if path.endswith(".h"):
            headers += [(path, *found) for found in of_header(code)]
            for name, declaration in of_declarations(code):
                if len(name) > 3 and name not in KEYWORDS:
                    names.setdefault(name, (path, declaration))
        helps += [(path, *found) for found in of_help(code)]
    for path in tracked("README.md", "docs"):
        if path.endswith(".md") and not GENERATED.match(path):
            with open(path, encoding="utf-8") as file:
                pages += [(path, *found) for found in of_page(file.read())]
    print(f"seed {seed}\n")
    number = 0
    for title, pool, count in (("comment", headers, 25), ("help text", helps, 15), ("document", pages, 20)):
        for path, sentence, context in rng.sample(pool, count):
            number += 1
            print(f"{number}. {title} in {path}, at `{context}`:\n   {sentence}")
    print()
    for i, name in enumerate(rng.sample(sorted(names), 40), 1):
        path, declaration = names[name]
        print(f"{i}. {name}   ({path}: `{declaration}`)")


if __name__ == "__main__":
    main()
