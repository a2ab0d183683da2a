#!/usr/bin/env python3
"""What it costs that a network came from PyTorch: time of a training step of exported models.

VGG-16 and ResNet-50 are compared with the built-in networks of the same layers, and the GPT of
tools/export_examples.py with PyTorch eager. The two sides take turns, a few steps each, so that they
meet the same machine; the median over the rounds counts. All train with SGD and momentum, on one
thread or one GPU. Rounds in which a virtual machine's host took its processors away are repeated.

Exit code 1: a bar is not met; 2: the host gave no time to measure in.

usage: import.py BENCH_IMPORT [--device cpu|cuda] [--models vgg16,resnet50,gpt] [--rounds 15] [--json]
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from undisturbed import Disturbed, undisturbed

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tools"))

BAR = 1.02
WARM_UP = 3
# Of each device: side of the images, samples per minibatch, and steps per turn.
IMAGES = {"cpu": {"side": 32, "batch": 16, "steps": 2}, "cuda": {"side": 224, "batch": 64, "steps": 20}}
WORDS = {"cpu": {"batch": 4, "steps": 1}, "cuda": {"batch": 32, "steps": 20}}


def classifier(torch, name, side):
    """Torchvision's network, with the layers of the built-in one."""
    import torchvision

    model = getattr(torchvision.models, name)()
    if name == "vgg16":
        # The built-in network has no pooling to 7 x 7: at 224 px it would change nothing.
        size = side // 32
        model.avgpool = torch.nn.Identity()
        model.classifier[0] = torch.nn.Linear(512 * size * size, 4096)
    return model.train()


class Ours:
    """The program that trains the exported model, and the built-in one beside it."""

    def __init__(self, options, size, file, built_in=()):
        command = [options.program, options.device, size["batch"], size["steps"], file, *built_in]
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.turn()  # the first is a warm-up

    def turn(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"bench import: the program ended with {self.process.wait()}")
        return json.loads(line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


def compare_with_built_in(torch, options, name, folder):
    import export_examples

    size = IMAGES[options.device]
    side = size["side"]
    file = folder / f"{name}.pt2"
    export_examples.export(classifier(torch, name, side), {"x": torch.rand(2, 3, side, side)}, file)
    with Ours(options, size, file, [name, f"image-size={side}"]) as ours:
        rounds = [undisturbed(ours.turn) for _ in range(options.rounds)]
    return summary(name, "built-in", [(each["imported_ms"], each["built_in_ms"]) for each in rounds])


class Eager:
    """A training loop, as PyTorch's documentation has it."""

    def __init__(self, torch, model, words, device):
        self.torch = torch
        self.model, self.words = model.to(device), words.to(device)
        self.device = device
        self.optimiser = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
        self.milliseconds(WARM_UP)

    def step(self):
        self.optimiser.zero_grad(set_to_none=True)
        scores = self.model(self.words)[:, :-1]
        loss = self.torch.nn.functional.cross_entropy(scores.flatten(0, 1), self.words[:, 1:].flatten())
        loss.backward()
        self.optimiser.step()

    def wait(self):
        if self.device == "cuda":
            self.torch.cuda.synchronize()

    def milliseconds(self, steps):
        self.wait()
        began = time.perf_counter()
        for _ in range(steps):
            self.step()
        self.wait()
        return (time.perf_counter() - began) * 1000 / steps


def compare_with_eager(torch, options, name, folder):
    import export_examples

    size = WORDS[options.device]
    model, data, _ = export_examples.make(name, small=False, samples=size["batch"])
    file = folder / f"{name}.pt2"
    export_examples.export(model, data, file)
    eager = Eager(torch, model, data["tokens"], options.device)
    with Ours(options, size, file) as ours:
        rounds = [undisturbed(lambda: (ours.turn()["imported_ms"], eager.milliseconds(size["steps"])))
                  for _ in range(options.rounds)]
    return summary(name, "PyTorch eager", rounds)


def summary(name, other, rounds):
    """Of pairs (imported, other) in milliseconds."""
    ratio = statistics.median(ours / theirs for ours, theirs in rounds)
    print(f"{name}: {ratio:.3f} × {other}", file=sys.stderr)
    return {"model": name, "other": other, "imported_ms": statistics.median(each[0] for each in rounds),
            "other_ms": statistics.median(each[1] for each in rounds), "ratio": ratio, "met": ratio <= BAR,
            "rounds": rounds}


def show(results, options):
    if options.json:
        print(json.dumps({"benchmark": "import", "device": options.device, "bar": BAR,
                          "results": results}, indent=2))
        return
    print("| model | imported, ms | compared with | ms | ratio |\n|---|---:|---|---:|---:|")
    for each in results:
        print("| {model} | {imported_ms:.1f} | {other} | {other_ms:.1f} | {ratio:.3f} |".format(**each))
    missed = [each["model"] for each in results if not each["met"]]
    print(f"\nbar {BAR}: " + ("NOT met: " + ", ".join(missed) if missed else "all met"))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--models", default="vgg16,resnet50,gpt")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    # For the Python side as well: torch.set_num_threads does not reach all libraries of matrix products.
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        import torch
    except ImportError as error:
        sys.exit(f"bench import: {error}: the models come from PyTorch")
    results = []
    disturbed = None
    with tempfile.TemporaryDirectory() as folder:
        for name in options.models.split(","):
            compare = compare_with_eager if name == "gpt" else compare_with_built_in
            try:
                results.append(compare(torch, options, name, pathlib.Path(folder)))
            except Disturbed as why:
                disturbed = why
    show(results, options)
    if disturbed:
        print(disturbed, file=sys.stderr)
        return 2
    return 0 if all(each["met"] for each in results) else 1


if __name__ == "__main__":
    sys.exit(main())
