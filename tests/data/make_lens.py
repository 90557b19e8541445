#!/usr/bin/env python3
"""Writes lens.json: results of TransformerLens's functions for a small GPT, for tests/attention/lens.

Needs PyTorch 2.4 or later: python3 tests/data/make_lens.py

This file implements the model and the functions in float64. It follows TransformerLens's definitions:
decompose_resid, stack_head_results, accumulated_resid, apply_ln_to_stack and logit_attrs of ActivationCache,
all_composition_scores, and get_act_patch_* of patching. Parameters are pattern(shape, seed), which the tests
compute in the same way. For each activation, the file has the sum of its product with pattern(shape, 7).
"""
import json
import math
import os

import torch
import torch.nn.functional as F

V, CONTEXT, WIDTH, HEADS, LAYERS = 11, 8, 8, 2, 2
D = WIDTH // HEADS
EPS = 1e-5
TOKENS = torch.tensor([[3, 1, 4, 3, 1, 4], [2, 7, 2, 7, 1, 8]])
OTHERS = torch.tensor([[9, 1, 4, 9, 1, 4], [2, 7, 5, 7, 1, 0]])


def pattern(shape, seed, scale=1.0):
    count = math.prod(shape)
    return (torch.sin(torch.arange(count, dtype=torch.float64) * 0.7 + 1.9 * seed) * scale).reshape(shape)


def shapes():
    made = {"token_embedding.weight": (V, WIDTH), "position_embedding.weight": (CONTEXT, WIDTH)}
    for i in range(LAYERS):
        block = f"blocks.{i}."
        made[block + "norm1.weight"] = made[block + "norm1.bias"] = (WIDTH,)
        for name in ("W_query", "W_key", "W_value", "out_proj"):
            made[f"{block}attention.{name}.weight"] = (WIDTH, WIDTH)
            made[f"{block}attention.{name}.bias"] = (WIDTH,)
        made[block + "norm2.weight"] = made[block + "norm2.bias"] = (WIDTH,)
        made[block + "feed_forward.up.weight"] = (4 * WIDTH, WIDTH)
        made[block + "feed_forward.up.bias"] = (4 * WIDTH,)
        made[block + "feed_forward.down.weight"] = (WIDTH, 4 * WIDTH)
        made[block + "feed_forward.down.bias"] = (WIDTH,)
    made["norm.weight"] = made["norm.bias"] = (WIDTH,)
    made["head.weight"] = (V, WIDTH)
    return made


P = {name: pattern(shape, seed + 10, 0.6) for seed, (name, shape) in enumerate(sorted(shapes().items()))}


class Run:
    """A run of the model. `cache` has the activations by name, after the functions in `edits` changed them."""

    def __init__(self, tokens, edits=None):
        self.cache = {}
        self.edits = edits or {}
        self.logits = self.forward(tokens)

    def hook(self, name, x):
        x = self.edits.get(name, lambda y: y)(x)
        self.cache[name] = x
        return x

    def norm(self, x, name, hooks):
        x = x - x.mean(-1, keepdim=True)
        scale = self.hook(hooks + ".hook_scale", (x.pow(2).mean(-1, keepdim=True) + EPS).sqrt())
        return self.hook(hooks + ".hook_normalized", x / scale * P[name + ".weight"] + P[name + ".bias"])

    def attend(self, x, i):
        block, hooks = f"blocks.{i}.attention.", f"blocks.{i}.attn."

        def heads(name):
            y = F.linear(x, P[block + name + ".weight"], P[block + name + ".bias"])
            return y.view(*y.shape[:2], HEADS, D)

        q = self.hook(hooks + "hook_q", heads("W_query"))
        k = self.hook(hooks + "hook_k", heads("W_key"))
        v = self.hook(hooks + "hook_v", heads("W_value"))
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(D)
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        scores = self.hook(hooks + "hook_attn_scores", scores.masked_fill(hidden, -math.inf))
        p = self.hook(hooks + "hook_pattern", scores.softmax(-1))
        z = self.hook(hooks + "hook_z", torch.einsum("bhqk,bkhd->bqhd", p, v))
        result = self.hook(hooks + "hook_result", torch.einsum("bqhd,hdw->bqhw", z, W_O(i)))
        return result.sum(2) + P[block + "out_proj.bias"]

    def forward(self, tokens):
        x = self.hook("hook_embed", P["token_embedding.weight"][tokens])
        x = x + self.hook("hook_pos_embed", P["position_embedding.weight"][: tokens.shape[1]])
        for i in range(LAYERS):
            block, mlp = f"blocks.{i}.", f"blocks.{i}.feed_forward."
            x = self.hook(block + "hook_resid_pre", x)
            out = self.attend(self.norm(x, block + "norm1", block + "ln1"), i)
            x = self.hook(block + "hook_resid_mid", x + self.hook(block + "hook_attn_out", out))
            y = self.norm(x, block + "norm2", block + "ln2")
            pre = self.hook(block + "mlp.hook_pre", F.linear(y, P[mlp + "up.weight"], P[mlp + "up.bias"]))
            post = self.hook(block + "mlp.hook_post", F.gelu(pre))
            out = self.hook(block + "hook_mlp_out", F.linear(post, P[mlp + "down.weight"], P[mlp + "down.bias"]))
            x = self.hook(block + "hook_resid_post", x + out)
        return self.norm(x, "norm", "ln_final") @ P["head.weight"].T


