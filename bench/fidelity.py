#!/usr/bin/env python3
"""What is simulated against what is measured, for every system on small networks.

A cell is a network, workers, links, a system and its number of microbatches. Each is planned once,
and then, three times, simulated from a profile of the same round and trained on threads for as many
minibatches as were simulated; the median of the three errors counts, so that a machine whose speed
drifts is compared with itself; what was measured while a virtual machine's host took its processors
away is measured again. What was measured stays in build/fidelity/, so that a run that was
interrupted goes on where it was, unless the program has changed. Exit code 1: a bar is not met; 2:
the host gave no time to measure in.

usage: fidelity.py PROGRAM [--only WORDS] [--repetitions 3] [--seconds 4] [--again] [--json] [--write]
"""
import argparse
import datetime
import hashlib
import itertools
import json
import os
import re
import shutil
import statistics
import subprocess
import sys

from undisturbed import Disturbed, undisturbed

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DOCUMENT = os.path.join(ROOT, "docs", "fidelity.md")

# So small that a minibatch takes about a second on one core, so large that what a profile measures
# is not far from an eighth: at least two samples.
MODELS = {
    "vgg16": ["--image-size", "32", "--classes", "10", "--hidden", "256", "--batch", "16"],
    "resnet50": ["--image-size", "32", "--classes", "10", "--batch", "16"],
    "gnmt8": ["--hidden", "128", "--vocabulary", "1000", "--length", "12", "--batch", "24"],
    "gpt": ["--hidden", "128", "--layers", "6", "--heads", "4", "--vocabulary", "1000",
            "--context", "64", "--batch", "8"],
}
MICROBATCHES = [4, 8]
SYSTEMS = []  # (name, whether it cuts minibatches), as the program lists them
LINKS = {"memory": None, "200Mbit/s": "200Mbit/s"}
PLACES = [(1, "memory"), (2, "memory"), (2, "200Mbit/s")]  # one worker uses no link

MEAN_BAR, WORST_BAR, SPREAD_BAR = 0.05, 0.10, 0.03
JUDGED_BAR = 2 / 3  # of the cells must be steady, or nothing is shown
FEWEST, MOST = 8, 96  # minibatches of a run; the fewest for each replica of the first stage
PROFILE_SECONDS = 8
OVERHEAD = 2.5  # seconds of a run beside training: libtorch, the weights, the plan
IDLE = ["fill_drain", "imbalance", "transfer", "wait"]


# ---- cells and figures: no program is called here --------------------------------------------

def all_cells():
    """(model, workers, link, system, microbatches), groups of one profile together."""
    systems = [(s, 1) for s, cuts in SYSTEMS if not cuts]
    systems += itertools.product([s for s, cuts in SYSTEMS if cuts], MICROBATCHES)
    return [(model, workers, link, system, microbatches) for model in MODELS
            for workers, link in PLACES for system, microbatches in systems]


def name_of(cell):
    model, workers, link, system, microbatches = cell
    cut = f" M={microbatches}" if microbatches > 1 else ""
    return f"{model} {workers} {link} {system}{cut}"


def minibatches_for(seconds, seconds_per_minibatch, config):
    """As many as take about so long; a multiple of four, so that every replica has as many. A
    third of a run can be its warm-up: what is left must be more than its first update."""
    replicas = int(re.match(r"\d+", config).group())
    wanted = min(MOST, max(FEWEST * replicas, seconds / seconds_per_minibatch))
    return int(wanted + 3) // 4 * 4


def shares(answer):
    """Of all workers' time: busy, and idle by cause."""
    parts = {"busy": answer["busy"], **{cause: answer["idle"][cause] for cause in IDLE}}
    whole = sum(parts.values())
    return {part: value / whole for part, value in parts.items()}


def figures(answer):
    return {"samples_per_second": answer["samples_per_second"], "shares": shares(answer),
            "peak_memory_bytes": answer["peak_memory_bytes"]}


def median_of(runs):
    """Of what a table shows."""
    return {"samples_per_second": statistics.median(r["samples_per_second"] for r in runs),
            "busy": statistics.median(r["shares"]["busy"] for r in runs)}


