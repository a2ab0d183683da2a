#!/usr/bin/env python3
"""A training step on one GPU: our worker, a plain libtorch loop, and PyTorch eager.

The three train the same network with SGD and momentum on images that lie on the GPU: fp32, and
bfloat16 autocast with channels last. They take turns; the median of the rounds counts. Needs
python3 with torch, torchvision, and a GPU.

usage: gpu.py BENCH_GPU [--models vgg16,resnet50,alexnet] [--rounds 5] [--batch 64]
              [--image-size 224] [--json]
"""
import argparse
import json
import statistics
import subprocess
import sys
import time

WARM_UP = 10
STEPS = 40
BAR = 0.98


def eager(torch, torchvision, name, precision, batch, side):
    """Milliseconds per step, as the documentation of PyTorch has it."""
    torch.backends.cudnn.benchmark = True
    model = getattr(torchvision.models, name)().cuda().train()
    images = torch.rand(batch, 3, side, side, device="cuda")
    labels = torch.randint(0, 1000, (batch,), device="cuda")
    low = precision == "bf16"
    if low:
        model = model.to(memory_format=torch.channels_last)
        images = images.to(memory_format=torch.channels_last)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
    for step in range(WARM_UP + STEPS):
        if step == WARM_UP:
            torch.cuda.synchronize()
            began = time.perf_counter()
        optimiser.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=low):
            loss = torch.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimiser.step()
    torch.cuda.synchronize()
    took = (time.perf_counter() - began) * 1000 / STEPS
    del model, optimiser, images, loss
    torch.cuda.empty_cache()
    return took


def ours(program, name, precision, batch, side):
    done = subprocess.run([program, name, precision, str(batch), str(side)], check=True,
                          stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def measure(options, torch, torchvision, name, precision):
    rounds = []
    for _ in range(options.rounds):
        found = ours(options.program, name, precision, options.batch, options.image_size)
        found["eager_ms"] = eager(torch, torchvision, name, precision, options.batch,
                                  options.image_size)
        rounds.append(found)
        print("%s %s: worker %.2f ms, bare loop %.2f ms, eager %.2f ms" % (
            name, precision, found["worker_ms"], found["bare_loop_ms"], found["eager_ms"]),
            file=sys.stderr)

    def middle(key):
        return statistics.median(each[key] for each in rounds)

    def ratio(key):
        return statistics.median(each[key] / each["worker_ms"] for each in rounds)

    return {"model": name, "precision": precision, "worker_ms": middle("worker_ms"),
            "bare_loop_ms": middle("bare_loop_ms"), "eager_ms": middle("eager_ms"),
            "of_bare_loop": ratio("bare_loop_ms"), "of_eager": ratio("eager_ms")}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--models", default="vgg16,resnet50,alexnet")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--image-size", type=int, default=224)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    try:
        import torch
        import torchvision
    except ImportError as error:
        sys.exit("bench gpu: %s: PyTorch eager is the other side of this comparison" % error)
    if not torch.cuda.is_available():
        sys.exit("bench gpu: torch finds no GPU here")
    results = [measure(options, torch, torchvision, name, precision)
               for name in options.models.split(",") for precision in ("fp32", "bf16")]
    met = all(min(each["of_bare_loop"], each["of_eager"]) >= BAR for each in results)
    if options.json:
        print(json.dumps({"gpu": torch.cuda.get_device_name(), "torch": torch.__version__,
                          "met": met, "results": results}, indent=2))
    else:
        print("| model | precision | worker, ms | bare loop, ms | eager, ms | of the bare loop's"
              " speed | of eager's |\n|---|---|---:|---:|---:|---:|---:|")
        for each in results:
            print("| {model} | {precision} | {worker_ms:.2f} | {bare_loop_ms:.2f} | {eager_ms:.2f}"
                  " | {of_bare_loop:.3f} | {of_eager:.3f} |".format(**each))
        print("\n%s, torch %s, batch %d, %d px; medians of %d rounds of %d steps; bar %.2f: %s met"
              % (torch.cuda.get_device_name(), torch.__version__, options.batch,
                 options.image_size, options.rounds, STEPS, BAR, "all" if met else "NOT all"))
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
