"""The programs that measure, and what this machine lets them do."""
import csv
import datetime
import io
import json
import os
import platform
import shutil
import subprocess
import sys
import time


class Failure(Exception):
    pass


class Machine:
    """Runs the programs for one paper, and keeps what they said: `record` holds it by call, without the folders of its
    arguments. A machine with a record of an earlier run gives its answers instead, so that pages can be made again.
    `answers` are those that machines of the same run share, so that no program runs twice."""

    def __init__(self, binaries, record=None, command="", answers=None):
        self.folder, self.kept, self.answers = binaries, {}, {} if answers is None else answers
        self.replays, self.record = record is not None, record or {}
        self.cpu = self.recorded("cpu", self.processor)
        self.commit = self.recorded("commit", self.sources, "not recorded")
        self.command = self.recorded("command", lambda: command, "not recorded")
        self.experiments = {line.split()[0] for line in self.output("bench_papers", "--list").splitlines() if line}
        self.gpu, self.why_no_gpu = None, "this build has no CUDA"
        if "device" in self.experiments:
            try:
                self.gpu = self.rows("device")[0]["name"]
            except Failure as failure:
                self.why_no_gpu = str(failure).split("device: ")[-1]
        self.ncu = self.recorded("ncu", lambda: "ncu" if shutil.which("ncu") else "") if self.gpu else ""
        self.why_no_ncu = "there is no ncu" if not self.ncu else ""

    @staticmethod
    def processor():
        name = platform.processor()
        try:
            with open("/proc/cpuinfo", encoding="utf-8") as file:
                name = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), name)
        except OSError:
            pass
        return "%s, %d cores. %s." % (name, os.cpu_count() or 1, datetime.date.today().isoformat())

    @staticmethod
    def sources():
        """The commit of these sources, and whether they have changed since."""
        root = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir))

        def git(*arguments):
            try:
                done = subprocess.run(["git", "-C", root, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                      universal_newlines=True, check=False)
            except OSError:
                return ""
            return done.stdout.strip()

        if os.path.realpath(git("rev-parse", "--show-toplevel") or os.sep) != root:
            return "unknown (the sources are in no repository)"
        changed = git("status", "--porcelain", "--untracked-files=no")
        return git("rev-parse", "--short=12", "HEAD") + (", with changes that are not committed" if changed else "")

    def description(self):
        gpu = self.gpu or "no GPU (%s): only what runs on the processor is here" % self.why_no_gpu
        return "Machine: %s; %s" % (gpu, self.cpu)

    def recorded(self, call, answer, missing=None):
        """The answer to a call, or that of the record. `missing` stands for what older records do not have."""
        if self.replays:
            if call not in self.record and missing is None:
                raise Failure("the record has no answer to: " + call)
            return self.record.get(call, missing)
        if call not in self.answers:
            self.answers[call] = answer()
        self.record[call] = self.answers[call]
        return self.record[call]

    def output(self, program, *arguments):
        call = " ".join([program, *(os.path.basename(str(argument)) for argument in arguments)])
        return self.recorded(call, lambda: self.run(program, *arguments))

    @staticmethod
    def without_folders(text, arguments):
        for argument in map(str, arguments):
            if os.path.isabs(argument):
                text = text.replace(argument, os.path.basename(argument))
        return text

    def run(self, program, *arguments):
        command = [os.path.join(self.folder, program), *map(str, arguments)]
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, check=False)
        except OSError as error:
            raise Failure("cannot run %s: %s" % (command[0], error)) from error
        if done.returncode != 0:
            raise Failure("%s failed: %s" % (program, done.stderr.strip() or "exit %d" % done.returncode))
        return self.without_folders(done.stdout, arguments)

    def rows(self, experiment, *arguments):
        """The rows of an experiment of bench_papers."""
        key = (experiment, *arguments)
        if key not in self.kept:
            start = time.monotonic()
            text = self.output("bench_papers", experiment, *arguments)
            self.kept[key] = [json.loads(line) for line in text.splitlines() if line]
            print("  %-14s %5.1f s" % (experiment, time.monotonic() - start), flush=True)
        return self.kept[key]

    def profile(self, metrics, program, *arguments, kernels=None):
        """[{"kernel": function's name, metric: value}] of every launch, or None where ncu may not look."""
        if not self.ncu:
            return None
        call = " ".join(["ncu", program, *(os.path.basename(str(argument)) for argument in arguments)])
        return self.recorded(call, lambda: self.counted(metrics, program, arguments, kernels))

    def counted(self, metrics, program, arguments, kernels):
        command = [self.ncu, "--csv", "--page", "raw", "--clock-control", "none", "--kernel-name-base", "function",
                   "--print-kernel-base", "function", "--metrics", ",".join(metrics)]
        if kernels:
            command += ["--kernel-name", "regex:" + kernels]
        command += [os.path.join(self.folder, program), *map(str, arguments)]
        start = time.monotonic()
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, check=False)
        print("  %-14s %5.1f s" % ("ncu " + program, time.monotonic() - start), flush=True)
        lines = done.stdout.splitlines()
        begin = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
        if begin is None:
            self.why_no_ncu = next((line for line in lines if "ERR" in line), "ncu showed nothing")
            self.ncu = ""
            print("  " + self.why_no_ncu, file=sys.stderr)
            return None
        launches = []
        for row in csv.DictReader(io.StringIO("\n".join(lines[begin:]))):
            if row.get("ID", "").isdigit():  # the row of units has none
                values = {metric: float((row.get(metric) or "0").replace(",", "")) for metric in metrics}
                launches.append({"kernel": row["Kernel Name"], **values})
        return launches
