"""Runs programs of the fuzzer in PyTorch: reads them as JSON lines, writes what they give.

    python3 torch_run.py < programs.jsonl > outcomes.jsonl
"""

import json
import sys
import warnings

import torch
import torch.nn.functional as F

torch.set_num_threads(1)
warnings.filterwarnings("ignore")
# Fused attention has no second derivative there.
torch.backends.cuda.enable_flash_sdp(False)


class Dice:
    """As in dice.h."""

    def __init__(self, seed):
        self.state = seed
        for _ in range(8):
            self.uniform()

    def uniform(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 11) * 2.0**-53


def leaf(seed, shape, dtype, low, high):
    dice = Dice(seed)
    count = 1
    for size in shape:
        count *= size
    numbers = [low + (high - low) * dice.uniform() for _ in range(count)]
    x = torch.tensor(numbers, dtype=torch.float64).reshape(shape)
    x = (x.floor() if dtype == torch.int64 else x).to(dtype)
    return x.requires_grad_() if x.is_floating_point() else x


def weights(count, which):
    places = torch.arange(count, dtype=torch.int64)
    return ((places * 7919 + which * 104729 + 17) % 201 - 100).double() / 100


def number(x):
    """JSON has neither NaN nor infinity."""
    return float(f"{float(x):.15g}") if torch.isfinite(x) else None


def digest(tensor):
    if tensor is None:
        return {"shape": [0], "dtype": "none", "sum": 0, "magnitude": 0}
    terms = tensor.detach().double().reshape(-1)
    terms = terms * (1 + weights(terms.numel(), 1000) / 2)
    return {
        "shape": list(tensor.shape),
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "sum": number(terms.sum()),
        "magnitude": number(terms.abs().sum()),
    }


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
            outcome = run(program)
        except Exception as error:
            outcome = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        print(json.dumps({"seed": program["seed"], **outcome}), flush=True)


if __name__ == "__main__":
    main()
