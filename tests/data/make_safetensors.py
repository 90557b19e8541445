#!/usr/bin/env python3
"""Writes safetensors/python.safetensors with Python's library, and its contents to safetensors/python.json.

Needs PyTorch and safetensors: python3 tests/data/make_safetensors.py
"""
import json
import os

import torch
from safetensors.torch import save_file

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "safetensors")
INTEGERS = (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8)


def main():
    tensors = {}
    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
        least = torch.finfo(dtype).smallest_normal
        tensors[str(dtype)] = torch.tensor([[1.5, -0.25, 0.0], [least, -3e4, 2.0]], dtype=torch.float64).to(dtype)
    for dtype in INTEGERS:
        limits = torch.iinfo(dtype)
        tensors[str(dtype)] = torch.tensor([limits.min, 7, limits.max]).to(dtype)
    tensors["torch.bool"] = torch.tensor([True, False, True])
    tensors["scalar"] = torch.tensor(2.5)
    tensors["nothing"] = torch.zeros(2, 0, 3)
    tensors["gr\u00f6\u00dfe \"1\""] = torch.arange(6).view(2, 3).t().contiguous()
    os.makedirs(FOLDER, exist_ok=True)
    save_file(tensors, os.path.join(FOLDER, "python.safetensors"), {"format": "pt", "from": "Python"})
    known = {name: {"shape": list(x.shape), "values": x.flatten().tolist()} for name, x in tensors.items()}
    with open(os.path.join(FOLDER, "python.json"), "w", encoding="utf-8") as file:
        json.dump(known, file, separators=(",", ":"))
        file.write("\n")


if __name__ == "__main__":
    main()
