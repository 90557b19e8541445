#!/usr/bin/env python3
"""Writes pt/*.pt with torch.save, and pt/expected.json, for tests of nn/archives.

Needs PyTorch 2.4 or later: python3 tests/data/make_pt.py
"""
import argparse
import io
import json
import os
import zipfile
from collections import OrderedDict

import numpy
import torch
from torch import nn

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pt")
DTYPES = {torch.float32: "float32", torch.float16: "float32", torch.bfloat16: "float32",
          torch.float64: "float64", torch.bool: "bool"}


def number(x):
    return x.hex() if isinstance(x, float) else str(int(x))


def described(value):
    """The value as tend should read it, as JSON."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (torch.dtype, torch.device)):
        return str(value)
    if isinstance(value, (int, float)):
        return {"number": number(value), "is_real": isinstance(value, float)}
    if isinstance(value, torch.Tensor):
        return {"dtype": DTYPES.get(value.dtype, "int64"), "shape": list(value.shape),
                "strides": list(value.stride()), "requires_grad": value.requires_grad,
                "values": [number(x) for x in value.detach().flatten().tolist()]}
    if isinstance(value, dict):
        return {"dict": [[str(key), described(each)] for key, each in value.items()]}
    return {"tuple" if isinstance(value, tuple) else "list": [described(each) for each in value]}


def values(dtype):
    if dtype == torch.bool:
        return torch.tensor([True, False, True])
    if dtype.is_floating_point:
        limits = torch.finfo(dtype)
        return torch.tensor([0.5, -0.0, float("inf"), limits.max, limits.tiny, -3], dtype=dtype)
    limits = torch.iinfo(dtype)
    return torch.tensor([limits.min, limits.max, 1], dtype=dtype)


def dtypes():
    return {str(dtype): values(dtype) for dtype in (
        torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.int16, torch.int32,
        torch.int64, torch.uint8, torch.bool)}


def views():
    base = torch.arange(12, dtype=torch.float32)
    return {"base": base, "matrix": base.view(3, 4), "transposed": base.view(3, 4).t(), "tail": base[5:9],
            "steps": base[1::3], "scalar": base[7], "expanded": base[2].expand(2, 3), "empty": base[12:],
            "nothing": torch.zeros(0, 3), "other": torch.arange(2)}


def marks():
    """An empty tensor whose offset is beyond its storage, and a device that is not the CPU."""
    return {"behind": torch.zeros(0, 5)[:, 2:], "device": torch.device("cuda:1")}


def nested():
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(2, 3), nn.LayerNorm(3))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    model(torch.ones(1, 2)).square().sum().backward()
    optimizer.step()
    return {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3, "large": 2**62,
            "negative": -(2**40), "byte": 200, "short": 60000, "int": -70000, "loss": 0.1, "done": True, "none": None,
            "name": "größe \U0001F600", "list": [1, [2, []], (3,)], "tuple": (1.5, None, False, "x"), "empty": {},
            "size": torch.Size([2, 3]), "dtype": torch.bfloat16, "device": torch.device("cpu"),
            "parameter": nn.Parameter(torch.ones(2)), "leaf": torch.ones(2, requires_grad=True),
            "ordered": OrderedDict([("b", 1), ("a", torch.ones(1))])}


def big_endian(content):
    """Converts the file to the form that a big-endian machine writes."""
    source, out = zipfile.ZipFile(io.BytesIO(content)), io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name in source.namelist():
            data = source.read(name)
            if name.endswith("/byteorder"):
                data = b"big"
            if name.endswith("/data/0"):  # the only storage has four-byte numbers
                data = b"".join(data[i:i + 4][::-1] for i in range(0, len(data), 4))
            file.writestr(name, data)
    return out.getvalue()


def left_out():
    """A checkpoint with objects that tend leaves out, the part that tend reads, and the names of these objects."""
    weight = torch.ones(2)
    schedule = torch.optim.lr_scheduler.MultiStepLR(torch.optim.SGD([weight], lr=0.5), [3, 3, 5])
    read = {"weight": weight, "steps": dict(schedule.state_dict()["milestones"]), "list": [1, None, "a"], "after": 2}
    whole = dict(read, steps=schedule.state_dict()["milestones"], list=[1, {3}, "a"], best=numpy.float64(0.5),
                 options=argparse.Namespace(lr=1), complex=torch.tensor([1j]), bytes=b"ab", keys={(1, 2): 3})
    read["keys"] = {}
    return whole, read, {"best": "numpy._core.multiarray.scalar", "options": "argparse.Namespace", "list[1]": "set",
                         "complex": "torch.ComplexFloatStorage", "bytes": "_codecs.encode", "keys": "neither a text"}


class Command:
    def __reduce__(self):
        return os.system, ("true",)


def main():
    os.makedirs(FOLDER, exist_ok=True)
    expected = {}

    def write(name, content):
        with open(os.path.join(FOLDER, name), "wb") as file:
            file.write(content)

    def saved(value, **arguments):
        out = io.BytesIO()
        torch.save(value, out, **arguments)
        return out.getvalue()

    for name, value in (("dtypes", dtypes()), ("views", views()), ("nested", nested()),
                        ("marks", marks())):
        write(name + ".pt", saved(value))
        write(name + "_legacy.pt", saved(value, _use_new_zipfile_serialization=False))
        expected[name + ".pt"] = expected[name + "_legacy.pt"] = described(value)
    one = {"x": torch.tensor([1.5, -2.0, 3e30])}
    write("small.pt", saved(one))
    write("small_legacy.pt", saved(one, _use_new_zipfile_serialization=False))
    write("protocol4.pt", saved(one, pickle_protocol=4))
    write("big.pt", big_endian(saved(one)))
    write("tensor.pt", saved(torch.tensor([[1, 2]])))
    for name in ("small", "small_legacy", "protocol4", "big"):
        expected[name + ".pt"] = described(one)
    expected["tensor.pt"] = described(torch.tensor([[1, 2]]))

    whole, read, names = left_out()
    write("left_out.pt", saved(whole))
    expected["left_out.pt"] = described(read)

    # Files that tend refuses, with a part of each error message.
    refused = {"command.pt": "posix.system", "command_legacy.pt": "posix.system",
               "module.pt": "torch.nn.modules.linear.Linear", "complex.pt": "torch.ComplexFloatStorage",
               "uint16.pt": "torch._utils._rebuild_tensor_v3", "huge.pt": "beyond int64", "set.pt": "holds a set",
               "negated.pt": "elements are to be negated"}
    command, lists = Command(), []
    lists.append(lists)
    refused["itself.pt"] = "nest deeper than 64"
    write("command.pt", saved(command))
    write("command_legacy.pt", saved(command, _use_new_zipfile_serialization=False))
    write("module.pt", saved(nn.Linear(1, 1)))
    write("complex.pt", saved(torch.tensor([1j])))
    write("uint16.pt", saved(torch.tensor([1], dtype=torch.uint16)))
    write("huge.pt", saved(2**64))
    write("set.pt", saved({1, 2}, pickle_protocol=4))
    write("itself.pt", saved(lists))
    write("negated.pt", saved(torch.tensor([1 + 2j, 3 - 4j]).conj().imag))

    with open(os.path.join(FOLDER, "expected.json"), "w") as file:
        json.dump({"read": expected, "left_out": names, "refused": refused}, file, indent=0)
        file.write("\n")


if __name__ == "__main__":
    main()
