#!/usr/bin/env python3
"""Writes layers.json: results of torch.nn's MultiheadAttention and Transformer, for tests/attention/torch_nn.

Needs PyTorch 2.4 or later: python3 tests/data/make_layers.py

Inputs, parameters and cotangents are pattern(shape, seed), which the tests compute in the same way. For each
gradient, the file has the sum of its product with pattern(shape, 7).
"""
import itertools
import json
import os
import random
import warnings

import torch
from torch import nn

warnings.filterwarnings("ignore")


def pattern(shape, seed, scale=1.0):
    count = 1
    for size in shape:
        count *= size
    return (torch.sin(torch.arange(count, dtype=torch.float64) * 0.7 + 1.9 * seed) * scale).reshape(shape)


def flat(tensor):
    return [float(f"{x:.12g}") for x in tensor.detach().flatten().tolist()]


def fill(module):
    """Sets the parameters, in the order of named_parameters(). The weights of norms stay near 1."""
    with torch.no_grad():
        for seed, (name, parameter) in enumerate(module.named_parameters()):
            parameter.copy_(pattern(parameter.shape, seed + 10, 0.5))
            if "norm" in name and name.endswith("weight"):
                parameter.add_(1)


def products(inputs, module):
    out = {name: x.grad for name, x in inputs.items()}
    out |= {name: p.grad for name, p in module.named_parameters()}
    return {name: float((g * pattern(g.shape, 7)).sum()) for name, g in out.items() if g is not None}


def mask_of(kind, shape):
    """A mask of the kind. It leaves at least one key to every query."""
    if kind == "none":
        return None
    numbers = pattern(shape, 3)
    if kind == "bool":
        hidden = numbers > 0.5
        hidden[..., 0] = False
        return hidden
    return numbers


def multihead_case(bias, bias_kv, zero, dims, first, padding, mask, weights, batched, causal):
    L, S, N, E, H = 4, 5, 3, 6, 2
    kdim, vdim = (5, 7) if dims else (E, E)
    if causal:
        S = L
    module = nn.MultiheadAttention(
        E, H, bias=bias, add_bias_kv=bias_kv, add_zero_attn=zero, kdim=kdim, vdim=vdim, batch_first=first
    )
    fill(module)

    def leaf(tokens, width, seed):
        shape = (N, tokens, width) if first else (tokens, N, width)
        return pattern(shape if batched else (tokens, width), seed).requires_grad_()

    inputs = {"query": leaf(L, E, 0), "key": leaf(S, kdim, 1), "value": leaf(S, vdim, 2)}
    shared = not dims and S == L and mask == "none"
    if shared:
        inputs = {"query": inputs["query"]}
    attn_mask = None
    if mask != "none":
        kind, rank = mask[:-1], mask[-1]
        attn_mask = mask_of(kind, (L, S) if rank == "2" else ((N if batched else 1) * H, L, S))
    if causal:
        attn_mask = torch.ones(L, S, dtype=torch.bool).triu(1)
    call = {
        "key_padding_mask": mask_of(padding, (N, S) if batched else (S,)),
        "need_weights": weights != "none",
        "attn_mask": attn_mask,
        "average_attn_weights": weights == "mean",
        "is_causal": causal,
    }
    q = inputs["query"]
    output, found = module(q, inputs.get("key", q), inputs.get("value", q), **call)
    loss = (output * pattern(output.shape, 5)).sum()
    if found is not None:
        loss = loss + (found * pattern(found.shape, 6)).sum()
    loss.backward()
    return {
        "bias": bias, "add_bias_kv": bias_kv, "add_zero_attn": zero, "kdim": kdim, "vdim": vdim, "batch_first": first,
        "key_padding_mask": padding, "attn_mask": mask, "weights": weights, "batched": batched, "is_causal": causal,
        "shared": shared, "keys": S, "output": flat(output), "found": [] if found is None else flat(found),
        "gradients": products(inputs, module),
    }  # fmt: skip


