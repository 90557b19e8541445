"""What both kinds of programs share: random numbers and digests, as in dice.h and digest.cpp."""

import torch


class Dice:
    """As in dice.h."""

    def __init__(self, seed):
        self.state = seed
        for _ in range(8):
            self.uniform()

    def uniform(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 11) * 2.0**-53


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
