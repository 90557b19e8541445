#!/usr/bin/env python3
"""Writes optimizers.json: results of torch.optim for a small model, for the tests of nn/optim/.

Needs PyTorch 2.6: python3 tests/data/make_optimizers.py
"""
import itertools
import json
import os

import torch

STEPS = (10, 100)
SHAPES = {"w1": (5, 4), "gain": (5,), "bias": (5,), "w2": (2, 5)}
# The number of steps, and the options of torch.optim.LBFGS.
LBFGS_RUNS = [
    (4, {"line_search_fn": "strong_wolfe"}),
    (16, {"line_search_fn": "strong_wolfe", "max_iter": 4, "history_size": 3}),
    (20, {"line_search_fn": "strong_wolfe", "max_iter": 7, "max_eval": 5, "lr": 0.5}),
    (6, {"line_search_fn": "strong_wolfe", "tolerance_grad": 0.02}),
    (6, {"line_search_fn": "strong_wolfe", "tolerance_change": 0.001}),
    (30, {"lr": 0.1, "max_iter": 5}),
    (30, {"lr": 0.2, "max_iter": 3, "history_size": 2}),
    (100, {"lr": 0.05, "max_iter": 1}),
]
# The options of the first group, and of a group that is added later. PyTorch's Adagrad cannot step such a group.
GROWN_RUNS = {
    "SGD": ({"lr": 0.01, "momentum": 0.9}, {"lr": 0.05, "momentum": 0.5}),
    "Adam": ({"lr": 0.02, "amsgrad": True}, {"lr": 0.01, "betas": (0.8, 0.9)}),
    "AdamW": ({"lr": 0.02}, {"lr": 0.01, "weight_decay": 0.2}),
    "RMSprop": ({"lr": 0.002, "momentum": 0.9}, {"lr": 0.01, "centered": True}),
}
# Some of these learning rates make the first step much too short or much too long.
ROSENBROCK_RUNS = [(12, {"max_iter": 3, "lr": lr}) for lr in (0.001, 1, 50)]
# Functions of one number with misleading slopes: one is flat far from the minimum, one has many minima.
# There is no nearly linear function, because for those PyTorch's search depends on the last bits of the losses.
LINES = {
    "bay": lambda x: -x / (x * x + 2),
    "waves": lambda x: x * x / 10 - torch.sin(6 * x),
}


def flat(tensor):
    return tensor.detach().flatten().tolist()


def all_of(p):
    return [number for parameter in p.values() for number in flat(parameter)]


def kept_of(p, step):
    """The numbers to store: all parameters after the first of STEPS, and later only a row of w1 and the norm's bias."""
    return all_of(p) if step == STEPS[0] else flat(p["w1"][0]) + flat(p["bias"])


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


class Muon(torch.optim.Optimizer):
    """Jordan et al. 2024, https://kellerjordan.github.io/posts/muon. Only for matrices; computes in their dtype."""

    def __init__(self, parameters, **options):
        super().__init__(parameters, {"weight_decay": 0.0, "adjust_lr_fn": "original", "nesterov": True,
                                      "ns_steps": 5, "eps": 1e-7, **options})

    @staticmethod
    def orthogonal(g, steps, eps):
        x = g.t() if g.shape[0] > g.shape[1] else g
        x = x / max(x.norm(), eps)
        for _ in range(steps):
            a = x @ x.t()
            x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
        return x.t() if g.shape[0] > g.shape[1] else x

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            lr, mu = group["lr"], group["momentum"]
            for p in group["params"]:
                m = self.state[p].get("m", torch.zeros_like(p))
                m = mu * m + (1 - mu) * p.grad
                g = mu * m + (1 - mu) * p.grad if group["nesterov"] else m
                rows, columns = p.shape
                ratio = (max(1, rows / columns) ** 0.5 if group["adjust_lr_fn"] == "original"
                         else 0.2 * max(rows, columns) ** 0.5)
                change = self.orthogonal(g, group["ns_steps"], group["eps"])
                p.copy_(p - lr * group["weight_decay"] * p - lr * ratio * change)
                self.state[p]["m"] = m


