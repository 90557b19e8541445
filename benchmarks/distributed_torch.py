"""Times the training steps of benchmarks/distributed with PyTorch's DistributedDataParallel on gloo.

    python3 benchmarks/distributed_torch.py [--processes 2] [--threads 1] [--steps 30]

Needs python3-torch. Prints a line of JSON for each of the two models. With --processes 1, the models
are trained without DistributedDataParallel.
"""
import argparse
import json
import os
import statistics
import time

import torch
import torch.distributed as distributed
import torch.multiprocessing as multiprocessing
from torch import nn
from torch.nn import functional

VOCABULARY = 65
SIZES = [(64, 128, 4, 4, 12), (256, 384, 6, 6, 4)]  # context, width, layers, heads, batch


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.key, self.value = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.out = nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        y = self.norm1(x)
        q, k, v = (layer(y).view(batch, length, self.heads, -1).transpose(1, 2)
                   for layer in (self.query, self.key, self.value))
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(functional.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    def __init__(self, context, width, layers, heads):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(VOCABULARY, width), nn.Embedding(context, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, VOCABULARY, bias=False)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1]))
        return self.head(self.norm(self.blocks(x)))


def run(rank, options):
    torch.set_num_threads(options.threads)
    if hasattr(os, "sched_setaffinity") and options.processes > 1:
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[rank % len(cores)]})  # as mpirun --bind-to core does
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29511")
    os.environ.setdefault("USE_LIBUV", "0")  # Debian builds PyTorch without libuv
    if options.processes > 1:
        distributed.init_process_group("gloo", rank=rank, world_size=options.processes)
    for context, width, layers, heads, batch in SIZES:
        torch.manual_seed(options.seed)
        model = GPT(context, width, layers, heads)
        if options.processes > 1:
            model = nn.parallel.DistributedDataParallel(model, bucket_cap_mb=options.bucket_mb)
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.001, fused=True)
        tokens = torch.randint(0, VOCABULARY, (batch, context + 1)).chunk(options.processes)[rank]
        times = []
        for step in range(3 + options.steps):
            if options.processes > 1:
                distributed.barrier()
            start = time.perf_counter()
            optimizer.zero_grad()
            logits = model(tokens[:, :-1])
            functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten()).backward()
            optimizer.step()
            if step >= 3:
                times.append(1000 * (time.perf_counter() - start))
        if rank == 0:
            print(json.dumps({"context": context, "width": width, "layers": layers,
                              "processes": options.processes, "threads": options.threads,
                              "step_ms": statistics.median(times)}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bucket-mb", type=float, default=25)
    options = parser.parse_args()
    if options.processes == 1:
        run(0, options)
    else:
        multiprocessing.spawn(run, args=(options,), nprocs=options.processes)


if __name__ == "__main__":
    main()
