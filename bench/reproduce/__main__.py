#!/usr/bin/env python3
"""Reruns the papers' experiments on this machine and writes a page about each. scripts/reproduce builds and starts it.

  python3 bench/reproduce [PAPER ...] --binaries FOLDER [--data FOLDER] [--output FOLDER] [--frames N] [--quick]
  python3 bench/reproduce [PAPER ...] --replay record.json [--data FOLDER] [--output FOLDER] [--frames N]

PAPER: pavle, cuvle, parle, gvle, gud_canny, cavlcu; without any, all. --data holds clips, pictures and corpora as
inputs.py says (default: $CU264_TEST_DATA); what is missing is made by code. Without a GPU the parts that run on
processors are left. What the programs printed is kept in record.json, paper by paper, from which --replay makes the
pages again; a paper that is run again replaces its own part.
--quick takes seconds and small inputs, for tests.
"""
import argparse
import importlib
import json
import os
import shlex
import shutil
import sys
import tempfile
import time

from inputs import Inputs
from machine import Failure, Machine
from paper_page import Page

PAPERS = ["pavle", "cuvle", "parle", "gvle", "gud_canny", "cavlcu"]


def arguments():
    parser = argparse.ArgumentParser(description="Reruns the papers' experiments and writes a page about each.")
    parser.add_argument("papers", nargs="*", metavar="PAPER", help=", ".join(PAPERS) + " (default: all)")
    parser.add_argument("--binaries", default="", help="folder of bench_papers, bench_vle and bench_cavlc")
    parser.add_argument("--data", default=os.environ.get("CU264_TEST_DATA", ""), help="folder of clips, pictures and corpora")
    parser.add_argument("--output", default="reproduce-out", help="folder for the pages")
    parser.add_argument("--frames", type=int, default=50, help="at most so many pictures of a clip (50, as the paper)")
    parser.add_argument("--inputs", help="keep the converted inputs in this folder")
    parser.add_argument("--replay", help="make the pages again from the record.json of an earlier run, with the same inputs")
    parser.add_argument("--quick", action="store_true", help="small inputs, for tests")
    parser.add_argument("--command", help=argparse.SUPPRESS)  # what scripts/reproduce was called with, which pages name
    args = parser.parse_args()
    given = shlex.split(args.command) if args.command else ["python3", "bench/reproduce", *sys.argv[1:]]
    args.command = shown_command(given, os.environ.get("CU264_TEST_DATA", ""))
    unknown = [paper for paper in args.papers if paper not in PAPERS]
    if unknown:
        parser.error("%s: no such paper; there are %s" % (unknown[0], ", ".join(PAPERS)))
    if not args.binaries and not args.replay:
        parser.error("--binaries or --replay is needed")
    if args.data and not os.path.isdir(args.data):
        parser.error("--data: %s is no folder" % args.data)
    return args


def shown_command(words, data):
    """The command as pages name it, with the last name of each folder in place of its whole path."""
    def shown(word):
        option, equals, value = word.partition("=") if word.startswith("--") else ("", "", word)
        return option + equals + (".../" + os.path.basename(value.rstrip("/")) if os.path.isabs(value) else value)
    line = shlex.join(shown(word) for word in words)
    by_option = any(word.split("=")[0] == "--data" for word in words)
    return line if by_option or not data else "CU264_TEST_DATA=%s %s" % (shlex.quote(shown(data)), line)


def read_record(path):
    """What programs printed in earlier runs, by paper, as Machine has it."""
    try:
        with open(path, encoding="utf-8") as file:
            record = json.load(file)
    except (OSError, ValueError) as error:
        raise Failure("cannot read %s: %s" % (path, error)) from error
    return {name: record[name] for name in PAPERS if name in record}


def write_index(folder, record):
    """The list of all pages that the folder holds, from this run or another."""
    pages = [name for name in PAPERS if os.path.exists(os.path.join(folder, name + ".md"))]
    lines = ["# The papers' experiments, rerun", "", "`scripts/reproduce` wrote these pages; the same figures are in the JSON "
             "files. Each page names its machine, command, commit and inputs. [docs/papers.md](../../../docs/papers.md) says "
             "what differs from each paper.", ""]
    if os.path.exists(os.path.join(folder, "record.json")):
        missing = ["`%s`" % name for name in pages if name not in record]
        lines += ["[record.json](record.json) has what the programs printed, and `bench/reproduce PAPER --replay record.json` makes "
                  "a page from it again%s." % (" (not %s, of which there is no record)" % ", ".join(missing) if missing else ""), ""]
    lines += ["- [%s](%s.md)" % (importlib.import_module(name).TITLE, name) for name in pages]
    with open(os.path.join(folder, "README.md"), "w", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")


def main():
    args = arguments()
    os.makedirs(args.output, exist_ok=True)
    work = args.inputs or tempfile.mkdtemp(prefix="reproduce-")
    failed = []
    try:
        kept = os.path.join(args.output, "record.json")
        record, answers = read_record(args.replay or kept) if args.replay or os.path.exists(kept) else {}, {}
        inputs = Inputs(args.data, work, 2 if args.quick else args.frames)
        for name in args.papers or PAPERS:
            paper, start = importlib.import_module(name), time.monotonic()
            if args.replay and name not in record:
                raise Failure("%s has nothing of %s" % (args.replay, name))
            machine = Machine(args.binaries, record[name] if args.replay else None, args.command, answers)
            print("%s: %s" % (name, machine.description()), flush=True)
            page = Page(name, paper.TITLE, paper.REFERENCE)
            page.made(machine)
            page.say("\"here / paper\" compares other hardware of another decade: only factors between methods can be expected "
                     "to hold.")
            inputs.notes, inputs.used = [], []
            try:
                paper.run(machine, inputs, page, args.quick)
            except Failure as failure:
                failed.append(name)
                page.say("**This failed:** %s" % failure)
                print("  failed: %s" % failure, file=sys.stderr)
            page.inputs(inputs.used)
            for note in inputs.notes:
                page.say("Note: " + note)
            page.save(args.output)
            print("%s: %.0f s -> %s" % (name, time.monotonic() - start, os.path.join(args.output, name + ".md")), flush=True)
            if not args.replay:
                record[name] = machine.record
                with open(kept, "w", encoding="utf-8") as file:
                    json.dump(record, file, indent=0)
        write_index(args.output, record)
    except Failure as failure:
        print("reproduce: %s" % failure, file=sys.stderr)
        return 1
    finally:
        if not args.inputs:
            shutil.rmtree(work, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
