#!/usr/bin/env python3
"""Writes random.json: random numbers from PyTorch's CPU generator (2.6 was used, on x86-64 with AVX2).

`sizes` generates tensors of 1 to 2000 elements for every distribution, each after manual_seed(count). A CRC-32
covers the bytes of the elements and one more random number (u32 % 0xffffffff), which shows the position in the
stream. The file has the CRC after every 25 counts, and some elements in full. float64 normal and exponential
numbers depend on the last bit of libm's log1p, sin and cos, which differs between versions of glibc. So their CRC
covers their float32 roundings. `layouts` fills tensors that are not contiguous, and `sequence` mixes calls in one
stream. Run in this folder: python3 make_random.py
"""
import json
import zlib
from pathlib import Path

import torch
from torch.nn import functional

MOST = 2000
STEP = 25
SAMPLED = (1, 2, 7, 15, 16, 17, 40, 1999)
DTYPES = {"bool": torch.bool, "int64": torch.int64, "float32": torch.float32, "float64": torch.float64}


def probabilities(count, dtype):
    """Probabilities in [0, 1], including 0 and 1, that are exact in both dtypes."""
    return (torch.arange(count) * 37 % 65).to(DTYPES[dtype]) / 64


def weights(count, dtype):
    return (torch.arange(count) * 53 % 17 + 1).to(DTYPES[dtype]) / 8


def draw(out, name, *arguments):
    """Fills `out` with random numbers, or returns a new tensor if PyTorch has no in-place form."""
    if name in ("uniform", "normal", "exponential", "bernoulli"):
        return getattr(out, name + "_")(*arguments)
    if name == "randint":
        return out.random_(*arguments)
    if name == "randperm":
        return torch.randperm(out.numel())
    if name == "bernoulli with probabilities":
        return out.bernoulli_(probabilities(out.numel(), arguments[0]).reshape(out.shape))
    if name == "dropout":
        # Row-major for any strides of `out`.
        return functional.dropout(torch.ones(out.shape), arguments[0]) != 0
    assert name == "multinomial"
    dtype, most, replacement = arguments
    return torch.multinomial(weights(out.numel(), dtype), min(most, out.numel()) if not replacement else most,
                             replacement)


def next_word():
    return torch.empty((), dtype=torch.int64).random_(0, 0xffffffff).item()


def data(tensor, name=None):
    if name in ("normal", "exponential"):
        tensor = tensor.float()
    return tensor.contiguous().numpy().tobytes()


def elements(tensor):
    """Integers as numbers, floats as hexadecimal texts that C and Python read."""
    return [x.hex() if isinstance(x, float) else x for x in tensor.reshape(-1).tolist()]


