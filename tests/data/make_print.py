#!/usr/bin/env python3
"""Writes print.json: tensors, and the text that PyTorch (2.6 was used) prints for them.

A case has a dtype, a shape, and values (numbers, or [start, step] of an arithmetic series). Some cases also
have print options and suffixes. Run in this folder: python3 make_print.py
"""
import json
import math
import random
from pathlib import Path

import torch

DTYPES = {"bool": torch.bool, "int64": torch.int64, "float32": torch.float32, "float64": torch.float64}
DEFAULTS = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}
SHAPES = [(), (1,), (2,), (5,), (17,), (40,), (1, 1), (2, 3), (6, 6), (3, 12), (4, 1), (2, 2, 3), (1, 3, 1),
          (2, 1, 2, 3), (2, 2, 1, 1, 2)]
draw = random.Random(20240611)
cases = []


def number(value):
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def rounded(value, dtype):
    """Rounds a number to the fewest digits that give the same float32."""
    if dtype == "float32" and math.isfinite(value):
        single = torch.tensor(value, dtype=torch.float32)
        for digits in range(1, 10):
            text = f"{value:.{digits}g}"
            if torch.tensor(float(text), dtype=torch.float32) == single:
                return float(text)
    return value


def add(dtype, shape, values, options=None, suffix=None):
    count = math.prod(shape)
    series = isinstance(values, tuple)
    data = [values[0] + values[1] * i for i in range(count)] if series else values
    tensor = torch.tensor(data, dtype=DTYPES[dtype]).reshape(shape)
    if suffix == "leaf":
        tensor.requires_grad_()
    elif suffix is not None:
        tensor = tensor.requires_grad_().view(shape) if suffix == "view" else tensor.requires_grad_() * 1
    torch.set_printoptions(**{**DEFAULTS, **(options or {})})
    case = {"dtype": dtype, "shape": list(shape), "text": str(tensor)}
    case["values" if not series else "series"] = [number(v) for v in values]
    if options:
        case["options"] = options
    if suffix:
        case["suffixes"] = ["requires_grad=True" if suffix == "leaf" else
                            f"grad_fn=<{type(tensor.grad_fn).__name__}>"]
    cases.append(case)


def floats(count, dtype, kind):
    """Random numbers of one `kind`, rounded to few digits for float32."""
    values = []
    for _ in range(count):
        if kind == "unit":
            value = draw.random()
        elif kind == "normal":
            value = draw.gauss(0, 1)
        elif kind == "hundreds":
            value = draw.uniform(-300, 300)
        elif kind == "whole":
            value = float(draw.randint(-20, 20))
        elif kind == "big whole":
            value = float(draw.randint(1, 9) * 10 ** draw.randint(0, 10))
        elif kind == "magnitudes":
            value = draw.choice((-1, 1)) * 10 ** draw.uniform(-12, 12)
        elif kind == "small":
            value = draw.uniform(1, 9) * 1e-5
        elif kind == "near thousand":
            value = draw.choice((0.1, 100.0, 100.5, 1.0, 0.2))
        else:
            value = draw.choice((0.0, -0.0, math.nan, math.inf, -math.inf, 1.5, -2.0, 3.0))
        values.append(rounded(value, dtype))
    return values


def special_cases(dtype):
    limits = torch.finfo(DTYPES[dtype])
    for values in (
        [0.0], [-0.0], [1.0], [0.5], [math.nan], [math.inf], [-math.inf], [math.nan, math.inf, 0.0],
        [math.nan, 1.0], [math.inf, 1.5], [-math.inf, 1e-5], [math.nan, 123456.0], [0.0, 1e-5],
        [1e8], [1.0001e8], [99999999.0, 1.0], [1000.0, 1.0], [1001.0, 1.0], [1000.5, 1.0], [0.1, 100.0],
        [0.1, 100.5], [1e-4, 0.05], [9.9e-5, 0.05], [1e-4], [0.00005], [-0.00005], [2.00005], [0.99995, 0.12345],
        [9.99995], [0.00015, 0.1], [0.5, -0.5], [-1.0, -22.0], [1e10, -1e10], [limits.max, limits.min],
        [limits.tiny], [limits.max], [0.0, -0.0, 1.5], [-0.0, 2.0], [1e-45, 1.0], [0.03125, 0.15625],
        [0.00003, 3.0, 0.0], [16777216.0], [16777217.0, 0.5], [12345678.0, 12345.0],
    ):
        values = [rounded(v, dtype) for v in values]
        add(dtype, (len(values),), values)
        if len(values) == 1:
            add(dtype, (), values)


