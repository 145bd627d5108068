"""A page about one paper: Markdown for readers, JSON for programs, plots as SVG beside them."""
import json
import os

import plots


def number(value, digits=3):
    """A number with so many significant digits, without an exponent."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if value == 0:
        return "0"
    text = "%.*g" % (digits, value)
    if "e" in text:
        text = "%.0f" % value if abs(value) >= 1 else "%.9f" % value
    return text


def statistics(values):
    """Average, minimum, maximum."""
    return sum(values) / len(values), min(values), max(values)


def median(values):
    return sorted(values)[len(values) // 2]


class Page:
    def __init__(self, name, title, reference):
        self.name, self.plots = name, []
        self.lines = ["# " + title, "", "The paper: %s" % reference, ""]
        self.data = {"paper": name, "title": title, "made": {}, "results": {}}

    def made(self, machine):
        """Says by what the figures were made."""
        self.data["made"] = {"machine": machine.description(), "commit": machine.commit, "command": machine.command}
        self.say(machine.description())
        given = " (the programs were given)" if "--binaries" in machine.command else ""
        self.say("Made by `%s`; commit of the sources: %s%s." % (machine.command, machine.commit, given))

    def inputs(self, lines):
        self.data["made"]["inputs"] = lines
        self.heading("Inputs")
        self.lines += ["- " + line for line in lines or ["None but those made by code, as said above."]] + [""]
        if lines:
            self.say("[Where the sample inputs come from](../README.md#sample-inputs).")

    def say(self, text):
        self.lines += [text, ""]

    def heading(self, text):
        self.lines += ["## " + text, ""]

    def table(self, columns, rows):
        """Cells may be texts or numbers; the first column is text."""
        self.lines.append("| " + " | ".join(columns) + " |")
        self.lines.append("|---|" + "---:|" * (len(columns) - 1))
        for row in rows:
            self.lines.append("| " + " | ".join(number(cell) for cell in row) + " |")
        self.lines.append("")

    def compared(self, what, rows, unit=""):
        """A table of (name, the paper's value, ours) with the ratio of ours to the paper's; either may be None."""
        columns = [what, "the paper's" + unit, "here" + unit, "here / paper"]
        self.table(columns, [(name, paper, ours, ours / paper if paper and ours else None) for name, paper, ours in rows])
        self.data["results"].setdefault(what, []).extend(
            {"name": name, "paper": paper, "here": ours} for name, paper, ours in rows)

    def order(self, what, first, second, paper_says, here, why=""):
        """Says where two things come out in another order than in the paper. Both values are `first` / `second`."""
        same = (paper_says > 1) == (here > 1)
        sentence = "%s: the paper has %s / %s = %s, here it is %s." % (what, first, second, number(paper_says), number(here))
        self.say(sentence + (" The order is the paper's." if same else " **The order is the other way round.** " + why))
        self.data["results"].setdefault("order", []).append(
            {"what": what, "paper": paper_says, "here": here, "same": same})

    def plot(self, name, title, x_label, y_label, series, log_x=False, log_y=False):
        """`series`: {name: [(x, y), ...]}"""
        series = {key: points for key, points in series.items() if points}
        if not series:
            return
        file = "%s-%s.svg" % (self.name, name)
        self.plots.append((file, plots.lines(title, x_label, y_label, series, log_x, log_y)))
        self.lines += ["![%s](%s)" % (title, file), ""]
        self.data["results"][name] = {key: [list(point) for point in points] for key, points in series.items()}

    def save(self, folder):
        for file, text in self.plots:
            with open(os.path.join(folder, file), "w", encoding="utf-8") as out:
                out.write(text)
        with open(os.path.join(folder, self.name + ".md"), "w", encoding="utf-8") as out:
            out.write("\n".join(self.lines).rstrip() + "\n")
        with open(os.path.join(folder, self.name + ".json"), "w", encoding="utf-8") as out:
            json.dump(self.data, out, indent=1)
            out.write("\n")
