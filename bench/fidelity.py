#!/usr/bin/env python3
"""What is simulated against what is measured, for every system on small networks.

A cell is a network, workers, links, a system and its number of microbatches. Each is planned once,
and then, three times, simulated from a profile of the same round and trained on threads for as many
minibatches as were simulated; the median of the three errors counts, so that a machine whose speed
drifts is compared with itself; what was measured while a virtual machine's host took its processors
away is measured again. What was measured stays in build/fidelity/, so that a run that was
interrupted goes on where it was, unless the program has changed. Exit code 1: a bar is not met; 2:
the host gave no time to measure in.

usage: fidelity.py PROGRAM [--models …] [--systems …] [--workers …] [--links …] [--only WORDS]
                   [--repetitions 3] [--seconds 4] [--again] [--json] [--write]
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

from programs import Refused
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
# Link → the flag of emulated links. "processes" are those of mpirun on this machine; with all other
# links workers are threads.
LINKS = {"memory": None, "200Mbit/s": "200Mbit/s", "processes": None}
MANY_CORES = 4  # from so many on, as many workers as cores are measured, too

MEAN_BAR, SPREAD_BAR = 0.05, 0.03
WORST_BAR = {False: 0.10, True: 0.15}  # by whether there are many cores
JUDGED_BAR = 2 / 3  # of the cells must be steady, or nothing is shown
FEWEST, MOST = 8, 96  # minibatches of a run; the fewest for each replica of the first stage
PROFILE_SECONDS = 8
OVERHEAD = 2.5  # seconds of a run beside training: libtorch, the weights, the plan
IDLE = ["fill_drain", "imbalance", "transfer", "wait"]


# ---- cells and figures: no program is called here --------------------------------------------

class Grid:
    """The cells of a machine with so many cores. What the user did not choose is everything that is
    measured there."""

    def __init__(self, systems, cores, models=None, workers=None, links=None, only=()):
        """`systems`: (name, whether it cuts minibatches)."""
        self.systems = systems
        self.has_many_cores = cores >= MANY_CORES
        self.models = models or list(MODELS)
        powers = [2**k for k in range(1, 8) if 2**k <= cores] if self.has_many_cores else [1, 2]
        self.workers = workers or powers
        self.links = links or (["memory", "processes"] if self.has_many_cores
                               else ["memory", "200Mbit/s"])
        self.only = only

    def cells(self):
        """(model, workers, link, system, microbatches), groups of one profile together."""
        systems = [(s, 1) for s, cuts in self.systems if not cuts]
        systems += itertools.product([s for s, cuts in self.systems if cuts], MICROBATCHES)
        cells = [(model, workers, link, system, microbatches) for model in self.models
                 for workers in self.workers for link in self.links
                 for system, microbatches in systems
                 if workers > 1 or link == "memory"]  # one worker uses no link
        return [c for c in cells if all(word in name_of(c).split() for word in self.only)]


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


def summary_of(cells, worst_bar=WORST_BAR[False]):
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
                             "met": mean <= MEAN_BAR and errors[worst] <= worst_bar}
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


def heading_of(cells):
    """Of the section of a machine: what does not change from run to run."""
    machines = [f"{cell['cores']} cores, {cell['processor']}" for cell in cells.values()
                if "cores" in cell]
    return "## On " + "; ".join(dict.fromkeys(machines))


def section_of(cells, summary, command, worst_bar):
    """What docs/fidelity.md says of one machine."""
    return f"""{heading_of(cells)}

    $ {command}

Measured on {origins_of(cells)}, {repetitions_of(cells)} times each. Bars: mean error at most
{100 * MEAN_BAR:.0f} %, worst at most {100 * worst_bar:.0f} %.