def simulated_of(cell):
    return median_of([pair["simulated"] for pair in cell["pairs"]])


def measured_of(cell):
    return median_of([pair["measured"] for pair in cell["pairs"]])


def spread_of(cell):
    speeds = [pair["measured"]["samples_per_second"] for pair in cell["pairs"]]
    return (max(speeds) - min(speeds)) / statistics.median(speeds)


def errors_of_pair(simulated, measured):
    """Speed and memory (the worst worker's) relative to what was measured, signed where there is a
    direction; time: the largest difference of any share of the workers' time."""
    memory = [s / m - 1 for s, m in zip(simulated["peak_memory_bytes"],
                                        measured["peak_memory_bytes"])]
    return {
        "speed": simulated["samples_per_second"] / measured["samples_per_second"] - 1,
        "time": max(abs(simulated["shares"][part] - measured["shares"][part])
                    for part in measured["shares"]),
        "memory": max(memory, key=abs),
    }


def errors_of(cell):
    """Medians over the pairs."""
    errors = [errors_of_pair(pair["simulated"], pair["measured"]) for pair in cell["pairs"]]
    return {kind: statistics.median(each[kind] for each in errors) for kind in errors[0]}


def is_finished(cell, repetitions):
    """It was measured as often as it should be, or cannot be."""
    return "refused" in cell or len(cell.get("pairs", [])) >= repetitions


def finished_of(cells, repetitions):
    return {n: c for n, c in cells.items() if is_finished(c, repetitions)}


def by_steadiness(cells):
    """Those that were measured: the ones that are steady enough to judge, and the others."""
    measured = {n: c for n, c in cells.items() if "pairs" in c}
    steady = {n: c for n, c in measured.items() if spread_of(c) <= SPREAD_BAR}
    return steady, {n: c for n, c in measured.items() if n not in steady}


def summary_of(cells):
    """Of finished cells: mean and worst of every error over those that are steady enough to judge."""
    steady, noisy = by_steadiness(cells)
    measured = len(steady) + len(noisy)
    summary = {"cells": len(cells), "judged": len(steady), "refused": len(cells) - measured}
    for kind in ("speed", "time", "memory"):
        errors = {name: abs(errors_of(cell)[kind]) for name, cell in steady.items()}
        if errors:
            worst = max(errors, key=errors.get)
            mean = statistics.mean(errors.values())
            summary[kind] = {"mean": mean, "worst": errors[worst], "worst_cell": worst,
                             "met": mean <= MEAN_BAR and errors[worst] <= WORST_BAR}
    summary["met"] = (bool(steady) and len(steady) >= JUDGED_BAR * measured and
                      all(summary[k]["met"] for k in ("speed", "time", "memory")))
    return summary


def percent(value):
    return f"{100 * value:+.1f} %"


def row_of(name, cell):
    simulated, measured, errors = simulated_of(cell), measured_of(cell), errors_of(cell)
    return [name, cell["config"], str(cell["minibatches"]),
            f"{simulated['samples_per_second']:.4g}", f"{measured['samples_per_second']:.4g}",
            percent(errors["speed"]), f"{100 * simulated['busy']:.0f} %",
            f"{100 * measured['busy']:.0f} %", f"{100 * errors['time']:.1f}",
            percent(errors["memory"]), f"{100 * spread_of(cell):.1f} %"]


TITLES = ["cell", "plan", "minibatches", "simulated samples/s", "measured samples/s", "error",
          "simulated busy", "measured busy", "time, points", "memory", "spread"]


def table_of(cells):
    lines = ["| " + " | ".join(TITLES) + " |", "|" + "---|" * len(TITLES)]
    return lines + ["| " + " | ".join(row_of(n, c)) + " |" for n, c in cells.items()]


