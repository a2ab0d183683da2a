#!/usr/bin/env python3
"""dp-bsp against PyTorch's DistributedDataParallel (gloo), on two hosts with a slow link.

The hosts are network namespaces of this machine, whose links tbf holds to the rate in both
directions (hosts.py); each has one worker, pinned to a core of its own. Both
sides train the same network (as many parameters, checked) with SGD and one thread. They take turns,
and the median of the repetitions counts; what was measured while a virtual machine's host took its
processors away is measured again. Needs root, iproute2, mpirun, and python3 with torch.

Exit code 1: a bar is not met; 2: the host gave no time to measure in.

usage: dp.py PROGRAM [--rates 100,200,1000] [--models vgg16,mlp] [--repetitions 3] [--json]
"""
import argparse
import json
import os
import statistics
import struct
import sys
import tempfile

from hosts import Hosts
from programs import Failed, peers, train
from undisturbed import Disturbed, undisturbed

BAR = 0.95  # of DistributedDataParallel's speed

# What both sides train, and minibatches by the link's Mbit/s: enough to measure, soon enough done.
MODELS = {
    "vgg16": {"ours": ["--image-size", "32", "--classes", "10"], "theirs": [], "batch": 16,
              "minibatches": {100: 6, 200: 8, 1000: 16}},
    "mlp": {"ours": ["--hidden", "1800", "--layers", "5"],
            "theirs": ["--hidden", "1800", "--layers", "5"], "batch": 64,
            "minibatches": {100: 10, 200: 16, 1000: 40}},
}
RATES = tuple(MODELS["mlp"]["minibatches"])


def run_ours(hosts, program, name, rate, weights=None):
    model = MODELS[name]
    count = 2 * (model["minibatches"][rate] if weights is None else 1)
    words = [program, "train", "--model", name, *model["ours"], "--batch", str(model["batch"]),
             "--system", "dp-bsp", "--optimiser", "sgd", "--minibatches", str(count),
             "--no-evaluation", "--profile-seconds", "0.2"]
    if weights:
        words += ["--export", weights]
    return train(hosts, 1, words, pin=True)["samples_per_second"]


def run_theirs(hosts, name, rate):
    model = MODELS[name]
    return peers(hosts, 1, "dp_peer.py",
                 ["--model", name, *model["theirs"], "--batch", str(model["batch"]),
                  "--minibatches", str(model["minibatches"][rate])], pin=True)


def parameters_in(file):
    """Of a safetensors file."""
    with open(file, "rb") as weights:
        header = json.loads(weights.read(struct.unpack("<Q", weights.read(8))[0]))
    counts = []
    for name, tensor in header.items():
        if name != "__metadata__":
            count = 1
            for size in tensor["shape"]:
                count *= size
            counts.append(count)
    return sum(counts)


def measure(hosts, program, name, rate, repetitions):
    ours, theirs = [], []
    for _ in range(repetitions):
        ours.append(undisturbed(lambda: run_ours(hosts, program, name, rate)))
        theirs.append(undisturbed(lambda: run_theirs(hosts, name, rate))["samples_per_second"])
        print(f"{name} at {rate} Mbit/s: {ours[-1]:.1f} and {theirs[-1]:.1f} samples/s",
              file=sys.stderr)
    ratio = statistics.median(ours) / statistics.median(theirs)
    return {"model": name, "mbit_per_second": rate, "ours": statistics.median(ours),
            "theirs": statistics.median(theirs), "runs": {"ours": ours, "theirs": theirs},
            "ratio": ratio, "met": ratio >= BAR}


def check_same(hosts, program, name, folder):
    weights = os.path.join(folder, "weights.safetensors")
    run_ours(hosts, program, name, 1000, weights)
    ours, theirs = parameters_in(weights), run_theirs(hosts, name, 1000)["parameters"]
    if ours != theirs:
        sys.exit(f"{name}: ours has {ours} parameters, theirs {theirs}")


def measure_all(args, results):
    """Adds to the results one by one, so that they are there if the next cannot be had."""
    with Hosts(2) as hosts, tempfile.TemporaryDirectory() as folder:
        for name in args.models.split(","):
            hosts.set_rate(1000)
            check_same(hosts, args.program, name, folder)
            for rate in map(int, args.rates.split(",")):
                hosts.set_rate(rate)
                results.append(measure(hosts, args.program, name, rate, args.repetitions))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("program")
    parser.add_argument("--rates", default=",".join(map(str, RATES)), help="Mbit/s")
    parser.add_argument("--models", default="vgg16,mlp")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    unknown = set(args.rates.split(",")) - {str(rate) for rate in RATES}
    if unknown:
        parser.error(f"--rates: wanted some of {RATES}, found {sorted(unknown)}")
    results = []
    disturbed = None
    try:
        measure_all(args, results)
    except Disturbed as why:
        disturbed = str(why)
    except Failed as why:
        sys.exit(str(why))
    show(results, args.json)
    if disturbed:
        print(disturbed, file=sys.stderr)
        return 2
    return 0 if all(each["met"] for each in results) else 1


def show(results, as_json):
    if as_json:
        print(json.dumps({"benchmark": "dp", "bar": BAR, "results": results}, indent=2))
        return
    print("model     Mbit/s  pipedream dp-bsp  PyTorch DDP  ratio   (samples/s, medians)")
    for each in results:
        print(f"{each['model']:8} {each['mbit_per_second']:7}  {each['ours']:16.1f}  "
              f"{each['theirs']:11.1f}  {each['ratio']:5.3f}")
    if not results:
        return
    missed = [f"{each['model']} at {each['mbit_per_second']} Mbit/s" for each in results
              if not each["met"]]
    print(f"bar {BAR}: " + ("NOT met: " + ", ".join(missed) if missed else "all met"))


sys.exit(main())
