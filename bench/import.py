#!/usr/bin/env python3
"""What it costs that a network came from PyTorch: time of a training step of exported models.

VGG-16 and ResNet-50 are compared with the built-in networks of the same layers; the two take turns
in one process. The GPT of tools/export_examples.py is compared with PyTorch eager; the two processes
take turns. All train with SGD and momentum, on one thread or one GPU. The median over the rounds
counts. What was measured while a virtual machine's host took its processors away is measured again.

Exit code 1: a bar is not met; 2: the host gave no time to measure in.

usage: import.py BENCH_IMPORT [--device cpu|cuda] [--models vgg16,resnet50,gpt] [--rounds 9] [--json]
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
# Of each device: side of the images, samples per minibatch, and steps per round.
IMAGES = {"cpu": {"side": 32, "batch": 16, "steps": 4}, "cuda": {"side": 224, "batch": 64, "steps": 20}}
WORDS = {"cpu": {"batch": 4, "steps": 4}, "cuda": {"batch": 32, "steps": 20}}


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


def run_ours(options, size, file, rounds, built_in=()):
    command = [options.program, options.device, size["batch"], size["steps"], rounds, file, *built_in]
    done = subprocess.run(list(map(str, command)), check=False, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def compare_with_built_in(torch, options, name, folder):
    import export_examples

    size = IMAGES[options.device]
    side = size["side"]
    file = folder / f"{name}.pt2"
    export_examples.export(classifier(torch, name, side), {"x": torch.rand(2, 3, side, side)}, file)
    built_in = [name, f"image-size={side}"]
    times = undisturbed(lambda: run_ours(options, size, file, options.rounds, built_in))
    return summary(name, "built-in", times["imported_ms"], times["built_in_ms"])


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
    ours, theirs = [], []
    for _ in range(options.rounds):
        # Each side measures three times in its turn; the best is what the machine lets it reach.
        mine, other = undisturbed(lambda: (
            min(run_ours(options, size, file, 3)["imported_ms"]),
            min(eager.milliseconds(size["steps"]) for _ in range(3))))
        ours.append(mine)
        theirs.append(other)
    return summary(name, "PyTorch eager", ours, theirs)


def summary(name, other, ours, theirs):
    ratio = statistics.median(a / b for a, b in zip(ours, theirs))
    print(f"{name}: {ratio:.3f} × {other}", file=sys.stderr)
    return {"model": name, "other": other, "imported_ms": statistics.median(ours),
            "other_ms": statistics.median(theirs), "ratio": ratio, "met": ratio <= BAR,
            "runs": {"imported_ms": ours, "other_ms": theirs}}


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
    parser.add_argument("--rounds", type=int, default=9)
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
