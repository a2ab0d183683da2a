#!/usr/bin/env python3
"""Which system reaches the accuracy first?

Three small tasks are trained by every system from the same seeds. The learning rate of each is
tuned alike: of the same grid, the one that needs the fewest samples with the first seed. Samples to
the target (statistical efficiency) come from whole trainings with three seeds, speed (hardware
efficiency) from short trainings on each kind of link, and seconds to the target are one over the
other; evaluations are in none of them. What was measured stays in build/accuracy/, so that a run
that was interrupted goes on where it was, unless the program has changed. Exit code 1: the bar is
not met (accuracy_report.py); 2: the host gave no time to measure speeds in.

A training ends when it has held the target. Learning does not depend on what else runs, so several
trainings may run at once (--jobs); speeds are measured one by one.

usage: accuracy.py PROGRAM [--tasks …] [--variants …] [--workers 2] [--seeds 3] [--jobs 1] [--quick]
                   [--json] [--write]
"""
import argparse
import concurrent.futures
import datetime
import json
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time

import accuracy_report as report
from fidelity import digest_of, listed, say
from programs import Refused
from undisturbed import Disturbed, undisturbed

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DOCUMENT = os.path.join(ROOT, "docs", "accuracy.md")
DATA = os.environ.get("PD_SHARED_DATA", os.path.join(ROOT, "..", "shared", "data"))

TASKS = [
    {"name": "mnist", "what": "digits: 8,000 images, 2,000 held out",
     "data": f"idx:{DATA}/mnist", "figure": "accuracy", "target": 0.94,
     "rates": [0.003, 0.01, 0.03, 0.1], "minibatches": 2000, "every": 25, "held_out": 2000,
     "words": ["--model", "mlp", "--hidden", "256", "--layers", "6", "--batch", "32"]},
    {"name": "shakespeare", "what": "characters of Shakespeare, the next of 65",
     "data": f"text:{DATA}/text/tinyshakespeare.txt", "figure": "perplexity", "target": 10.0,
     "rates": [0.0003, 0.001, 0.003, 0.01], "minibatches": 1200, "every": 50, "held_out": 500,
     "words": ["--model", "gpt", "--hidden", "64", "--layers", "2", "--heads", "4", "--vocabulary",
               "65", "--context", "32", "--dropout", "0", "--batch", "32", "--optimiser", "adam"]},
    {"name": "translation", "what": "made-up sentences, translated word by word",
     "data": "synthetic", "figure": "perplexity", "target": 1.5,
     "rates": [0.0003, 0.001, 0.003, 0.01], "minibatches": 1000, "every": 32, "held_out": 512,
     "words": ["--model", "gnmt8", "--hidden", "64", "--vocabulary", "64", "--length", "6",
               "--dropout", "0", "--batch", "32", "--optimiser", "adam"]},
]
# What is compared: the name in tables, and the flags. Pipelines have one worker per stage. Plain
# training is that of one minibatch after the other, which mp is. "--plan gpipe": the stages are those
# of gpipe, because on two workers 2bw itself plans replicas.
VARIANTS = {
    "plain": ["--system", "mp"],
    "pipedream": ["--system", "pipedream", "--straight"],
    "pipedream --no-stash": ["--system", "pipedream", "--straight", "--no-stash"],
    "pipedream --vertical-sync": ["--system", "pipedream", "--straight", "--vertical-sync"],
    "2bw": ["--plan", "gpipe"],
    "gpipe": ["--system", "gpipe", "--microbatches", "4"],
    "torchgpipe": ["--system", "torchgpipe", "--microbatches", "4"],
    "dapple": ["--system", "dapple", "--straight", "--microbatches", "4"],
    "interleaved": ["--system", "interleaved", "--microbatches", "4"],
    "dp-bsp": ["--system", "dp-bsp"],
    "dp-asp": ["--system", "dp-asp"],
}
LINKS = {"memory": [], "100 Mbit/s": ["--link", "100Mbit/s"]}
SPEED_SECONDS = 4  # that a training for its speed should take
FEWEST = 12  # minibatches of it