def verdict_of(summary):
    lines = [f"{summary['judged']} of {summary['cells']} cells judged, {summary['refused']} refused"]
    for kind, what in (("speed", "speed"), ("time", "shares of time, in points"),
                       ("memory", "peak memory")):
        if kind in summary:
            of = summary[kind]
            lines.append(f"{what}: mean error {100 * of['mean']:.1f} %, worst "
                         f"{100 * of['worst']:.1f} % ({of['worst_cell']}): bars "
                         f"{'met' if of['met'] else 'NOT met'}")
    return lines


def report_of(cells, summary):
    """The text of the table and of docs/fidelity.md."""
    steady, noisy = by_steadiness(cells)
    lines = [*(f"- {line}" for line in verdict_of(summary)), "", *table_of(steady)]
    if noisy:
        lines += ["", f"Apart, because their own runs differ by more than {100 * SPREAD_BAR:.0f} %:",
                  "", *table_of(noisy)]
    refused = {n: c["refused"] for n, c in cells.items() if "refused" in c}
    if refused:
        lines += ["", "Refused:", ""] + [f"- {name}: {why}" for name, why in refused.items()]
    return "\n".join(lines) + "\n"


def origins_of(cells):
    """Where and when the cells were measured, each once."""
    texts = [f"{cell['cores']} cores ({cell['processor']}) with torch {cell['torch']}, {cell['date']}"
             for cell in cells.values() if "date" in cell]
    return "; ".join(dict.fromkeys(texts))


def repetitions_of(cells):
    counts = sorted({len(cell["pairs"]) for cell in cells.values() if "pairs" in cell})
    return " or ".join(str(count) for count in counts)


def document_of(cells, summary):
    bars = f"mean error at most {100 * MEAN_BAR:.0f} %, worst at most {100 * WORST_BAR:.0f} %"
    return f"""# What is simulated, and what is measured

    $ ./run bench fidelity --write

Measured on {origins_of(cells)}.

A cell is a combination of

- a network, whose sizes are in `bench/fidelity.py`;
- a number of workers;
- the links between them: "memory" means that threads hand memory over, a speed means emulated links
  of that speed;
- a system and, where it cuts minibatches, the number of microbatches (M).

Each cell is planned once. Then, {repetitions_of(cells)} times, it is simulated and trained. The simulation uses a profile
that was taken in the same round of cells. The training runs on threads with one computing thread
each, without evaluation, for as many minibatches as were simulated. With one worker no link is
used, so these cells are there only once.

- **Error** is the simulated speed over the measured one, less 1. Above 0 the simulator promises too
  much.
- **Time** is the largest difference in any share of the workers' time (busy, or idle by cause), in
  percentage points.
- **Memory** is the error of the peak memory, of the worker for which it is largest.
- These three are medians of the errors of all repetitions. The speeds are medians of their own, so
  the error does not follow from the two speeds of its row.
- **Spread** is the difference between the fastest and the slowest run, over the median. Cells that
  spread by more than {100 * SPREAD_BAR:.0f} % are listed apart and not judged. At least {100 * JUDGED_BAR:.0f} % of all cells must be
  judged.
- **Bars**: {bars}.

The results:

{report_of(cells, summary)}"""


# ---- profiles, plans, simulations and runs ---------------------------------------------------

class Refused(Exception):
    """The program says that it cannot be done."""


