"""Computes PyTorch's values and gradients for every row of the operation table. make_pytorch.py uses it.

Numbers have 13 significant digits.
"""

import json
import pathlib
import sys
import zlib

import torch
import torch.nn.functional as F

DTYPES = {"bool": torch.bool, "int64": torch.int64, "float32": torch.float32, "float64": torch.float64}


def numbers(tensor):
    flat = tensor.detach().reshape(-1).tolist()
    return [float(f"{x:.13g}") if isinstance(x, float) else int(x) for x in flat]


def cotangent(tensor, generator):
    """Random numbers for the gradient of an output. Two digits are enough."""
    c = torch.randint(-100, 101, tensor.shape, generator=generator)
    return (c.double() / 100).to(tensor.dtype)


def run(expression, sample):
    # The seed depends only on the expression, so a row's numbers do not change if other rows are added.
    generator = torch.Generator().manual_seed(zlib.crc32(expression.encode()))
    inputs = []
    for each in sample:
        x = torch.tensor(each["values"], dtype=DTYPES[each["dtype"]]).reshape(each["shape"])
        inputs.append(x.requires_grad_(each["gradient"]))
    names = {"torch": torch, "F": F, "x": inputs} | dict(zip("abcdefg", inputs))
    result = eval(expression, names)
    outputs = [result] if isinstance(result, torch.Tensor) else list(result)
    record = {
        "inputs": [each["values"] for each in sample],
        "outputs": [
            {"shape": list(o.shape), "dtype": str(o.dtype)[6:], "values": numbers(o)}
            for o in outputs
        ],
    }
    wanted = [x for x in inputs if x.requires_grad]
    tracked = [o for o in outputs if o.requires_grad]
    if wanted and tracked:
        cotangents = [cotangent(o, generator) for o in tracked]
        try:
            gradients = torch.autograd.grad(tracked, wanted, cotangents, allow_unused=True)
        except RuntimeError as error:  # PyTorch has no gradient here, but tend may have one
            print(f"{expression}: {error}", file=sys.stderr)
            return record
        record["cotangents"] = [numbers(c) for c in cotangents]
        record["gradients"] = [None if g is None else numbers(g) for g in gradients]
    return record


def write(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        print("{", file=file)
        for i, (expression, samples) in enumerate(rows.items()):
            records = [run(expression, sample) for sample in samples]
            text = json.dumps(records, separators=(",", ":"))
            print(f'{"," if i else ""}{json.dumps(expression)}:\n{text}', file=file)
        print("}", file=file)


def write_all(families):
    """Writes ops/FAMILY.json, in this folder, for each family of rows."""
    for family, rows in families.items():
        write(pathlib.Path(__file__).parent / "ops" / f"{family}.json", rows)