def training_words(task, variant, rate, seed, workers):
    return ["--data", task["data"], *task["words"], *variant, "--workers", str(workers),
            "--learning-rate", f"{rate:g}", "--seed", str(seed), "--minibatches",
            str(task["minibatches"]), "--evaluate-every", str(task["every"]),
            "--evaluation-samples", str(task["held_out"]), "--checkpoint-every", "never"]


def curve_in(metrics, figure):
    """[[samples, value], …] of the evaluations in the lines of a metrics.jsonl."""
    lines = map(json.loads, metrics.splitlines())
    return [[line["samples"], line[figure]] for line in lines if "held_out_loss" in line]


class Stopped(Exception):
    """The program has stopped the training: its loss is no number any more."""


OWN_ENVIRONMENT = dict(os.environ, OMP_NUM_THREADS="1")


def failed(words, code, messages):
    """What is thrown when `pipedream train` ended with this code."""
    if code == 78:
        return Refused(messages.strip().splitlines()[-1].removeprefix("pipedream: "))
    if code == 1:
        return Stopped()
    return SystemExit(f"pipedream train {' '.join(words)} failed:\n{messages}")


class Bench:
    def __init__(self, args):
        self.args = args
        self.folder = os.path.join(ROOT, "build", "accuracy")
        os.makedirs(self.folder, exist_ok=True)
        self.state_file = os.path.join(self.folder, "state.json")
        # What was measured is of this program, with these tasks.
        self.digest = digest_of(args.program) + digest_of(__file__)
        self.state = {}
        if os.path.exists(self.state_file):
            with open(self.state_file, encoding="utf-8") as file:
                self.state = json.load(file)
        if self.state.get("program") != self.digest:
            self.state = {"program": self.digest, "curves": {}, "speeds": {}}
        self.lock = threading.Lock()  # guards `state` and the files beside it
        if args.quick:
            self.shorten()

    def shorten(self):
        """To see that everything runs; the figures say nothing."""
        for task in TASKS:
            task.update(minibatches=64, every=32, rates=task["rates"][1:3])
        self.args.seeds = 1
        self.state_file += ".quick"
        self.state = {"program": self.digest, "curves": {}, "speeds": {}}

    def save(self):
        with open(self.state_file + ".new", "w", encoding="utf-8") as file:
            json.dump(self.state, file)
        os.replace(self.state_file + ".new", self.state_file)

    def call(self, *words):
        done = subprocess.run([self.args.program, "train", *words], check=False,
                              capture_output=True, text=True, timeout=1800,
                              env=OWN_ENVIRONMENT)
        if done.returncode != 0:
            raise failed(words, done.returncode, done.stderr)
        return json.loads(done.stdout)

    def learn(self, task, words, out):
        """The curve of a training, which is ended when it has held the target."""
        metrics, log = os.path.join(out, "metrics.jsonl"), out + ".log"
        with open(log, "w", encoding="utf-8") as messages:
            process = subprocess.Popen([self.args.program, "train", *words, "--out", out],
                                       stdout=subprocess.DEVNULL, stderr=messages, env=OWN_ENVIRONMENT)
        curve = []
        while process.poll() is None:
            time.sleep(0.5)
            if os.path.exists(metrics):
                with open(metrics, encoding="utf-8") as file:
                    curve = curve_in(whole_lines(file.read()), task["figure"])
            if report.is_settled(task, curve):
                process.terminate()
                process.wait()
                return curve
        if process.returncode != 0:
            with open(log, encoding="utf-8") as messages:
                raise failed(words, process.returncode, messages.read())
        with open(metrics, encoding="utf-8") as file:
            return curve_in(file.read(), task["figure"])

    def profile(self, task):
        """Of the task's network, so that not every training has to take one."""
        file = os.path.join(self.folder, task["name"] + ".json")
        if not os.path.exists(file) or self.state.get("profiles", {}).get(task["name"]) is None:
            subprocess.run([self.args.program, "profile", *task["words"], "--workers",
                            str(self.args.workers), "--seconds", "5", "-o", file], check=True,
                           capture_output=True)
            self.state.setdefault("profiles", {})[task["name"]] = True
        return file

    def planned(self, task, variant):
        """The flags of the variant, with the profile or the plan that they need."""
        words, profile = VARIANTS[variant], self.profile(task)
        if words[0] != "--plan":
            return [*words, "--profile", profile]
        made = subprocess.run([self.args.program, "plan", "--system", words[1], "--microbatches", "2",
                               "--workers", str(self.args.workers), "--profile", profile, "--json"],
                              check=True, capture_output=True, text=True)
        plan = json.loads(made.stdout)
        plan["system"] = variant
        file = os.path.join(self.folder, f"{task['name']}-{variant}.plan.json")
        with open(file, "w", encoding="utf-8") as out:
            json.dump(plan, out)
        return ["--plan", file]

    def curve(self, task, variant, rate, seed):
        key = f"{task['name']} {variant} {rate:g} {seed} {self.args.workers}"
        if key not in self.state["curves"]:
            out = os.path.join(self.folder, "run " + key)
            shutil.rmtree(out, ignore_errors=True)
            with self.lock:
                flags = self.planned(task, variant)
            words = training_words(task, flags, rate, seed, self.args.workers)
            try:
                curve = self.learn(task, words, out)
            except Stopped:
                curve = [[0, 0.0 if task["figure"] == "accuracy" else 1e9]]
            shutil.rmtree(out, ignore_errors=True)
            with self.lock:
                self.state["curves"][key] = curve
                self.save()
            reached = report.samples_to_target(task, curve)
            say(f"{key}: " + (f"target after {reached:,} samples" if reached else
                              f"best {report.best_of(task, curve):.4g}"))
        return self.state["curves"][key]

    def speed(self, task, variant, link):
        """Samples per second, the median of three trainings of a few seconds."""
        key = f"{task['name']} {variant} {link} {self.args.workers}"
        if key not in self.state["speeds"]:
            words = ["--data", task["data"], *task["words"], *self.planned(task, variant), *LINKS[link],
                     "--workers", str(self.args.workers), "--no-evaluation", "--json",
                     "--learning-rate", "0.0001"]

            def run(count):
                return self.call(*words, "--minibatches", str(count))["samples_per_second"]
            first = run(FEWEST * self.args.workers)
            batch = int(task["words"][task["words"].index("--batch") + 1])
            count = max(FEWEST * self.args.workers, int(SPEED_SECONDS * first / batch))
            found = [undisturbed(lambda: run(count)) for _ in range(1 if self.args.quick else 3)]
            self.state["speeds"][key] = statistics.median(found)
            self.save()
            say(f"{key}: {self.state['speeds'][key]:,.0f} samples/s")
        return self.state["speeds"][key]

    def speeds(self, task, variant):
        """By link; without those that the system refuses."""
        found = {}
        for link in LINKS:
            try:
                found[link] = self.speed(task, variant, link)
            except Refused as why:
                say(f"{task['name']} {variant} {link}: {why}")
        return found

    def measure(self, pool, task, variant):
        """What a variant learns. Called by a thread of its own; `pool` runs the trainings."""
        tried = {rate: pool.submit(self.curve, task, variant, rate, 0) for rate in task["rates"]}
        curves = {rate: made.result() for rate, made in tried.items()}
        rate = report.best_rate(task, curves)
        again = [pool.submit(self.curve, task, variant, rate, seed)
                 for seed in range(1, self.args.seeds)]
        return {"rate": rate, "curves": [curves[rate], *(made.result() for made in again)]}

    def learn_all(self):
        """{task: {variant: its rate and curves}}, without what the systems refuse."""
        cases = [(task, variant) for task in chosen(TASKS, self.args.tasks)
                 for variant in self.args.variants]
        measured = {task["name"]: {} for task, _ in cases}
        with (concurrent.futures.ThreadPoolExecutor(self.args.jobs) as trainings,
              concurrent.futures.ThreadPoolExecutor(len(cases)) as waiting):
            found = [waiting.submit(self.measure, trainings, *case) for case in cases]
            for (task, variant), made in zip(cases, found):
                try:
                    measured[task["name"]][variant] = made.result()
                except Refused as why:
                    say(f"{task['name']} {variant}: {why}")
        return measured

    def run(self):
        """Curves first: they do not depend on what else runs on the machine."""
        measured = self.learn_all()
        for task in chosen(TASKS, self.args.tasks):
            for variant, each in measured[task["name"]].items():
                each["speeds"] = self.speeds(task, variant)
        return measured


