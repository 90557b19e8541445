#!/usr/bin/env python3
"""Writes nn.json: PyTorch's initial weights, optimizer steps and training losses, for the tests of nn/ and attention/.

Needs PyTorch 2.4 or later: python3 tests/data/make_nn.py
"""
import json
import math
import os

import torch
from torch import nn


def flat(tensor):
    return [float(f"{x:.9g}") for x in tensor.detach().flatten().tolist()]


def initialisation():
    """The initial weights of modules and of functions in nn.init, each after manual_seed(123)."""
    out = {}

    def module(name, make):
        torch.manual_seed(123)
        out[name] = {key: flat(value) for key, value in make().state_dict().items()}

    module("linear_7_5", lambda: nn.Linear(7, 5))
    module("linear_3_4_no_bias", lambda: nn.Linear(3, 4, bias=False))
    module("embedding_5_3", lambda: nn.Embedding(5, 3))
    module("embedding_4_3_padding", lambda: nn.Embedding(4, 3, padding_idx=1))
    module("layer_norm_4", lambda: nn.LayerNorm(4))
    for name in ("xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_"):
        for shape in ((3, 4), (2, 3, 2)):
            torch.manual_seed(123)
            weight = getattr(nn.init, name)(torch.empty(shape))
            out[name + "x".join(map(str, shape))] = {"weight": flat(weight)}
    for name, shape, *arguments in (
        ("trunc_normal_", (5, 7)), ("trunc_normal_", (2, 3, 2), 0.5, 2.0, -1.0, 1.5), ("eye_", (3, 5)),
        ("dirac_", (4, 3, 5)), ("dirac_", (6, 2, 4, 3), 2), ("orthogonal_", (7, 5)), ("orthogonal_", (4, 3, 3), 2.0),
        ("sparse_", (7, 3), 0.3),
    ):
        torch.manual_seed(123)
        weight = getattr(nn.init, name)(torch.empty(shape), *arguments)
        out[name + "x".join(map(str, shape))] = {"weight": flat(weight)}
    return out


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "sgd_momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.1, weight_decay=0.01),
    "sgd_nesterov": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.01),
    "adamw_settings": lambda p: torch.optim.AdamW(p, lr=0.05, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.1),
}


def optimizers():
    """The parameters after each of twelve steps that minimise sum((p - target)^2 * weight)."""
    out = {}
    for name, make in OPTIMIZERS.items():
        p = torch.tensor([1.0, -2.0, 3.0, 0.5], requires_grad=True)
        weight = torch.tensor([0.1, 1.0, 0.5, 2.0])
        target = torch.tensor([0.5, 0.25, -1.0, 2.0])
        optimizer = make([p])
        steps = []
        for _ in range(12):
            optimizer.zero_grad()
            ((p - target) ** 2 * weight).sum().backward()
            optimizer.step()
            steps.append(flat(p))
        out[name] = steps
    return out


def clipping():
    a = torch.tensor([3.0, -4.0], requires_grad=True)
    b = torch.tensor([[12.0]], requires_grad=True)
    out = []
    for max_norm in (1.0, 6.5, 20.0):
        a.grad, b.grad = a.detach().clone(), b.detach().clone()
        norm = nn.utils.clip_grad_norm_([a, b], max_norm)
        out.append({"max_norm": max_norm, "norm": float(norm), "a": flat(a.grad), "b": flat(b.grad)})
    return out


def normalisation():
    """The outputs for two batches in training mode and for the first in eval mode, and the final state dict."""
    batches = [torch.sin(torch.arange(24.0) + 30 * i).reshape(3, 4, 2) for i in range(2)]
    out = {}
    for name, module in {
        "rms_norm": nn.RMSNorm([4, 2]),
        "rms_norm_eps": nn.RMSNorm(2, eps=0.1, elementwise_affine=False),
        "group_norm": nn.GroupNorm(2, 4),
        "group_norm_plain": nn.GroupNorm(1, 4, eps=0.1, affine=False),
        "batch_norm": nn.BatchNorm1d(4),
        "batch_norm_average": nn.BatchNorm1d(4, eps=0.1, momentum=None, affine=False),
        "batch_norm_untracked": nn.BatchNorm1d(4, track_running_stats=False),
    }.items():
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.copy_(1 + torch.arange(parameter.numel()).reshape(parameter.shape) / 8)
        outputs = [flat(module(batch)) for batch in batches]
        outputs.append(flat(module.eval()(batches[0])))
        state = {key: flat(value.double()) for key, value in module.state_dict().items()}
        out[name] = {"outputs": outputs, "state": state}
    return out


class MultiHeadAttention(nn.Module):
    """The book's class."""

    def __init__(self, d_in, d_out, context_length, dropout, num_heads):
        super().__init__()
        self.num_heads, self.head_dim, self.d_out = num_heads, d_out // num_heads, d_out
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Linear(d_in, d_out, bias=False)
        self.W_value = nn.Linear(d_in, d_out, bias=False)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = (
            f(x).view(b, n, self.num_heads, self.head_dim).transpose(1, 2)
            for f in (self.W_query, self.W_key, self.W_value)
        )
        scores = (q @ k.transpose(2, 3)).masked_fill(self.mask.bool()[:n, :n], -math.inf)
        weights = self.dropout(torch.softmax(scores / self.head_dim**0.5, dim=-1))
        return self.out_proj((weights @ v).transpose(1, 2).contiguous().view(b, n, self.d_out))


def training():
    """The losses of 100 AdamW steps on one batch. Weights, batch, target and dropout all use seed 123."""
    torch.manual_seed(123)
    mha = MultiHeadAttention(8, 12, 10, 0.2, 3)
    x, target = torch.rand(4, 9, 8), torch.rand(4, 9, 12)
    optimizer = torch.optim.AdamW(mha.parameters(), lr=0.01)
    losses = []
    for _ in range(100):
        loss = nn.functional.mse_loss(mha(x), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(f"{loss.item():.9g}"))
    return {"losses": losses, "weights": {key: flat(value) for key, value in mha.state_dict().items()}}


def main():
    data = {
        "initialisation": initialisation(),
        "optimizers": optimizers(),
        "clipping": clipping(),
        "normalisation": normalisation(),
        "training": training(),
    }
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nn.json")
    with open(path, "w") as file:
        file.write(json.dumps(data, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
