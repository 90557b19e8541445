"""Runs programs of the fuzzer in PyTorch: reads them as JSON lines, writes what they give.

    python3 torch_run.py < programs.jsonl > outcomes.jsonl
"""

import json
import sys
import warnings

import torch
import torch.nn.functional as F

import torch_leaves
from torch_common import Dice, digest, weights

torch.set_num_threads(1)
warnings.filterwarnings("ignore")
# Fused attention has no second derivative there.
torch.backends.cuda.enable_flash_sdp(False)


def leaf(seed, shape, dtype, low, high):
    dice = Dice(seed)
    count = 1
    for size in shape:
        count *= size
    numbers = [low + (high - low) * dice.uniform() for _ in range(count)]
    x = torch.tensor(numbers, dtype=torch.float64).reshape(shape)
    x = (x.floor() if dtype == torch.int64 else x).to(dtype)
    return x.requires_grad_() if x.is_floating_point() else x


def differentiate(results, wanted, first_weight, create_graph):
    tracked, cotangents = [], []
    for i, r in enumerate(results):
        if r is not None and r.requires_grad:
            tracked.append(r)
            cotangents.append(weights(r.numel(), first_weight + i).reshape(r.shape).to(r.dtype))
    if not tracked:
        return [], []
    gradients = torch.autograd.grad(
        tracked, wanted, cotangents, create_graph=create_graph, allow_unused=True
    )
    return gradients, [digest(g) for g in gradients]


def run(program):
    names = {"torch": torch, "F": F, "leaf": leaf}
    exec(program["python"], names)
    outputs = [names[name] for name in program["outputs"]]
    leaves = [names[name] for name in program["leaves"]]
    outcome = {"values": [digest(o) for o in outputs]}
    gradients, outcome["gradients"] = differentiate(outputs, leaves, 1, True)
    _, outcome["second"] = differentiate(gradients, leaves, 50, False)
    return outcome


def main():
    for line in sys.stdin:
        program = json.loads(line)
        try:
            leaves = program.get("statements")
            outcome = run(program) if leaves is None else torch_leaves.run(leaves)
        except Exception as error:
            outcome = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        print(json.dumps({"seed": program["seed"], **outcome}), flush=True)


if __name__ == "__main__":
    main()
