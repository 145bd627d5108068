#!/usr/bin/env python3
"""Counts what the size of the code is judged by, in one or more checkouts, and prints a table with a column for each.

    bench/code_counts.py CHECKOUT...

Lines are those of files, comments included. A struct's fields are its own data members; a nested struct counts by itself. The files
that an option is in are those that name it, without documents, tests, benches and what scripts/update-options writes.
"""
import collections
import os
import re
import statistics
import subprocess
import sys

CODE = (".c", ".h", ".cpp", ".cu", ".cuh")
WORDS = CODE + (".md", ".py", ".txt", ".cmake")
# Programs against other projects' interfaces, which want one file.
OF_OTHERS = "integrations/"
NOT_BY_HAND = re.compile(r"(docs|tests|bench|integrations|python/tests)/|.*\.md$|.*option_types\.py$")


def tracked(folder):
    names = subprocess.run(["git", "-C", folder, "ls-files", "-z"], check=True, stdout=subprocess.PIPE, text=True).stdout.split("\0")
    return [name for name in names if os.path.isfile(os.path.join(folder, name))]


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def structs(text):
    """Pairs of a struct's name and the text between its braces."""
    for match in re.finditer(r"\bstruct\s+(?:alignas\([^)]*\)\s+)?(\w+)[^;{()]*\{", text):
        depth, end = 1, match.end()
        while depth > 0 and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        yield match.group(1), text[match.end():end - 1]


def fields(body):
    outer, depth = "", 0
    for letter in body:
        if letter == "}":
            depth -= 1
            outer += "};" if depth == 0 else ""
        elif depth == 0:
            outer += letter
        depth += letter == "{"
    count = 0
    for statement in (part.strip() for part in outer.split(";")):
        if re.match(r"(struct|enum|class|union|using|friend|static|template|typedef|explicit|public|private|virtual)\b", statement):
            continue
        statement = re.sub(r"=.*?(?=,|$)|\{\}", "", statement)
        while "<" in statement and (bare := re.sub(r"<[^<>]*>", "", statement)) != statement:
            statement = bare
        if "(" not in statement and len(statement.split()) > 1:
            count += 1 + statement.count(",")
    return count


def counts(folder):
    files = tracked(folder)
    text = {}
    for name in files:
        if name.endswith(WORDS):
            with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                text[name] = file.read()
    lines = {name: text[name].count("\n") for name in files if name.endswith(CODE) and not name.startswith(OF_OTHERS)}
    encoder = {name: count for name, count in lines.items() if name.startswith("encoder/")}
    folders = collections.Counter(os.path.dirname(name) for name in lines if not name.startswith("tests/"))
    sizes = sorted(((fields(body), name) for path in encoder for name, body in structs(without_comments(text[path]))), reverse=True)

    def largest(of):
        size, name = max((size, name) for name, size in of.items())
        return f"{size} ({name})"

    def naming(option):
        return sum(bool(re.search(option, words)) for name, words in text.items() if not NOT_BY_HAND.match(name))

    return {
        "lines of `encoder/`": sum(encoder.values()),
        "files of `encoder/`": len(encoder),
        "median file of `encoder/`, lines": statistics.median(encoder.values()),
        "largest file of `encoder/`": largest(encoder),
        "largest file besides tests": largest({name: n for name, n in lines.items() if not name.startswith("tests/")}),
        "folders with most files": ", ".join(f"{name} {n}" for name, n in folders.most_common(4)),
        "structs of `encoder/` with most fields": ", ".join(f"{name} {n}" for n, name in sizes[:4]),
        "files that name `max_frame_bytes`": naming("max_frame_bytes|max-frame-bytes"),
        "files that name `no-deblock`": naming("no-deblock"),
        "the word \"behind\"": sum(len(re.findall(r"\bbehind\b", words, re.I)) for words in text.values()),
    }


def main():
    columns = [counts(folder) for folder in sys.argv[1:]]
    if not columns:
        sys.exit(__doc__)
    names = [subprocess.run(["git", "-C", folder, "rev-parse", "--short=8", "HEAD"], check=True, stdout=subprocess.PIPE,
                            text=True).stdout.strip() for folder in sys.argv[1:]]
    print("| | " + " | ".join(names) + " |\n|---" * 1 + "|---" * len(names) + "|")
    for row in columns[0]:
        print(f"| {row} | " + " | ".join(str(column[row]) for column in columns) + " |")


if __name__ == "__main__":
    main()