def whole_lines(text):
    """Without a last line that is still being written."""
    return text[:text.rfind("\n") + 1]


def chosen(tasks, names):
    return [task for task in tasks if task["name"] in names]


def section_of(task, measured, rows):
    ratio = report.bar_of(rows)
    bar = ("not known" if ratio is None else
           f"{ratio:.2f} × the samples of plain training (bar: at most {report.MOST_SAMPLES})")
    return (f"### {task['name']}\n\n"
            f"{task['what'][0].upper()}{task['what'][1:]}. Target: {task['figure']} "
            f"{report.figure_text(task, task['target'])}. pipedream needs {bar}.\n\n"
            f"![{task['figure']} of every system](accuracy-{task['name']}.svg)\n\n"
            + report.table_of(task, rows, list(LINKS)))


def write_document(args, sections, pictures):
    """Replaces what follows the heading "## Measured"."""
    with open(DOCUMENT, encoding="utf-8") as file:
        begin = file.read().split("\n## Measured\n")[0]
    origin = (f"`./run bench accuracy --write` on {os.cpu_count()} cores ({os.uname().machine}), "
              f"{datetime.date.today().isoformat()}: {args.workers} workers, {args.seeds} seeds.")
    with open(DOCUMENT, "w", encoding="utf-8") as file:
        file.write(begin + "\n## Measured\n\n" + origin + "\n\n" + "\n".join(sections))
    for name, picture in pictures.items():
        with open(os.path.join(ROOT, "docs", f"accuracy-{name}.svg"), "w", encoding="utf-8") as file:
            file.write(picture)


