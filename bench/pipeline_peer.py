"""One stage of PyTorch's own pipeline, torch.distributed.pipelining with Schedule1F1B on gloo.

The network is cut into one stage for each rank, so that the slowest stage is as fast as possible by
the times of its parts, which rank 0 measures. A minibatch is cut into twice as many microbatches as
there are stages. Otherwise as dp_peer.py. Rank 0 prints one JSON object.
"""
import argparse
import json
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B

from peer_networks import CLASSES, add_options, network_and_shape, parameters_of
from pipeline_cut import cuts_of

PASSES = 3


def seconds_of_parts(network, sample):
    """Forward and backward of each part, the fastest of a few passes."""
    fastest = [float("inf")] * len(network)
    for _ in range(PASSES):
        value = sample
        for index, part in enumerate(network):
            value = value.detach().requires_grad_()
            began = time.perf_counter()
            value = part(value)
            value.sum().backward()
            fastest[index] = min(fastest[index], time.perf_counter() - began)
    network.zero_grad(set_to_none=True)
    return fastest


def agreed_cuts(network, sample, rank, world):
    """What rank 0 finds is what all do."""
    cuts = [cuts_of(seconds_of_parts(network, sample), world) if rank == 0 else None]
    dist.broadcast_object_list(cuts, src=0)
    return cuts[0]


def stage_of(network, sample, cuts, rank, world):
    """The stage, with the shapes of its inputs and outputs: they need not be exchanged."""
    begin, end = ([0, *cuts] + [len(network)])[rank:rank + 2]
    with torch.no_grad():
        inputs = network[:begin](sample) if begin else sample
        outputs = network[begin:end](inputs)
    return PipelineStage(network[begin:end], rank, world, torch.device("cpu"),
                         input_args=(torch.empty_like(inputs),),
                         output_args=(torch.empty_like(outputs),))


def main():
    parser = argparse.ArgumentParser()
    add_options(parser)
    parser.add_argument("--rank", type=int, required=True)
    parser.add_argument("--world", type=int, required=True)
    parser.add_argument("--master", required=True)
    parser.add_argument("--microbatch", type=int, required=True, help="samples")
    parser.add_argument("--minibatches", type=int, required=True)
    parser.add_argument("--warm-up", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo", init_method=f"tcp://{args.master}", rank=args.rank,
                            world_size=args.world)
    network, shape = network_and_shape(args)
    cuts = agreed_cuts(network, torch.randn(args.microbatch, *shape), args.rank, args.world)
    stage = stage_of(network, torch.randn(args.microbatch, *shape), cuts, args.rank, args.world)
    microbatches = 2 * args.world
    schedule = Schedule1F1B(stage, microbatches, loss_fn=nn.functional.cross_entropy)
    parameters = list(stage.submod.parameters())
    optimiser = torch.optim.SGD(parameters, lr=0.01) if parameters else None
    batch = args.microbatch * microbatches
    inputs, labels = torch.randn(batch, *shape), torch.randint(CLASSES, (batch,))
    for step in range(args.warm_up + args.minibatches):
        if step == args.warm_up:
            dist.barrier()
            began = time.perf_counter()
        if optimiser:
            optimiser.zero_grad()
        first = (inputs,) if stage.is_first else ()
        schedule.step(*first, target=labels if stage.is_last else None)
        if optimiser:
            optimiser.step()
    dist.barrier()
    seconds = time.perf_counter() - began
    if args.rank == 0:
        print(json.dumps({"samples_per_second": batch * args.minibatches / seconds,
                          "samples": batch * (args.warm_up + args.minibatches),
                          "parameters": parameters_of(network), "cuts": cuts,
                          "microbatches": microbatches}))
    dist.destroy_process_group()


main()