def trained_by_muon(start, x, y, options):
    """Like trained(), but Muon trains the matrices and SGD the other parameters."""
    p = {name: value.clone().requires_grad_() for name, value in start.items()}
    steppers = [Muon([p["w1"], p["w2"]], **options), torch.optim.SGD([p["gain"], p["bias"]], lr=0.01)]
    values = []
    for step in range(1, max(STEPS) + 1):
        for stepper in steppers:
            stepper.zero_grad()
        loss_of(p, x, y).backward()
        for stepper in steppers:
            stepper.step()
        if step in STEPS:
            values.append(kept_of(p, step))
    return {"optimizer": "Muon", "options": options, "values": values}


def trained_by_lbfgs(p, loss_at, steps, options):
    """For each step, the loss before it and the number of evaluations so far. For some steps, all parameters."""
    p = {name: value.clone().requires_grad_() for name, value in p.items()}
    stepper = torch.optim.LBFGS(list(p.values()), **options)

    def closure():
        stepper.zero_grad()
        loss = loss_at(p)
        loss.backward()
        return loss

    first = next(iter(p.values()))
    losses, values, evaluations = [], {}, []
    for step in range(steps):
        losses.append(stepper.step(closure).item())
        if step % 5 == 0 or step == steps - 1:
            values[step] = all_of(p)
        evaluations.append(stepper.state[first]["func_evals"])
    return {"options": options, "losses": losses, "values": values, "func_evals": evaluations}


def rosenbrock(p):
    a, b = p["x"][0], p["x"][1]
    return (1 - a) ** 2 + 100 * (b - a * a) ** 2


def searched_line(name, first, lr):
    options = {"line_search_fn": "strong_wolfe", "max_iter": 3, "lr": lr}
    p = {"x": torch.tensor([first], dtype=torch.float64)}
    return {"function": name, "from": first, **trained_by_lbfgs(p, lambda p: LINES[name](p["x"]).sum(), 3, options)}


def averaged(start, x, y, decay):
    """The averages of w1 in 30 steps of SGD. The average is updated after every third step."""
    model = torch.nn.ParameterDict({name: value.clone() for name, value in start.items()})
    average = torch.optim.swa_utils.get_ema_multi_avg_fn(decay) if decay else None
    means = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=average)
    stepper = torch.optim.SGD(model.parameters(), lr=0.1)
    values = []
    for step in range(30):
        stepper.zero_grad()
        loss_of(model, x, y).backward()
        stepper.step()
        if step % 3 == 2:
            means.update_parameters(model)
            values.append(flat(means.module["w1"]))
    return {"decay": decay, "values": values, "keys": list(means.state_dict())}


def clipped():
    """Gradients of two dtypes, clipped by norms of several orders."""
    a, b = torch.zeros(3, requires_grad=True), torch.zeros(2, 2, dtype=torch.float64, requires_grad=True)
    runs = []
    for order in (0.5, 1.0, 2.0, 3.0, float("inf"), float("-inf"), 0.0, -1.0):
        for most in (0.25, 100.0):
            a.grad = torch.tensor([3.0, -4.0, 0.5])
            b.grad = torch.tensor([[1.5, -0.25], [0.125, 2.0]], dtype=torch.float64)
            norm = torch.nn.utils.clip_grad_norm_([a, b], most, norm_type=order)
            runs.append({"order": str(order), "max_norm": most, "norm": norm.item(),
                         "values": flat(a.grad) + flat(b.grad)})
    return runs


def trained(optimizer, start, x, y, options):
    """The numbers that kept_of() selects from 100 steps."""
    p = {name: value.clone().requires_grad_() for name, value in start.items()}
    make = Lion if optimizer == "Lion" else getattr(torch.optim, optimizer)
    stepper = make(list(p.values()), foreach=False, **options)
    values = []
    for step in range(1, max(STEPS) + 1):
        stepper.zero_grad()
        loss = loss_of(p, x, y)
        # With maximize, the loss is negated, so that it has a maximum.
        (-loss if options.get("maximize") else loss).backward()
        stepper.step()
        if step in STEPS:
            values.append(kept_of(p, step))
    return {"optimizer": optimizer, "options": options, "values": values}