{report_of(cells, summary)}"""


def document_with(section, document):
    """The document, with the section in place of the one with the same heading, or at the end."""
    begin, *others = re.split(r"(?m)^(?=## On )", document)
    heading = section.splitlines()[0]
    sections = [section if each.startswith(heading + "\n") else each for each in others]
    if section not in sections:
        sections.append(section)
    return "\n".join(part.rstrip("\n") + "\n" for part in [begin, *sections])


# ---- profiles, plans, simulations and runs ---------------------------------------------------

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
        cells = self.state["cells"]
        known = {model: self.identity(model) for model in MODELS}
        self.state["cells"] = {n: c for n, c in cells.items()
                               if c.get("of") == known.get(n.split()[0])}
        if len(self.state["cells"]) < len(cells):
            say(f"{len(cells) - len(self.state['cells'])} cells were measured with another build of "
                "the program, or other sizes: they are forgotten")

    def finished(self, grid):
        """Those of the grid that are finished, in its order."""
        cells = self.state["cells"]
        chosen = {n: cells[n] for n in map(name_of, grid.cells()) if n in cells}
        return finished_of(chosen, self.args.repetitions)

    def call(self, *words, processes=1):
        launcher = [] if processes == 1 else ["mpirun", "--oversubscribe", "--bind-to", "none",
                                              "-n", str(processes)]
        environment = dict(os.environ, OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1",
                           OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        done = subprocess.run([*launcher, self.args.program, *words], check=False,
                              capture_output=True, text=True, timeout=600, env=environment)
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
            "--json", processes=workers if link == "processes" else 1)))
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

    def run(self, grid):
        wanted = grid.cells()
        missing = [c for c in wanted if self.lacks(c, self.args.repetitions - 1)]
        groups = [list(g) for _, g in itertools.groupby(missing, key=lambda c: c[:3])]
        estimate = (len(missing) * self.args.repetitions * (self.args.seconds + OVERHEAD) +
                    len(groups) * self.args.repetitions * PROFILE_SECONDS * 2)
        say(f"{len(wanted)} cells, {len(missing)} to measure: about {estimate / 60:.0f} minutes")
        for group in groups:
            self.measure_group(group)


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


def listed(known, what):
    """Takes a list of names, separated by commas, of which all must be known."""
    def parse(text):
        names = text.split(",")
        if unknown := [name for name in names if name not in known]:
            raise argparse.ArgumentTypeError(f"unknown {what} {', '.join(unknown)}; there are "
                                             f"{', '.join(known)}")
        return names
    return parse


def grid_of(args):
    systems = systems_of(args.program)
    known = [name for name, _ in systems]
    chosen = listed(known, "system")(args.systems) if args.systems else known
    grid = Grid([(name, cuts) for name, cuts in systems if name in chosen], os.cpu_count(),
                args.models, args.workers, args.links, args.only)
    if not grid.cells():
        sys.exit(f"no cell has all of the words {' '.join(args.only)}; a cell's name is like "
                 "'vgg16 2 memory gpipe M=4'")
    return grid


def words_of_command(arguments):
    """The line that measured, without what does not change the figures."""
    return " ".join(["./run bench fidelity", *(w for w in arguments if w != "--again")])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("program")
    parser.add_argument("--models", type=listed(list(MODELS), "model"), metavar="NAME,…")
    parser.add_argument("--systems", metavar="NAME,…")
    parser.add_argument("--workers", type=lambda text: [int(n) for n in text.split(",")],
                        metavar="N,…")
    parser.add_argument("--links", type=listed(list(LINKS), "link"), metavar="NAME,…")
    parser.add_argument("--only", nargs="*", default=[], metavar="WORD",
                        help="cells whose names have all of these words, e.g. vgg16 2 gpipe M=4")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4, help="that a run should take")
    parser.add_argument("--again", action="store_true", help="forget what was measured before")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", action="store_true",
                        help="write this machine's section of docs/fidelity.md")
    args = parser.parse_args()
    grid = grid_of(args)
    bench = Bench(args)
    try:
        bench.run(grid)
    except Disturbed as why:
        say(f"{why}; what was finished is kept")
        return 2
    cells = bench.finished(grid)
    worst_bar = WORST_BAR[grid.has_many_cores]
    summary = summary_of(cells, worst_bar)
    if args.write:
        with open(DOCUMENT, encoding="utf-8") as file:
            document = file.read()
        section = section_of(cells, summary, words_of_command(sys.argv[2:]), worst_bar)
        with open(DOCUMENT, "w", encoding="utf-8") as file:
            file.write(document_with(section, document))
    if args.json:
        print(json.dumps({"benchmark": "fidelity", "summary": summary, "cells": cells}, indent=2))
    else:
        print(report_of(cells, summary), end="")
    return 0 if summary["met"] else 1


if __name__ == "__main__":
    sys.exit(main())
