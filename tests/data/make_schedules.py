#!/usr/bin/env python3
"""Writes schedules.json: learning rates of torch.optim.lr_scheduler, for tests/nn/optim/schedules_test.cpp.

Run in this folder, with PyTorch 2.6. Schedules that PyTorch does not have are implemented here from the formulas
in their papers.
"""

import json
import math
import warnings

import torch
from torch.optim import lr_scheduler as s

warnings.filterwarnings("ignore")  # PyTorch warns that the schedule steps before the optimizer

EPOCHS = 45
RATES = [0.1, 0.02]
METRICS = [1.0, 0.9, 0.9, 0.95, 0.91, 0.8, 0.79999, 0.81, 0.7, 0.7, 0.7, 0.7, 0.71, 0.72, 0.3, 0.31, 0.32, 0.33,
           0.34, 0.35, 0.36, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]


def optimizer(kind=torch.optim.SGD):
    groups = [{"params": [torch.zeros(1)], "lr": lr} for lr in RATES]
    return kind(groups, lr=0.5, momentum=0.9) if kind is torch.optim.SGD else kind(groups)


def torch_run(make, kind=torch.optim.SGD):
    opt = optimizer(kind)
    schedule = make(opt)
    rates, momenta = [], ([], [])
    for _ in range(EPOCHS):
        rates.append([group["lr"] for group in opt.param_groups])
        for group, own in zip(opt.param_groups, momenta):
            own.append(group["betas"][0] if "betas" in group else group["momentum"])
        try:
            schedule.step()
        except ValueError:  # OneCycleLR has reached its end
            break
    run = {"rates": rates, "momenta": momenta[0], "later": later_run(make, kind)}
    return run if momenta[0] == momenta[1] else {**run, "momenta_1": momenta[1]}


def later_run(make, kind):
    """The rates of a group that is added after the third step. Empty for OneCycleLR, which then fails."""
    opt = optimizer(kind)
    schedule = make(opt)
    rates = []
    for step in range(22):
        if step == 3:
            opt.add_param_group({"params": [torch.zeros(1)], "lr": 1.0})
        try:
            schedule.step()
        except KeyError:
            return []
        if step >= 3:
            rates.append(opt.param_groups[2]["lr"])
    return rates


def plateau_run(**options):
    opt = optimizer()
    schedule = s.ReduceLROnPlateau(opt, **options)
    rates = []
    for metric in METRICS:
        schedule.step(metric)
        rates.append([group["lr"] for group in opt.param_groups])
    return {"rates": rates, "momenta": []}


def formula_run(formula):
    return {"rates": [[formula(lr, step) for lr in RATES] for step in range(EPOCHS)], "momenta": []}


def cosine_with_warmup(lr, step, warmup=7, total=30, min_lr=0.001):
    if step < warmup:
        return lr * (step + 1) / (warmup + 1)
    if step > total:
        return min_lr
    return min_lr + 0.5 * (1 + math.cos(math.pi * (step - warmup) / (total - warmup))) * (lr - min_lr)


def inverse_square_root(lr, step, warmup=6):
    return lr * (step + 1) / (warmup + 1) if step < warmup else lr * math.sqrt(warmup / step)


def wsd(lr, step, shape, warmup=5, total=40, decay=12, min_lr=0.0005):
    if step < warmup:
        return lr * (step + 1) / (warmup + 1)
    if step < total - decay:
        return lr
    if step >= total:
        return min_lr
    share = (step - (total - decay)) / decay
    return min_lr + (1 - (share if shape == "linear" else math.sqrt(share))) * (lr - min_lr)