def main():
    tasks = [task["name"] for task in TASKS]
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("program")
    parser.add_argument("--tasks", type=listed(tasks, "task"), default=tasks, metavar="NAME,…")
    parser.add_argument("--variants", type=listed(VARIANTS, "variant"), default=list(VARIANTS),
                        metavar="NAME,…")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=max(1, os.cpu_count() // 2),
                        help="trainings at a time, but where speeds are measured [cores / 2]")
    parser.add_argument("--quick", action="store_true",
                        help="see that everything runs; the figures say nothing")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", action="store_true", help="write docs/accuracy.md and its pictures")
    args = parser.parse_args()
    if args.write and (args.quick or args.tasks != tasks):
        parser.error("--write needs all tasks at their full length")
    try:
        measured = Bench(args).run()
    except Disturbed as why:
        say(f"{why}; what was finished is kept")
        return 2
    rows = {task["name"]: {name: report.summary_of(task, each)
                           for name, each in measured[task["name"]].items()}
            for task in chosen(TASKS, args.tasks)}
    sections = [section_of(task, measured[task["name"]], rows[task["name"]])
                for task in chosen(TASKS, args.tasks)]
    met = all(report.is_met(each) for each in rows.values())
    if args.write:
        write_document(args, sections, {
            task["name"]: report.picture_of(task, measured[task["name"]], list(LINKS))
            for task in chosen(TASKS, args.tasks)})
    if args.json:
        print(json.dumps({"benchmark": "accuracy", "met": met, "tasks": rows}, indent=2))
    else:
        print("\n".join(sections), end="")
    return 0 if met or args.quick else 1


if __name__ == "__main__":
    sys.exit(main())
