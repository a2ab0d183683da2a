#!/usr/bin/env python3
"""What keeping freed memory gains (src/model/keep_memory.h).

Trains small networks on one worker, by turns as the program does it and with memory handed back
as the allocator does by itself; the median of the rounds' ratios counts. Exit code 2: the host gave
no time to measure in.

usage: memory.py PROGRAM [--models vgg16,resnet50,gnmt8,gpt] [--repetitions 5] [--json]
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

from fidelity import MODELS
from undisturbed import Disturbed, undisturbed

SECONDS = 10  # that a run should take
# Default values: they change nothing but that the program leaves the allocator alone.
HANDED_BACK = {"MIMALLOC_PURGE_DELAY": "10", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=7"}


def train(program, model, minibatches, environment):
    done = subprocess.run(
        [program, "train", "--model", model, *MODELS[model], "--workers", "1", "--system", "mp",
         "--minibatches", str(minibatches), "--no-evaluation", "--learning-rate", "0.001",
         "--profile-seconds", "0.2", "--json"],
        check=True, capture_output=True, text=True, timeout=600,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment})
    return json.loads(done.stdout)["samples_per_second"]


def measure(program, model, repetitions):
    batch = int(MODELS[model][MODELS[model].index("--batch") + 1])
    minibatches = max(4, round(SECONDS * train(program, model, 4, {}) / batch))
    runs = []
    for _ in range(repetitions):
        kept, handed_back = (undisturbed(lambda setting=setting: train(program, model, minibatches, setting))
                             for setting in ({}, HANDED_BACK))
        runs.append({"kept": kept, "handed_back": handed_back})
    return {"model": model, "minibatches": minibatches, "runs": runs,
            **{side: statistics.median(r[side] for r in runs) for side in runs[0]},
            "ratio": statistics.median(r["kept"] / r["handed_back"] for r in runs)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("program")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    try:
        results = [measure(args.program, m, args.repetitions) for m in args.models.split(",")]
    except Disturbed as why:
        print(why, file=sys.stderr)
        return 2
    if args.json:
        print(json.dumps({"benchmark": "memory", "results": results}, indent=2))
        return 0
    print("model     memory kept  handed back  ratio   (samples/s, medians)")
    for each in results:
        print(f"{each['model']:8}  {each['kept']:11.4g}  {each['handed_back']:11.4g}  "
              f"{each['ratio']:5.3f}")
    return 0


sys.exit(main())
