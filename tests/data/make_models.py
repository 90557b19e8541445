#!/usr/bin/env python3
"""Writes models.json: results of GPT-2 and Llama models, for tests/attention/pretrained.

Needs PyTorch 2.4 or later: python3 tests/data/make_models.py

This file implements the models in float64 and without dropout. It follows the definitions in Hugging
Face's transformers library. Parameters are pattern(shape, seed), which the tests compute in the same way.
The loss is the sum of logits * pattern(shape, 5). For each gradient, the file has the sum of its product
with pattern(shape, 7).
"""
import json
import math
import os

import torch
import torch.nn.functional as F

B, T = 2, 7


def pattern(shape, seed, scale=1.0):
    count = math.prod(shape)
    return (torch.sin(torch.arange(count, dtype=torch.float64) * 0.7 + 1.9 * seed) * scale).reshape(shape)


def is_norm(name):
    return ("norm" in name or "ln_" in name) and name.endswith("weight")


def parameters(shapes):
    made = {}
    for seed, (name, shape) in enumerate(shapes.items()):
        made[name] = (pattern(shape, seed + 10, 0.25) + (1 if is_norm(name) else 0)).requires_grad_()
    return made


def attend(q, k, v, window=None):
    """Causal attention of heads (B, H, T, D)."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    distance = torch.arange(T)[:, None] - torch.arange(T)[None, :]
    hidden = distance < 0
    if window is not None:
        hidden = hidden | (distance >= window)
    return torch.softmax(scores.masked_fill(hidden, -math.inf), -1) @ v


# --- GPT-2


def gpt2_shapes(c):
    width, inner = c["n_embd"], c.get("n_inner") or 4 * c["n_embd"]
    shapes = {"wte.weight": (c["vocab_size"], width), "wpe.weight": (c["n_positions"], width)}

    def both(name, rows, columns=None):
        shapes[name + ".weight"] = (rows,) if columns is None else (rows, columns)
        shapes[name + ".bias"] = (rows if columns is None else columns,)

    for i in range(c["n_layer"]):
        h = f"h.{i}."
        both(h + "ln_1", width)
        both(h + "attn.c_attn", width, 3 * width)
        both(h + "attn.c_proj", width, width)
        both(h + "ln_2", width)
        both(h + "mlp.c_fc", width, inner)
        both(h + "mlp.c_proj", inner, width)
    both("ln_f", width)
    return shapes


def gpt2(c, p, tokens):
    width, heads, eps = c["n_embd"], c["n_head"], c["layer_norm_epsilon"]

    def norm(x, name):
        return F.layer_norm(x, (width,), p[name + ".weight"], p[name + ".bias"], eps)

    def conv1d(x, name):
        return x @ p[name + ".weight"] + p[name + ".bias"]

    approximate = {"gelu_new": "tanh", "gelu": "none"}[c["activation_function"]]
    x = p["wte.weight"][tokens] + p["wpe.weight"][:T]
    for i in range(c["n_layer"]):
        h = f"h.{i}."
        qkv = conv1d(norm(x, h + "ln_1"), h + "attn.c_attn").split(width, -1)
        q, k, v = (y.view(B, T, heads, -1).transpose(1, 2) for y in qkv)
        x = x + conv1d(attend(q, k, v).transpose(1, 2).reshape(B, T, width), h + "attn.c_proj")
        inner = F.gelu(conv1d(norm(x, h + "ln_2"), h + "mlp.c_fc"), approximate=approximate)
        x = x + conv1d(inner, h + "mlp.c_proj")
    return norm(x, "ln_f") @ p["wte.weight"].T


# --- Llama


def head_dim(c):
    return c.get("head_dim") or c["hidden_size"] // c["num_attention_heads"]


def llama_shapes(c):
    width, inner, dim = c["hidden_size"], c["intermediate_size"], head_dim(c)
    heads, shared = c["num_attention_heads"], c.get("num_key_value_heads") or c["num_attention_heads"]
    kind, bias = c["model_type"], c.get("attention_bias", False)
    shapes = {"model.embed_tokens.weight": (c["vocab_size"], width)}

    def linear(name, columns, rows, has_bias):
        shapes[name + ".weight"] = (rows, columns)
        if has_bias:
            shapes[name + ".bias"] = (rows,)

    for i in range(c["num_hidden_layers"]):
        h = f"model.layers.{i}."
        shapes[h + "input_layernorm.weight"] = (width,)
        shapes[h + "post_attention_layernorm.weight"] = (width,)
        linear(h + "self_attn.q_proj", width, heads * dim, bias or kind == "qwen2")
        linear(h + "self_attn.k_proj", width, shared * dim, bias or kind == "qwen2")
        linear(h + "self_attn.v_proj", width, shared * dim, bias or kind == "qwen2")
        linear(h + "self_attn.o_proj", heads * dim, width, bias and kind != "qwen2")
        if kind == "qwen3":
            shapes[h + "self_attn.q_norm.weight"] = (dim,)
            shapes[h + "self_attn.k_norm.weight"] = (dim,)
        for name in ("gate_proj", "up_proj"):
            linear(h + "mlp." + name, width, inner, c.get("mlp_bias", False))
        linear(h + "mlp.down_proj", inner, width, c.get("mlp_bias", False))
    shapes["model.norm.weight"] = (width,)
    if not c["tie_word_embeddings"]:
        shapes["lm_head.weight"] = (c["vocab_size"], width)
    return shapes


def frequencies(c):
    dim = head_dim(c)
    rope = c.get("rope_scaling") or {}
    plain = c["rope_theta"] ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    kind = rope.get("rope_type", rope.get("type", "default"))
    if kind == "linear":
        return plain / rope["factor"]
    if kind == "llama3":
        low = rope["original_max_position_embeddings"] / rope["low_freq_factor"]
        high = rope["original_max_position_embeddings"] / rope["high_freq_factor"]
        made = []
        for f in plain.tolist():
            length = 2 * math.pi / f
            if length < high:
                made.append(f)
            elif length > low:
                made.append(f / rope["factor"])
            else:
                smooth = (rope["original_max_position_embeddings"] / length - rope["low_freq_factor"]) / (
                    rope["high_freq_factor"] - rope["low_freq_factor"]
                )
                made.append((1 - smooth) * f / rope["factor"] + smooth * f)
        return torch.tensor(made, dtype=torch.float64)
    return plain


def rotated(x, angles):
    both = torch.cat((angles, angles), -1)
    first, second = x.chunk(2, -1)
    return x * both.cos() + torch.cat((-second, first), -1) * both.sin()


def llama(c, p, tokens):
    dim, eps = head_dim(c), c["rms_norm_eps"]
    group = c["num_attention_heads"] // (c.get("num_key_value_heads") or c["num_attention_heads"])
    angles = torch.arange(T, dtype=torch.float64)[:, None] * frequencies(c)

    def norm(x, name):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * p[name + ".weight"]

    def linear(x, name):
        return F.linear(x, p[name + ".weight"], p.get(name + ".bias"))

    def heads(x, name, norm_name=None):
        y = linear(x, name).view(B, T, -1, dim)
        if c["model_type"] == "qwen3" and norm_name is not None:
            y = norm(y, norm_name)
        return y.transpose(1, 2)

    x = p["model.embed_tokens.weight"][tokens]
    for i in range(c["num_hidden_layers"]):
        h = f"model.layers.{i}."
        a = h + "self_attn."
        y = norm(x, h + "input_layernorm")
        q = rotated(heads(y, a + "q_proj", a + "q_norm"), angles)
        k = rotated(heads(y, a + "k_proj", a + "k_norm"), angles).repeat_interleave(group, 1)
        v = heads(y, a + "v_proj").repeat_interleave(group, 1)
        window = c.get("sliding_window") if c["model_type"] == "mistral" else None
        x = x + linear(attend(q, k, v, window).transpose(1, 2).reshape(B, T, -1), a + "o_proj")
        y = norm(x, h + "post_attention_layernorm")
        gate = linear(y, h + "mlp.gate_proj")
        act = F.silu(gate) if c["hidden_act"] == "silu" else F.gelu(gate, approximate="tanh")
        x = x + linear(act * linear(y, h + "mlp.up_proj"), h + "mlp.down_proj")
    head = "model.embed_tokens.weight" if c["tie_word_embeddings"] else "lm_head.weight"
    return norm(x, "model.norm") @ p[head].T


# --- cases


def gpt2_config(**changes):
    c = {
        "model_type": "gpt2", "vocab_size": 11, "n_positions": 9, "n_embd": 8, "n_head": 2, "n_layer": 2,
        "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, "resid_pdrop": 0.1, "n_inner": None,
        "tie_word_embeddings": True,
    }  # fmt: skip
    return c | changes


def llama_config(**changes):
    c = {
        "model_type": "llama", "vocab_size": 11, "max_position_embeddings": 9, "hidden_size": 16,
        "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 2, "intermediate_size": 10,
        "hidden_act": "silu", "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "rope_scaling": None,
        "tie_word_embeddings": False, "eos_token_id": [1, 2],
    }  # fmt: skip
    return c | changes


LLAMA3 = {
    "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}  # fmt: skip


def configs():
    yield gpt2_config()
    yield gpt2_config(n_inner=12, activation_function="gelu", n_head=4, layer_norm_epsilon=1e-3)
    yield llama_config()
    yield llama_config(num_key_value_heads=None, tie_word_embeddings=True, attention_bias=True, mlp_bias=True)
    yield llama_config(num_key_value_heads=1, rope_scaling=LLAMA3, rope_theta=500.0, head_dim=8)
    yield llama_config(rope_scaling={"type": "linear", "factor": 4.0}, hidden_act="gelu_pytorch_tanh")
    yield llama_config(model_type="mistral", sliding_window=3)
    yield llama_config(model_type="qwen2", tie_word_embeddings=True, use_sliding_window=False)
    yield llama_config(model_type="qwen3", head_dim=6, attention_bias=False, rope_theta=1e6)


def case(c):
    is_gpt2 = c["model_type"] == "gpt2"
    shapes = (gpt2_shapes if is_gpt2 else llama_shapes)(c)
    p = parameters(shapes)
    tokens = (torch.arange(B * T).reshape(B, T) * 5) % c["vocab_size"]
    logits = (gpt2 if is_gpt2 else llama)(c, p, tokens)
    (logits * pattern(logits.shape, 5)).sum().backward()
    return {
        "config": c,
        "tensors": [[name, list(shape)] for name, shape in shapes.items()],
        "logits": [float(f"{x:.12g}") for x in logits.detach().flatten().tolist()],
        "gradients": {name: float((x.grad * pattern(x.shape, 7)).sum()) for name, x in p.items()},
    }


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "models.json"), "w", encoding="utf-8") as file:
        json.dump({"torch": torch.__version__, "cases": [case(c) for c in configs()]}, file)
        file.write("\n")


main()
