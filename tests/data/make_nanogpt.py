#!/usr/bin/env python3
"""Writes nanogpt.json: the first 200 losses of examples/nanogpt's model in PyTorch 2.6.

tests/examples/nanogpt_test.cpp compares them. Weights and batches use the random numbers of seed 1337 in the
same order as the example. Run in this folder.
"""

import json
import math

import torch
from torch import nn
from torch.nn import functional as F

LAYERS, HEADS, WIDTH, CONTEXT, BATCH, STEPS, WARMUP = 4, 4, 128, 64, 12, 200, 100
RATE, MIN_RATE = 1e-3, 1e-4
WORDS = ["the ", "cat ", "dog ", "sat ", "on ", "a ", "mat. ", "bird\n", "sang ", "and ", "then? ", "Up "]


def text():
    """A text of words, which a linear congruential generator selects."""
    state, parts = 12345, []
    for _ in range(4000):
        state = (1103515245 * state + 12345) % 2**31
        parts.append(WORDS[state // 65536 % len(WORDS)])
    return "".join(parts)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(WIDTH, bias=False)
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
        self.norm2 = nn.LayerNorm(WIDTH, bias=False)
        self.up = nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.down = nn.Linear(4 * WIDTH, WIDTH, bias=False)

    def forward(self, x, rotate):
        def heads(y):
            return y.view(*y.shape[:2], HEADS, -1).transpose(1, 2)

        n = self.norm1(x)
        q, k, v = heads(self.query(n)), heads(self.key(n)), heads(self.value(n))
        attended = F.scaled_dot_product_attention(rotate(q), rotate(k), v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(x.shape))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    def __init__(self, vocabulary, is_rotary):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, WIDTH)
        self.positions = None if is_rotary else nn.Embedding(CONTEXT, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, bias=False)
        self.head = nn.Linear(WIDTH, vocabulary, bias=False)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))

    def rotate(self, x):
        if self.positions is not None:
            return x
        half = x.shape[-1] // 2
        angles = torch.outer(torch.arange(x.shape[-2], dtype=torch.float64),
                             10000.0 ** (-torch.arange(half, dtype=torch.float64) / half))
        cos, sin = angles.cos().float(), angles.sin().float()
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

    def forward(self, x):
        y = self.tokens(x)
        if self.positions is not None:
            y = y + self.positions(torch.arange(x.shape[1]))
        for block in self.blocks:
            y = block(y, self.rotate)
        return self.head(self.norm(y))


def rate(step):
    if step < WARMUP:
        return RATE * (step + 1) / (WARMUP + 1)
    share = (step - WARMUP) / (STEPS - WARMUP)
    return MIN_RATE + 0.5 * (1 + math.cos(math.pi * share)) * (RATE - MIN_RATE)


def losses(is_rotary):
    characters = sorted(set(text()))
    tokens = torch.tensor([characters.index(c) for c in text()])
    training = tokens[: len(tokens) * 9 // 10]
    torch.manual_seed(1337)
    model = GPT(len(characters), is_rotary)
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    others = [p for p in model.parameters() if p.dim() < 2]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1},
                                   {"params": others, "weight_decay": 0.0}], lr=RATE, betas=(0.9, 0.99))
    found = []
    for step in range(STEPS):
        for group in optimizer.param_groups:
            group["lr"] = rate(step)
        starts = torch.randint(len(training) - CONTEXT, (BATCH,))
        x = torch.stack([training[i : i + CONTEXT] for i in starts])
        y = torch.stack([training[i + 1 : i + 1 + CONTEXT] for i in starts])
        logits = model(x)
        loss = F.cross_entropy(logits.view(-1, logits.shape[-1]), y.view(-1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        found.append(loss.item())
    return found


with open("nanogpt.json", "w", encoding="utf-8") as file:
    json.dump({"words": WORDS, "rotary": losses(True), "learned": losses(False)}, file, separators=(",", ":"))
    file.write("\n")
