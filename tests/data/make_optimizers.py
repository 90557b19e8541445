#!/usr/bin/env python3
"""Writes optimizers.json: how torch.optim steps a small model, for the tests of nn/optim/.

Needs PyTorch 2.6: python3 tests/data/make_optimizers.py
"""
import itertools
import json
import os

import torch

STEPS = (1, 10, 100)
SHAPES = {"w1": (5, 4), "gain": (5,), "bias": (5,), "w2": (2, 5)}


def flat(tensor):
    return tensor.detach().flatten().tolist()


def loss_of(p, x, y):
    hidden = torch.tanh(x @ p["w1"].t())
    hidden = torch.nn.functional.layer_norm(hidden, (5,), p["gain"], p["bias"])
    return ((hidden @ p["w2"].t() - y) ** 2).mean()


class Lion(torch.optim.Optimizer):
    """Algorithm 2 of Chen et al. 2023, https://arxiv.org/abs/2302.06675."""

    def __init__(self, parameters, lr, betas, weight_decay, foreach):
        super().__init__(parameters, {"lr": lr, "betas": betas, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            lr, (beta1, beta2), decay = group["lr"], group["betas"], group["weight_decay"]
            for p in group["params"]:
                m = self.state[p].get("m", torch.zeros_like(p))
                c = beta1 * m + (1 - beta1) * p.grad
                p.copy_(p - lr * (torch.sign(c) + decay * p))
                self.state[p]["m"] = beta2 * m + (1 - beta2) * p.grad


def trained(optimizer, start, x, y, options):
    """The first row of w1 and the norm's bias after some of 100 steps."""
    p = {name: value.clone().requires_grad_() for name, value in start.items()}
    make = Lion if optimizer == "Lion" else getattr(torch.optim, optimizer)
    stepper = make(list(p.values()), foreach=False, **options)
    values = []
    for step in range(1, max(STEPS) + 1):
        stepper.zero_grad()
        loss = loss_of(p, x, y)
        # With maximize, so that there is something to find.
        (-loss if options.get("maximize") else loss).backward()
        stepper.step()
        if step in STEPS:
            values.append(flat(p["w1"][0]) + flat(p["bias"]))
    return {"optimizer": optimizer, "options": options, "values": values}


def product(**choices):
    return [dict(zip(choices, chosen)) for chosen in itertools.product(*choices.values())]


def main():
    torch.manual_seed(11)
    start = {name: torch.randn(shape, dtype=torch.float64) for name, shape in SHAPES.items()}
    x = torch.randn(12, 4, dtype=torch.float64)
    y = torch.randn(12, 2, dtype=torch.float64)
    runs = []
    for optimizer in ("Adam", "AdamW"):
        for options in product(amsgrad=[False, True], maximize=[False, True], weight_decay=[0.0, 0.1],
                               betas=[(0.9, 0.999), (0.5, 0.8)]):
            runs.append(trained(optimizer, start, x, y, {"lr": 0.02, "eps": 1e-6, **options}))
    for options in product(momentum=[0.0, 0.9], maximize=[False, True], weight_decay=[0.0, 0.1]):
        runs.append(trained("SGD", start, x, y, {"lr": 0.01, **options}))
    for options in product(alpha=[0.99, 0.8], momentum=[0.0, 0.9], centered=[False, True],
                           maximize=[False, True], weight_decay=[0.0, 0.1]):
        runs.append(trained("RMSprop", start, x, y, {"lr": 0.002, "eps": 1e-6, **options}))
    for options in product(lr_decay=[0.0, 0.01], initial_accumulator_value=[0.0, 0.3],
                           eps=[1e-10, 1e-2], maximize=[False, True], weight_decay=[0.0, 0.1]):
        runs.append(trained("Adagrad", start, x, y, {"lr": 0.05, **options}))
    for options in product(betas=[(0.9, 0.99), (0.5, 0.8)], weight_decay=[0.0, 0.1]):
        runs.append(trained("Lion", start, x, y, {"lr": 0.03, **options}))
    data = {"start": {name: flat(value) for name, value in start.items()}, "x": flat(x), "y": flat(y),
            "steps": STEPS, "runs": runs}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "optimizers.json"), "w") as file:
        json.dump(data, file, separators=(",", ":"))
        file.write("\n")


if __name__ == "__main__":
    main()