def plain_cases():
    for dtype in ("float32", "float64"):
        special_cases(dtype)
        for kind in ("unit", "normal", "hundreds", "whole", "big whole", "magnitudes", "small",
                     "near thousand", "special"):
            for shape in draw.sample(SHAPES, 5):
                add(dtype, shape, floats(math.prod(shape), dtype, kind))
    for shape in SHAPES[::2]:
        count = math.prod(shape)
        add("bool", shape, [draw.random() < 0.5 for _ in range(count)])
        add("int64", shape, [draw.randint(-10, 10) for _ in range(count)])
        add("int64", shape, [draw.randint(-10 ** 9, 10 ** 9) for _ in range(count)])
    add("int64", (2,), [-2 ** 63, 2 ** 63 - 1])
    for dtype in DTYPES:
        for shape in ((0,), (0, 3), (3, 0), (2, 0, 4), (1, 1, 0)):
            add(dtype, shape, [])


def summaries():
    for shape in ((1000,), (1001,), (2000,), (25, 41), (1001, 1), (1, 1001), (2, 501), (7, 200), (6, 200),
                  (12, 10, 10), (2, 600, 2), (2, 7, 2, 40), (7, 8, 2, 10), (1100, 2), (2, 2, 2, 2, 70)):
        add("int64", shape, (0, 1))
        add("float32", shape, (-1.0, 0.25))
        if math.prod(shape) > 1000 and len(shape) < 4:
            add("float64", shape, (0.0, 1.0))
    add("bool", (1001,), (0, 1))
    # Elements that are left out must not affect the format.
    add("float32", (1200,), (1.0, 1000.0))
    add("float32", (1001,), (-500.0, 1.0))


def with_options():
    some = floats(12, "float64", "normal")
    for precision in (0, 1, 2, 8, 17):
        add("float64", (3, 4), some, {"precision": precision})
        add("float64", (2, 2), [1.0, 2.0, 3.0, 4.0], {"precision": precision})
        add("float64", (2,), [1e-7, 1.0], {"precision": precision})
    for sci in (True, False):
        for values in (some, [1.0, 2.0, 3.0, 0.0] * 3, [0.0] * 12, [1e9, 1.0] * 6, [1e-7, 0.5, math.nan] * 4,
                       [math.inf] * 12):
            add("float64", (2, 6), values, {"sci_mode": sci})
    for width in (0, 10, 20, 40, 79, 81, 120):
        add("float32", (2, 20), floats(40, "float32", "unit"), {"linewidth": width})
        add("float64", (5,), some[:5], {"linewidth": width}, "mul")
        add("int64", (30,), (90, 1), {"linewidth": width})
    for threshold, edgeitems in ((5, 3), (5, 2), (0, 1), (10, 1), (10, 0), (20, 6)):
        options = {"threshold": threshold, "edgeitems": edgeitems}
        for shape in ((12,), (4, 5), (3, 2, 4), (2, 3)):
            add("float32", shape, (0.0, 0.5), options)
            add("int64", shape, (0, 7), options)
    add("float64", (12,), some, {"threshold": 3, "edgeitems": 0}, "mul")


def with_suffixes():
    for count in range(1, 16):
        add("float32", (count,), floats(count, "float32", "unit"), None, ("leaf", "mul", "view")[count % 3])
        add("float64", (count,), floats(count, "float64", "unit"), None, ("mul", "view", "leaf")[count % 3])
    for rows, columns in ((2, 2), (2, 5), (2, 6), (2, 8), (3, 7), (1, 9)):
        add("float32", (rows, columns), floats(rows * columns, "float32", "normal"), None, "mul")
        add("float64", (rows, columns), floats(rows * columns, "float64", "normal"), None, "leaf")
    add("float32", (), [0.25], None, "mul")
    add("float64", (0, 2), [], None, "mul")


def reprs():
    values = [0.0, -0.0, 1.0, 0.9544, 1e-05, 0.0001, 0.00012345, 123456.789, 1e15, 1e16, 9999999999999998.0,
              1.5e16, 1e22, 1e100, 5e-324, 1.7976931348623157e308, 0.1 + 0.2, 1 / 3, -2.5, 100.0, math.inf,
              -math.inf, math.nan, 2.0 ** 53, 123456789012345680.0, 1e-4 * 0.999999]
    values += [draw.choice((-1, 1)) * 10 ** draw.uniform(-20, 20) for _ in range(60)]
    return [[value.hex(), repr(value)] for value in values]


plain_cases()
summaries()
with_options()
with_suffixes()
lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
path = Path(__file__).with_name("print.json")
path.write_text(f'{{"torch": "{torch.__version__.split("+")[0]}",\n"tensors": [\n{lines}],\n'
                f'"reprs": {json.dumps(reprs(), separators=(",", ":"))}}}\n')
print(f"{path}: {len(cases)} tensors, {path.stat().st_size} bytes")