def multihead():
    flags = [False, True]
    masks = ["none", "bool2", "bool3", "float2", "float3"]
    everything = itertools.product(
        flags, flags, flags, flags, flags, ["none", "bool", "float"], masks, ["none", "mean", "heads"], flags, flags
    )
    # In PyTorch, is_causal replaces the mask. It is not allowed with another mask or with appended keys.
    allowed = [c for c in everything if not c[9] or (c[6] == "none" and not c[1] and not c[2])]
    return [multihead_case(*case) for case in random.Random(1).sample(allowed, 110)]


def layer_case(kind, norm_first, activation, bias, first, masked, causal):
    L, S, N, E, H = 4, 5, 3, 6, 2
    options = {
        "dim_feedforward": 7, "dropout": 0.0, "activation": activation, "batch_first": first,
        "norm_first": norm_first, "bias": bias, "layer_norm_eps": 1e-4,
    }  # fmt: skip
    norm = nn.LayerNorm(E, eps=1e-4, bias=bias)
    if kind == "encoder":
        module = nn.TransformerEncoder(nn.TransformerEncoderLayer(E, H, **options), 2, norm, enable_nested_tensor=False)
    elif kind == "decoder":
        module = nn.TransformerDecoder(nn.TransformerDecoderLayer(E, H, **options), 2, norm)
    else:
        module = nn.Transformer(E, H, num_encoder_layers=1, num_decoder_layers=2, **options)
    fill(module)

    def leaf(tokens, seed):
        return pattern((N, tokens, E) if first else (tokens, N, E), seed).requires_grad_()

    def causal_mask(size):
        return nn.Transformer.generate_square_subsequent_mask(size) if causal else None

    def padding(tokens):
        return mask_of("bool", (N, tokens)) if masked else None

    if kind == "encoder":
        inputs = {"src": leaf(S, 0)}
        output = module(inputs["src"], causal_mask(S), padding(S), is_causal=causal)
    else:
        inputs = {"tgt": leaf(L, 1), "src": leaf(S, 0)}
        masks = {
            "tgt_mask": causal_mask(L), "tgt_key_padding_mask": padding(L), "memory_key_padding_mask": padding(S),
            "memory_mask": mask_of("float", (L, S)) if masked else None, "tgt_is_causal": causal,
        }  # fmt: skip
        if kind == "decoder":
            output = module(inputs["tgt"], inputs["src"], **masks)
        else:
            output = module(inputs["src"], inputs["tgt"], src_key_padding_mask=padding(S), **masks)
    (output * pattern(output.shape, 5)).sum().backward()
    case = {"kind": kind, "masked": masked, "causal": causal, "output": flat(output)}
    return case | options | {"gradients": products(inputs, module)}


def layers():
    flags = [False, True]
    everything = list(
        itertools.product(["encoder", "decoder", "transformer"], flags, ["relu", "gelu"], flags, flags, flags, flags)
    )
    return [layer_case(*case) for case in random.Random(2).sample(everything, 36)]


def initial():
    """The initial state dicts after manual_seed(123), in float32."""
    torch.set_default_dtype(torch.float32)
    small = {"d_model": 4, "nhead": 2, "dim_feedforward": 3}
    makers = {
        "multihead": lambda: nn.MultiheadAttention(4, 2),
        "multihead_dims": lambda: nn.MultiheadAttention(4, 2, kdim=3, vdim=5, bias=False),
        "multihead_bias_kv": lambda: nn.MultiheadAttention(4, 2, add_bias_kv=True),
        "encoder_layer": lambda: nn.TransformerEncoderLayer(4, 2, 3),
        "decoder_layer": lambda: nn.TransformerDecoderLayer(4, 2, 3),
        "encoder": lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 3), 2),
        "transformer": lambda: nn.Transformer(num_encoder_layers=1, num_decoder_layers=1, **small),
    }
    out = {}
    for name, make in makers.items():
        torch.manual_seed(123)
        out[name] = {key: [float(f"{x:.9g}") for x in value.flatten().tolist()] for key, value in make().state_dict().items()}
    return out


def main():
    torch.set_default_dtype(torch.float64)
    data = {"multihead": multihead(), "layers": layers()}
    data["initial"] = initial()
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "layers.json")
    with open(path, "w") as file:
        json.dump(data, file, separators=(",", ":"))
        file.write("\n")


if __name__ == "__main__":
    main()
