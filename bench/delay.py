#!/usr/bin/env python3
"""What one update of delay costs, in PyTorch alone.

A small language model learns tinyshakespeare by characters, as in accuracy.py. Its first half is
trained as PipeDream's first of two stages is: forward and backward use the weights before the
newest update (weight stashing), and the gradient is applied to the newest. Nothing of this project
runs here, so the figures tell what belongs to the rule and what to the program.

usage: delay.py PROGRAM [--rates 0.001,0.003] [--minibatches 1200] [--seeds 3] [--json]
(PROGRAM is not used: all benchmarks get it.)
"""
import argparse
import json
import math
import os
import statistics

import torch
from torch import nn

import accuracy_report as report
from fidelity import say

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DATA = os.environ.get("PD_SHARED_DATA", os.path.join(ROOT, "..", "shared", "data"))
TEXT = os.path.join(DATA, "text", "tinyshakespeare.txt")
HIDDEN, HEADS, CONTEXT, BATCH = 64, 4, 32, 32
EVERY, HELD_OUT = 50, 500  # minibatches between evaluations, and the samples of one
TASK = {"figure": "perplexity", "target": 10.0}


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(HIDDEN), nn.LayerNorm(HIDDEN)])
        self.attend = nn.Linear(HIDDEN, 3 * HIDDEN)
        self.project = nn.Linear(HIDDEN, HIDDEN)
        self.feed = nn.Sequential(nn.Linear(HIDDEN, 4 * HIDDEN), nn.GELU(),
                                  nn.Linear(4 * HIDDEN, HIDDEN))

    def forward(self, x):
        parts = self.attend(self.norms[0](x)).view(*x.shape[:2], 3, HEADS, HIDDEN // HEADS)
        seen = nn.functional.scaled_dot_product_attention(*parts.permute(2, 0, 3, 1, 4), is_causal=True)
        x = x + self.project(seen.transpose(1, 2).reshape(x.shape))
        return x + self.feed(self.norms[1](x))


class FirstHalf(nn.Module):
    def __init__(self, characters):
        super().__init__()
        self.words, self.places = nn.Embedding(characters, HIDDEN), nn.Embedding(CONTEXT, HIDDEN)
        self.block = Block()
        for table in (self.words, self.places):
            nn.init.normal_(table.weight, std=0.02)

    def forward(self, text):
        return self.block(self.words(text) + self.places(torch.arange(CONTEXT)))


def samples_of(text):
    """(what is read, what follows) of each piece of the text."""
    count = (len(text) - 1) // CONTEXT
    return (text[:count * CONTEXT].view(count, CONTEXT),
            text[1:count * CONTEXT + 1].view(count, CONTEXT))


def load():
    with open(TEXT, encoding="utf-8") as file:
        text = file.read()
    characters = sorted(set(text))
    numbers = torch.tensor([characters.index(c) for c in text])
    cut = len(numbers) * 9 // 10
    return len(characters), samples_of(numbers[:cut]), samples_of(numbers[cut:])


def copied(parameters):
    return [parameter.detach().clone() for parameter in parameters]


def put(parameters, values):
    with torch.no_grad():
        for parameter, value in zip(parameters, values):
            parameter.copy_(value)


def curve(data, delay, rate, seed, minibatches):
    """[[samples, perplexity], …] of a training whose first half is `delay` updates late."""
    characters, (read, follows), held_out = data
    torch.manual_seed(seed)
    first = FirstHalf(characters)
    last = nn.Sequential(Block(), nn.LayerNorm(HIDDEN), nn.Linear(HIDDEN, characters, bias=False))
    optimisers = [torch.optim.Adam(half.parameters(), rate) for half in (first, last)]
    order = torch.randperm(len(read))

    def loss(x, y):
        return nn.functional.cross_entropy(last(first(x)).flatten(0, 1), y.flatten())

    found, versions = [], []
    for t in range(minibatches):
        versions = [*versions[-delay:], copied(first.parameters())] if delay else []
        newest = versions[-1] if versions else None
        if delay:
            put(first.parameters(), versions[0])
        chosen = order[torch.arange(t * BATCH, (t + 1) * BATCH) % len(order)]
        for optimiser in optimisers:
            optimiser.zero_grad()
        loss(read[chosen], follows[chosen]).backward()
        if delay:
            put(first.parameters(), newest)
        for optimiser in optimisers:
            optimiser.step()
        if (t + 1) % EVERY == 0:
            with torch.no_grad():
                score = loss(*(part[:HELD_OUT] for part in held_out)).item()
            found.append([(t + 1) * BATCH, math.exp(score)])
            if report.is_settled(TASK, found):
                break
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("program")
    parser.add_argument("--rates", type=lambda text: [float(rate) for rate in text.split(",")],
                        default=[0.001, 0.003])
    parser.add_argument("--minibatches", type=int, default=1200)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(1)
    data = load()
    rows = []
    for rate in args.rates:
        for delay in (0, 1):
            reached = [report.samples_to_target(TASK, curve(data, delay, rate, seed, args.minibatches))
                       for seed in range(args.seeds)]
            samples = None if None in reached else statistics.median(reached)
            rows.append({"learning_rate": rate, "delay": delay, "samples": samples})
            say(f"learning rate {rate:g}, delay {delay}: perplexity {TASK['target']:g} after "
                f"{report.number_text(samples)} samples")
    if args.json:
        print(json.dumps({"format": "pipedream-delay", "version": 1, "rows": rows}, indent=2))


if __name__ == "__main__":
    main()