class Bench:
    def __init__(self, args):
        self.args = args
        self.folder = os.path.join(ROOT, "build", "fidelity")
        self.state_file = os.path.join(self.folder, "state.json")
        if args.again:
            shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder, exist_ok=True)
        self.state = {"cells": {}}
        if os.path.exists(self.state_file):
            with open(self.state_file, encoding="utf-8") as file:
                self.state = json.load(file)
        self.machine = machine_of(args.program)
        self.program = digest_of(args.program)
        self.forget_others()

    def identity(self, model):
        """What a cell's figures are of, besides its name."""
        return {"program": self.program, "sizes": MODELS[model]}

    def forget_others(self):
        """Cells of another program, or of other sizes, are measured anew."""
        known = {name_of(cell): self.identity(cell[0]) for cell in all_cells()}
        cells = self.state["cells"]
        self.state["cells"] = {n: c for n, c in cells.items() if c.get("of") == known.get(n)}
        if len(self.state["cells"]) < len(cells):
            say(f"{len(cells) - len(self.state['cells'])} cells were measured with another build of "
                "the program, or other sizes: they are forgotten")

    def finished(self):
        return finished_of(self.state["cells"], self.args.repetitions)

    def call(self, *words):
        done = subprocess.run([self.args.program, *words], check=False, capture_output=True,
                              text=True, timeout=600, env=dict(os.environ, OMP_NUM_THREADS="1"))
        if done.returncode == 78:
            raise Refused(done.stderr.strip().splitlines()[-1].removeprefix("pipedream: "))
        if done.returncode != 0:
            sys.exit(f"pipedream {' '.join(words)} failed:\n{done.stderr}")
        return done.stdout

    def in_folder(self, name):
        return os.path.join(self.folder, name)

    def write_cluster(self, workers, link):
        """As train sees this machine (src/cluster/local.cpp)."""
        file = self.in_folder("cluster.toml")
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // workers
        with open(file, "w", encoding="utf-8") as out:
            out.write(f'format = "pipedream-cluster"\nversion = 1\nname = "this machine"\n\n'
                      f'[[level]]\nname = "link"\ncount = {workers}\n'
                      f'bandwidth = "{LINKS[link] or "10GB/s"}"\nlatency = "5us"\n\n'
                      f'[device]\nmemory = "{memory}B"\n')
        return file

    def profile(self, model, workers):
        file = self.in_folder("profile.json")
        undisturbed(lambda: self.call(
            "profile", "--model", model, *MODELS[model], "--workers", str(workers), "--seconds",
            str(PROFILE_SECONDS), "-o", file))
        return file

    def inputs(self, cell, profile):
        return ["--profile", profile, "--cluster", self.write_cluster(*cell[1:3])]

    def simulate(self, cell, profile, plan, *words):
        return json.loads(self.call("simulate", *self.inputs(cell, profile), "--plan", plan,
                                    "--no-loading", "--json", *words))

    def prepare(self, cell, profile):
        """Plans; the plan is kept for all runs."""
        *_, system, microbatches = cell
        plan = self.in_folder(name_of(cell).replace(" ", "_").replace("/", "_") + ".json")
        cut = ["--microbatches", str(microbatches)] if microbatches > 1 else []
        self.call("plan", *self.inputs(cell, profile), "--system", system, *cut, "-o", plan)
        answer = self.simulate(cell, profile, plan)
        count = minibatches_for(self.args.seconds, 1 / answer["minibatches_per_second"],
                                answer["config"])
        return {"plan": plan, "config": answer["config"], "minibatches": count, "pairs": [],
                "of": self.identity(cell[0]), **self.machine,
                "date": datetime.date.today().isoformat()}

    def measure(self, cell, prepared, profile):
        model, workers, link, _, _ = cell
        limit = ["--link", LINKS[link]] if LINKS[link] else []
        count = ["--minibatches", str(prepared["minibatches"])]
        trained = json.loads(undisturbed(lambda: self.call(
            "train", "--model", model, *MODELS[model], "--workers", str(workers), "--plan",
            prepared["plan"], *count, "--no-evaluation", "--learning-rate", "0.001", *limit,
            "--json")))
        return {"simulated": figures(self.simulate(cell, profile, prepared["plan"], *count)),
                "measured": figures(trained)}

    def save(self):
        with open(self.state_file + ".new", "w", encoding="utf-8") as file:
            json.dump(self.state, file, indent=1)
        os.replace(self.state_file + ".new", self.state_file)

    def prepare_missing(self, cells, profile):
        for cell in cells:
            if name_of(cell) in self.state["cells"]:
                continue
            try:
                self.state["cells"][name_of(cell)] = self.prepare(cell, profile)
            except Refused as why:
                self.state["cells"][name_of(cell)] = {"refused": str(why),
                                                      "of": self.identity(cell[0])}

    def measure_group(self, cells):
        """Cells of one model, workers and link; each repetition goes through all of them."""
        for repetition in range(self.args.repetitions):
            if not any(self.lacks(cell, repetition) for cell in cells):
                continue
            say(f"profiling {cells[0][0]} in the company of {cells[0][1]}")
            profile = self.profile(*cells[0][:2])
            self.prepare_missing(cells, profile)
            for cell in cells:
                if self.lacks(cell, repetition):
                    self.measure_once(cell, profile)

    def lacks(self, cell, repetition):
        return not is_finished(self.state["cells"].get(name_of(cell), {}), repetition + 1)

    def measure_once(self, cell, profile):
        prepared = self.state["cells"][name_of(cell)]
        try:
            pair = self.measure(cell, prepared, profile)
        except Refused as why:
            sys.exit(f"{name_of(cell)} was planned, and then refused: {why}")
        prepared["pairs"].append(pair)
        self.save()
        say(f"{name_of(cell)}: {pair['measured']['samples_per_second']:.4g} samples/s, simulated "
            f"{pair['simulated']['samples_per_second']:.4g}")

    def run(self):
        wanted = [c for c in all_cells() if all(w in name_of(c).split() for w in self.args.only)]
        if not wanted:
            sys.exit(f"no cell has all of the words {' '.join(self.args.only)}; a cell's name is "
                     f"like '{name_of(all_cells()[-1])}'")
        missing = [c for c in wanted if self.lacks(c, self.args.repetitions - 1)]
        groups = [list(g) for _, g in itertools.groupby(missing, key=lambda c: c[:3])]
        estimate = (len(missing) * self.args.repetitions * (self.args.seconds + OVERHEAD) +
                    len(groups) * self.args.repetitions * PROFILE_SECONDS * 2)
        say(f"{len(wanted)} cells, {len(missing)} to measure: about {estimate / 60:.0f} minutes")
        for group in groups:
            self.measure_group(group)
        order = {name_of(c): i for i, c in enumerate(all_cells())}
        self.state["cells"] = dict(sorted(self.state["cells"].items(),
                                          key=lambda item: order.get(item[0], len(order))))
        self.save()


