#!/usr/bin/env python3
"""Writes half.json: numbers that PyTorch converted with .to(float16) and .to(bfloat16), for tests of nn/files.

Needs PyTorch: python3 tests/data/make_half.py
"""
import json
import os

import torch

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "half.json")


def numbers():
    """The bits of float32 numbers: the limits of both formats, their neighbours, and random numbers."""
    torch.manual_seed(1)
    edges = [0, 0x33000000, 0x33000001, 0x33800000, 0x387FE000, 0x387FF000, 0x38800000, 0x38801000, 0x38803000,
             0x3F800000, 0x3F801000, 0x3F803000, 0x3F808000, 0x3F818000, 0x477FE000, 0x477FEFFF, 0x477FF000,
             0x7F7F7FFF, 0x7F7F8000, 0x7F7FFFFF, 0x7F800000, 1, 0x7FFFFF, 0x800000, 0x8000, 0x8001, 0x18000]
    near = {edge + step for edge in edges for step in (-1, 0, 1)}
    bits = [x for x in sorted(near) if 0 <= x <= 0x7F800000]
    bits += torch.randint(0, 0x7F800000, (300,)).tolist() + torch.randint(0x33000000, 0x477FF000, (300,)).tolist()
    return bits + [x | 0x80000000 for x in bits]


def bits_of(x):
    return [value & 0xFFFF for value in x.view(torch.int16).tolist()]


def main():
    bits = numbers()
    floats = torch.tensor([x - (1 << 32) if x >> 31 else x for x in bits], dtype=torch.int32).view(torch.float32)
    # Between two 16-bit numbers, and so close to the middle that float32 cannot tell which one is nearer.
    doubles = torch.tensor([1 + 2**-11 + 2**-40, 1 + 3 * 2**-11 - 2**-40, 65520 - 2**-30, 1 + 2**-8 + 2**-40, 1e-300,
                            -1e300, 0.1, -2.0**-25 - 2.0**-60], dtype=torch.float64)
    data = {
        "floats": {"bits": bits, "float16": bits_of(floats.to(torch.float16)),
                   "bfloat16": bits_of(floats.to(torch.bfloat16))},
        "doubles": {"values": [x.hex() for x in doubles.tolist()], "float16": bits_of(doubles.to(torch.float16)),
                    "bfloat16": bits_of(doubles.to(torch.bfloat16))},
    }
    with open(PATH, "w") as file:
        json.dump(data, file)
        file.write("\n")


if __name__ == "__main__":
    main()
