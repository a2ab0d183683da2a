"""One rank of PyTorch's DistributedDataParallel on gloo: what bench/dp.py compares dp-bsp with.

Trains made-up data like `pipedream train` does: SGD, cross entropy, one thread. Rank 0 prints one
JSON object with samples per second over all ranks and the number of parameters.
"""
import argparse
import json
import time

import torch
import torch.distributed as dist
from torch import nn


def vgg16(classes):
    """As the zoo's at 32 pixels: no pooling before the classifier, 4096 wide."""
    layers, channels = [], 3
    for width in (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0):
        if width == 0:
            layers.append(nn.MaxPool2d(2, 2))
        else:
            layers += [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU()]
            channels = width
    layers += [nn.Flatten(), nn.Linear(512, 4096), nn.ReLU(), nn.Dropout(), nn.Linear(4096, 4096),
               nn.ReLU(), nn.Dropout(), nn.Linear(4096, classes)]
    return nn.Sequential(*layers)


def mlp(inputs, hidden, layers, classes):
    parts, width = [], inputs
    for _ in range(layers - 1):
        parts += [nn.Linear(width, hidden), nn.ReLU()]
        width = hidden
    return nn.Sequential(*parts, nn.Linear(width, classes))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", choices=("vgg16", "mlp"), required=True)
    parser.add_argument("--rank", type=int, required=True)
    parser.add_argument("--world", type=int, required=True)
    parser.add_argument("--master", required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--minibatches", type=int, required=True, help="per rank")
    parser.add_argument("--warm-up", type=int, default=2)
    parser.add_argument("--hidden", type=int, default=0)
    parser.add_argument("--layers", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo", init_method=f"tcp://{args.master}", rank=args.rank,
                            world_size=args.world)
    if args.model == "vgg16":
        model, shape = vgg16(10), (args.batch, 3, 32, 32)
    else:
        model, shape = mlp(784, args.hidden, args.layers, 10), (args.batch, 784)
    parallel = nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01)
    inputs, labels = torch.randn(shape), torch.randint(10, (args.batch,))
    for step in range(args.warm_up + args.minibatches):
        if step == args.warm_up:
            dist.barrier()
            began = time.perf_counter()
        optimiser.zero_grad()
        nn.functional.cross_entropy(parallel(inputs), labels).backward()
        optimiser.step()
    dist.barrier()
    seconds = time.perf_counter() - began
    if args.rank == 0:
        print(json.dumps({"samples_per_second": args.batch * args.minibatches * args.world / seconds,
                          "parameters": sum(p.numel() for p in model.parameters())}))


main()