def say(text):
    print(text, file=sys.stderr, flush=True)


def digest_of(file):
    with open(file, "rb") as program:
        return hashlib.sha256(program.read()).hexdigest()[:16]


def machine_of(program):
    """Cores, processor, and the torch that the program is linked with."""
    linked = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    folder = re.search(r"=> (\S+)/lib/libtorch_cpu\.so", linked)
    version = "unknown"
    if folder:
        with open(os.path.join(folder[1], "version.py"), encoding="utf-8") as file:
            version = re.search(r"__version__ = '([^']+)'", file.read())[1]
    return {"cores": os.cpu_count(), "processor": os.uname().machine, "torch": version}


def systems_of(program):
    """The systems that the program lists, and whether each cuts minibatches into microbatches."""
    listed = subprocess.run([program, "systems", "--json"], check=True, capture_output=True).stdout
    return [(s["name"], s["cuts_minibatches"]) for s in json.loads(listed)["systems"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("program")
    parser.add_argument("--only", nargs="*", default=[], metavar="WORD",
                        help="cells whose names have all of these words, e.g. vgg16 2 gpipe M=4")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4, help="that a run should take")
    parser.add_argument("--again", action="store_true", help="forget what was measured before")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", action="store_true", help="write docs/fidelity.md")
    args = parser.parse_args()
    SYSTEMS.extend(systems_of(args.program))
    bench = Bench(args)
    try:
        bench.run()
    except Disturbed as why:
        say(f"{why}; what was finished is kept")
        return 2
    cells = bench.finished()
    summary = summary_of(cells)
    if args.write and len(cells) < len(all_cells()):
        say(f"{len(cells)} of {len(all_cells())} cells are finished: the document is not written")
        return 1
    if args.write:
        with open(DOCUMENT, "w", encoding="utf-8") as file:
            file.write(document_of(cells, summary))
    if args.json:
        print(json.dumps({"benchmark": "fidelity", "summary": summary, "cells": cells}, indent=2))
    else:
        print(report_of(cells, summary), end="")
    return 0 if summary["met"] else 1


if __name__ == "__main__":
    sys.exit(main())