RUNS = {
    "step": torch_run(lambda o: s.StepLR(o, 7, 0.3)),
    "multi_step": torch_run(lambda o: s.MultiStepLR(o, [4, 9, 9, 30], 0.5)),
    "exponential": torch_run(lambda o: s.ExponentialLR(o, 0.93)),
    "constant": torch_run(lambda o: s.ConstantLR(o, 0.25, 6)),
    "linear": torch_run(lambda o: s.LinearLR(o, 0.1, 0.7, 11)),
    "polynomial": torch_run(lambda o: s.PolynomialLR(o, 20, 1.7)),
    "lambda": torch_run(lambda o: s.LambdaLR(o, [lambda e: 0.9**e, lambda e: 1 / (1 + e)])),
    "cosine": torch_run(lambda o: s.CosineAnnealingLR(o, 12, 0.003)),
    "warm_restarts": torch_run(lambda o: s.CosineAnnealingWarmRestarts(o, 5, 1, 0.001)),
    "warm_restarts_2": torch_run(lambda o: s.CosineAnnealingWarmRestarts(o, 4, 2, 0.001)),
    "one_cycle": torch_run(lambda o: s.OneCycleLR(o, 0.4, total_steps=30)),
    "one_cycle_3": torch_run(
        lambda o: s.OneCycleLR(o, 0.4, total_steps=40, pct_start=0.25, anneal_strategy="linear",
                               three_phase=True, base_momentum=0.8, max_momentum=0.9, div_factor=10,
                               final_div_factor=100)),
    "one_cycle_lists": torch_run(
        lambda o: s.OneCycleLR(o, [0.4, 0.05], total_steps=30, base_momentum=[0.8, 0.7],
                               max_momentum=[0.9, 0.97])),
    "one_cycle_betas": torch_run(lambda o: s.OneCycleLR(o, 0.4, total_steps=30), torch.optim.AdamW),
    "sequential": torch_run(
        lambda o: s.SequentialLR(o, [s.LinearLR(o, 0.1, 1.0, 8), s.CosineAnnealingLR(o, 20, 0.002),
                                     s.ExponentialLR(o, 0.9)], [8, 28])),
    "sequential_2": torch_run(
        lambda o: s.SequentialLR(o, [s.ConstantLR(o, 0.5, 3), s.StepLR(o, 3, 0.5),
                                     s.MultiStepLR(o, [2, 5], 0.1),
                                     s.CosineAnnealingWarmRestarts(o, 6, 1, 0.001),
                                     s.PolynomialLR(o, 5, 2.0)], [5, 15, 24, 34])),
    "sequential_3": torch_run(
        lambda o: s.SequentialLR(o, [s.StepLR(o, 2), s.LambdaLR(o, lambda epoch: 0.5 / (1 + epoch)),
                                     s.OneCycleLR(o, 0.4, total_steps=20, pct_start=0.0)], [3, 9])),
    "chained": torch_run(
        lambda o: s.ChainedScheduler([s.ConstantLR(o, 0.1, 6), s.ExponentialLR(o, 0.9),
                                      s.LinearLR(o, 0.5, 1.0, 9)])),
    "sequential_of_a_chain": torch_run(
        lambda o: s.SequentialLR(
            o, [s.ChainedScheduler([s.LinearLR(o, 0.5, 1.0, 9), s.ExponentialLR(o, 0.9)]),
                s.StepLR(o, 5, 0.5)], [12])),
    "plateau": plateau_run(factor=0.5, patience=2),
    "plateau_abs": plateau_run(factor=0.2, patience=1, threshold=0.05, threshold_mode="abs", cooldown=3,
                               min_lr=0.001),
    "plateau_max": plateau_run(mode="max", factor=0.5, patience=3, eps=0.004),
    "plateau_max_abs": plateau_run(mode="max", factor=0.5, patience=0, threshold=0.01,
                                   threshold_mode="abs"),
    "plateau_rates": plateau_run(factor=0.2, patience=1, min_lr=[0.001, 0.01]),
    "cosine_with_warmup": formula_run(cosine_with_warmup),
    "inverse_square_root": formula_run(inverse_square_root),
    "wsd": formula_run(lambda lr, step: wsd(lr, step, "linear")),
    "wsd_sqrt": formula_run(lambda lr, step: wsd(lr, step, "sqrt")),
}

with open("schedules.json", "w", encoding="utf-8") as file:
    json.dump({"rates": RATES, "metrics": METRICS, "runs": RUNS}, file, indent=None, separators=(",", ":"))
    file.write("\n")