def sizes(dtype, name, *arguments):
    crc = 0
    crcs = []
    samples = {}
    for count in range(1, MOST + 1):
        torch.manual_seed(count)
        drawn = draw(torch.empty(count, dtype=DTYPES[dtype]), name, *arguments)
        crc = zlib.crc32(data(drawn, name), crc)
        crc = zlib.crc32(next_word().to_bytes(4, "little"), crc)
        if count in SAMPLED:
            flat = elements(drawn)
            samples[count] = [[i, flat[i]] for i in sorted({0, 1, len(flat) // 2, len(flat) - 1}) if i < len(flat)]
        if count % STEP == 0:
            crcs.append(crc)
    return {"dtype": dtype, "name": name, "arguments": arguments, "crcs": crcs, "samples": samples}


LAYOUTS = {
    "transposed": lambda dtype: torch.empty(7, 5, dtype=dtype).t(),
    "permuted": lambda dtype: torch.empty(4, 3, 2, 3, dtype=dtype).permute(2, 0, 3, 1),
    "sliced": lambda dtype: torch.empty(6, 20, dtype=dtype)[1:5, ::2],
    "sliced and transposed": lambda dtype: torch.empty(20, 6, dtype=dtype)[::2, 1:5].t(),
    "row of a column": lambda dtype: torch.empty(40, 3, dtype=dtype)[:, 1],
    "one element a row": lambda dtype: torch.empty(20, 1, dtype=dtype).t(),
    "few": lambda dtype: torch.empty(2, 3, dtype=dtype).t(),
}


def layouts():
    cases = []
    for dtype, name, *arguments in DISTRIBUTIONS:
        if name in ("randperm", "multinomial"):
            continue
        for layout, make in LAYOUTS.items():
            torch.manual_seed(42)
            drawn = draw(make(DTYPES[dtype]), name, *arguments)
            cases.append({"dtype": dtype, "name": name, "arguments": arguments, "layout": layout,
                          "crc": zlib.crc32(data(drawn, name)), "next": next_word()})
    return cases


def multinomial_rows():
    cases = []
    for dtype in ("float32", "float64"):
        for transposed in (False, True):
            for samples, replacement in ((1, False), (4, False), (1, True), (9, True)):
                rows = weights(30, dtype).reshape(6, 5).t() if transposed else weights(30, dtype).reshape(5, 6)
                torch.manual_seed(9)
                drawn = torch.multinomial(rows, samples, replacement)
                cases.append({"dtype": dtype, "transposed": transposed, "samples": samples,
                              "replacement": replacement, "drawn": elements(drawn), "next": next_word()})
    return cases


def large():
    """Sizes that are processed in several chunks."""
    cases = []
    for dtype, name, *arguments in (("float32", "normal", 0.5, 2.0), ("float64", "normal", 0.0, 1.0),
                                    ("float32", "uniform", -1.0, 1.0), ("bool", "bernoulli", 0.25),
                                    ("bool", "dropout", 0.1)):
        for count in (16384, 100003):
            torch.manual_seed(count)
            drawn = draw(torch.empty(count, dtype=DTYPES[dtype]), name, *arguments)
            cases.append({"dtype": dtype, "name": name, "arguments": arguments, "count": count,
                          "crc": zlib.crc32(data(drawn, name)), "next": next_word()})
    return cases


def sequence():
    """Mixed calls in one stream. The generator keeps the second of two normal numbers until manual_seed."""
    torch.manual_seed(2 ** 40 + 123)
    steps = []
    for name, dtype, count, *arguments in (
        ("uniform", "float32", 3, 0.0, 1.0), ("normal", "float32", 5, 0.0, 1.0), ("uniform", "float32", 4, 0.0, 1.0),
        ("normal", "float64", 3, 1.0, 2.0), ("randint", "int64", 7, -3, 9), ("normal", "float64", 1, 0.0, 1.0),
        ("normal", "float32", 1, 0.0, 1.0), ("randperm", "int64", 6), ("normal", "float32", 15, 0.0, 1.0),
        ("normal", "float32", 16, 0.0, 1.0), ("normal", "float32", 2, 0.0, 1.0), ("dropout", "bool", 9, 0.5),
        ("dropout", "bool", 9, 1.0), ("dropout", "bool", 9, 0.0), ("normal", "float32", 20, 0.0, 1.0),
        ("normal", "float64", 4, 0.0, 1.0), ("manual_seed", "float32", 5), ("normal", "float64", 4, 0.0, 1.0),
        ("exponential", "float32", 3, 1.0), ("bernoulli", "float32", 5, 0.5), ("uniform", "float32", 0, 0.0, 1.0),
        ("normal", "float64", 0, 0.0, 1.0), ("normal", "float64", 1, 0.0, 1.0), ("manual_seed", "float32", 2 ** 64 - 1),
        ("uniform", "float64", 2, -1.0, 1.0), ("uniform", "float32", 700, 0.0, 1.0), ("normal", "float64", 2, 0.0, 0.0),
    ):
        if name == "manual_seed":
            # PyTorch accepts the seed 2^64 - 1 also as -1.
            torch.manual_seed(count if count < 2 ** 63 else count - 2 ** 64)
            drawn = torch.empty(0)
        else:
            drawn = draw(torch.empty(count, dtype=DTYPES[dtype]), name, *arguments)
        steps.append({"name": name, "dtype": dtype, "count": count, "arguments": arguments,
                      "drawn": elements(drawn)[-20:]})
    return {"steps": steps, "next": next_word()}


DISTRIBUTIONS = [
    (dtype, name, *arguments) for dtype in ("float32", "float64") for name, *arguments in (
        ("uniform", 0.0, 1.0), ("uniform", -2.5, 3.7), ("normal", 0.0, 1.0), ("normal", 1.5, 0.3),
        ("exponential", 1.0), ("exponential", 2.5), ("bernoulli", 0.3), ("bernoulli with probabilities", dtype))
] + [
    ("int64", "randint", 0, 10), ("int64", "randint", -5, 2 ** 28), ("int64", "randint", 0, 2 ** 32 - 1),
    ("int64", "randint", 0, 2 ** 32), ("int64", "randint", -2 ** 62, 2 ** 62 + 12345),
    ("float32", "randint", -1000, 1000), ("float64", "randint", -2 ** 50, 2 ** 50), ("bool", "randint", 0, 2),
    ("int64", "randperm"), ("int64", "bernoulli", 0.5), ("bool", "bernoulli", 0.0), ("bool", "bernoulli", 0.9),
    ("bool", "bernoulli with probabilities", "float32"), ("bool", "dropout", 0.1), ("bool", "dropout", 0.5),
    ("bool", "dropout", 0.9),
] + [
    ("int64", "multinomial", dtype, *how) for dtype in ("float32", "float64")
    for how in ((1, False), (5, False), (1, True), (7, True))
]


def text(cases):
    return "[\n" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "]"


path = Path(__file__).with_name("random.json")
path.write_text(
    f'{{"torch": "{torch.__version__.split("+")[0]}",\n'
    f'"sizes": {text(sizes(*case) for case in DISTRIBUTIONS)},\n"layouts": {text(layouts())},\n'
    f'"multinomial": {text(multinomial_rows())},\n"large": {text(large())},\n'
    f'"sequence": {json.dumps(sequence(), separators=(",", ":"))}}}\n')
print(f"{path}: {path.stat().st_size} bytes")