def grown(optimizer, start, x, y, options, later):
    """All parameters after five steps with three parameters, and after ten more steps with all four."""
    p = {name: value.clone().requires_grad_() for name, value in start.items()}
    stepper = getattr(torch.optim, optimizer)([p["w1"], p["gain"], p["bias"]], foreach=False, **options)
    values = []
    for step in range(15):
        if step == 5:
            stepper.add_param_group({"params": [p["w2"]], **later})
        for parameter in p.values():
            parameter.grad = None
        loss_of(p, x, y).backward()
        stepper.step()
        if step in (4, 14):
            values.append(all_of(p))
    return values


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
        for options in product(eps=[1e-8, 1e-2], amsgrad=[False, True]):
            runs.append(trained(optimizer, start, x, y, {
                "lr": 0.02, "betas": (0.9, 0.99), "weight_decay": 0.01, "maximize": False, **options}))
    for options in (product(momentum=[0.0, 0.9], maximize=[False, True], weight_decay=[0.0, 0.1])
                    + product(momentum=[0.9], dampening=[0.3], maximize=[False, True], weight_decay=[0.0, 0.1])
                    + product(momentum=[0.5, 0.9], nesterov=[True], maximize=[False, True],
                              weight_decay=[0.0, 0.1])):
        runs.append(trained("SGD", start, x, y, {"lr": 0.01, **options}))
    for options in product(alpha=[0.99, 0.8], momentum=[0.0, 0.9], centered=[False, True],
                           maximize=[False, True], weight_decay=[0.0, 0.1]):
        runs.append(trained("RMSprop", start, x, y, {"lr": 0.002, "eps": 1e-6, **options}))
    for options in product(eps=[1e-8, 1e-2], momentum=[0.0, 0.9], centered=[False, True]):
        runs.append(trained("RMSprop", start, x, y, {
            "lr": 0.002, "alpha": 0.9, "weight_decay": 0.0, "maximize": False, **options}))
    for options in product(lr_decay=[0.0, 0.01], initial_accumulator_value=[0.0, 0.3],
                           eps=[1e-10, 1e-2], maximize=[False, True], weight_decay=[0.0, 0.1]):
        runs.append(trained("Adagrad", start, x, y, {"lr": 0.05, **options}))
    for options in product(betas=[(0.9, 0.99), (0.5, 0.8)], weight_decay=[0.0, 0.1]):
        runs.append(trained("Lion", start, x, y, {"lr": 0.03, **options}))
    for options in product(momentum=[0.95, 0.5], nesterov=[False, True], weight_decay=[0.0, 0.1],
                           adjust_lr_fn=["original", "match_rms_adamw"]):
        runs.append(trained_by_muon(start, x, y, {"lr": 0.01, **options}))
    # The norms of the directions are a few units or less, so the largest eps replaces all of them.
    for options in product(ns_steps=[1, 3, 8], eps=[1e-7, 0.5, 20.0]):
        runs.append(trained_by_muon(start, x, y, {"lr": 0.01, "momentum": 0.9, **options}))
    lbfgs = [trained_by_lbfgs(start, lambda p: loss_of(p, x, y), steps, options)
             for steps, options in LBFGS_RUNS]
    valley = {"x": torch.tensor([-1.2, 1.0], dtype=torch.float64)}
    rosenbrock_runs = [trained_by_lbfgs(valley, rosenbrock, steps, {"line_search_fn": "strong_wolfe", **options})
                       for steps, options in ROSENBROCK_RUNS]
    lines = [searched_line(name, first, lr)
             for name in LINES for first in (0.0, 0.7, 3.0) for lr in (0.001, 0.3, 10, 1000)]
    data = {"start": {name: flat(value) for name, value in start.items()}, "x": flat(x), "y": flat(y),
            "steps": STEPS, "runs": runs, "lbfgs": lbfgs,
            "rosenbrock": rosenbrock_runs, "lines": lines,
            "grown": {name: grown(name, start, x, y, *options) for name, options in GROWN_RUNS.items()},
            "averages": [averaged(start, x, y, decay) for decay in (None, 0.9, 0.25)],
            "clipping": clipped()}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "optimizers.json"), "w") as file:
        json.dump(data, file, separators=(",", ":"))
        file.write("\n")


if __name__ == "__main__":
    main()