def by_head(name, i):
    return P[f"blocks.{i}.attention.{name}.weight"].view(HEADS, D, WIDTH).transpose(1, 2)


def W_O(i):
    return P[f"blocks.{i}.attention.out_proj.weight"].T.reshape(HEADS, D, WIDTH)


def circuit(kind, i):
    if kind == "OV":
        return by_head("W_value", i) @ W_O(i)
    return by_head("W_query", i) @ by_head("W_key", i).transpose(1, 2)


def composition(kind):
    scores = torch.zeros(LAYERS, HEADS, LAYERS, HEADS, dtype=torch.float64)
    for l in range(LAYERS):
        for m in range(l + 1, LAYERS):
            for h in range(HEADS):
                for k in range(HEADS):
                    a = circuit("OV", l)[h]
                    b = circuit("OV", m)[k] if kind == "V" else circuit("QK", m)[k]
                    b = b.T if kind == "K" else b
                    scores[l, h, m, k] = (a @ b).norm() / (a.norm() * b.norm())
    return scores


def parts_by_head(cache):
    parts = [cache["hook_embed"], cache["hook_pos_embed"].expand_as(cache["hook_embed"])]
    for i in range(LAYERS):
        parts += cache[f"blocks.{i}.attn.hook_result"].unbind(2)
        parts.append(cache[f"blocks.{i}.hook_mlp_out"])
    bias = sum(P[f"blocks.{i}.attention.out_proj.bias"] for i in range(LAYERS))
    return torch.stack(parts + [bias.expand_as(parts[0])])


def attribution(cache, tokens):
    stack = parts_by_head(cache)
    stack = (stack - stack.mean(-1, keepdim=True)) / cache["ln_final.hook_scale"] * P["norm.weight"]
    return (stack * P["head.weight"][tokens]).sum(-1)


def metric(logits):
    return (logits[:, -1, 4] - logits[:, -1, 7]).sum()


def patched(name, place):
    def edit(x):
        x = x.clone()
        x[place] = USUAL.cache[name][place]
        return x

    return metric(Run(OTHERS, {name: edit}).logits)


def patched_by_position(name):
    return torch.stack([torch.stack([patched(f"blocks.{i}.{name}", (slice(None), p)) for p in range(6)])
                        for i in range(LAYERS)])


def patched_by_head(name):
    return torch.stack([torch.stack([patched(f"blocks.{i}.attn.{name}", (slice(None), slice(None), h))
                                     for h in range(HEADS)]) for i in range(LAYERS)])


def patched_by_both(name):
    return torch.stack([torch.stack([torch.stack([patched(f"blocks.{i}.attn.{name}", (slice(None), p, h))
                                                  for p in range(6)]) for h in range(HEADS)])
                        for i in range(LAYERS)])


USUAL = Run(TOKENS)
CACHE = USUAL.cache
result = {
    "logits": USUAL.logits.tolist(),
    "cache": {name: float((x.nan_to_num(neginf=0) * pattern(x.shape, 7)).sum()) for name, x in CACHE.items()},
    "attribution": attribution(CACHE, TOKENS).tolist(),
    "composition": {kind: composition(kind).tolist() for kind in "QKV"},
    "previous_token": [CACHE[f"blocks.{i}.attn.hook_pattern"].diagonal(-1, 2, 3).mean((0, 2)).tolist()
                       for i in range(LAYERS)],
    "by_position": patched_by_position("hook_resid_pre").tolist(),
    "by_head": patched_by_head("hook_z").tolist(),
    "by_head_and_position": patched_by_both("hook_v").tolist(),
}
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lens.json")
with open(path, "w") as file:
    json.dump(result, file, indent=None, separators=(",", ":"))
    file.write("\n")
