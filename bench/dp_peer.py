"""One rank of PyTorch's DistributedDataParallel on gloo, or one process of plain PyTorch.

Trains made-up data like `pipedream train` does: SGD, cross entropy, one thread. Rank 0 prints one
JSON object with samples per second over all ranks and the number of parameters.
"""
import argparse
import json
import time

import torch
import torch.distributed as dist
from torch import nn

from peer_networks import CLASSES, add_options, network_and_shape, parameters_of


def main():
    parser = argparse.ArgumentParser()
    add_options(parser)
    parser.add_argument("--rank", type=int, default=0)
    parser.add_argument("--world", type=int, default=1)
    parser.add_argument("--master", help="address and port of rank 0; without it, one rank alone")
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--minibatches", type=int, required=True, help="per rank")
    parser.add_argument("--warm-up", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    network, shape = network_and_shape(args)
    trained, wait = network, lambda: None
    if args.master:
        dist.init_process_group("gloo", init_method=f"tcp://{args.master}", rank=args.rank,
                                world_size=args.world)
        trained, wait = nn.parallel.DistributedDataParallel(network, gradient_as_bucket_view=True), dist.barrier
    optimiser = torch.optim.SGD(network.parameters(), lr=0.01)
    inputs, labels = torch.randn(args.batch, *shape), torch.randint(CLASSES, (args.batch,))
    for step in range(args.warm_up + args.minibatches):
        if step == args.warm_up:
            wait()
            began = time.perf_counter()
        optimiser.zero_grad()
        nn.functional.cross_entropy(trained(inputs), labels).backward()
        optimiser.step()
    wait()
    seconds = time.perf_counter() - began
    if args.rank == 0:
        print(json.dumps({"samples_per_second": args.batch * args.minibatches * args.world / seconds,
                          "samples": args.batch * (args.warm_up + args.minibatches) * args.world,
                          "parameters": parameters_of(network)}))


main()
