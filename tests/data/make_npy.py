#!/usr/bin/env python3
"""Writes npy/*.npy and npy/*.npz with NumPy, and npy/expected.json, for tests of nn/files and nn/archives.

Needs NumPy: python3 tests/data/make_npy.py
"""
import json
import os

import numpy as np

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "npy")
WIDE = {"f2": "float32", "f4": "float32", "f8": "float64", "b1": "bool"}


def values(kind):
    """Six values of a dtype, including its extremes."""
    if kind == "b1":
        return np.array([True, False, True, True, False, False])
    if kind[0] == "f":
        limits = np.finfo(kind)
        return np.array([0.5, -0.0, np.inf, limits.max, limits.smallest_subnormal, -3], kind)
    limits = np.iinfo(kind)
    largest = min(limits.max, 2**63 - 1)
    return np.array([0, 1, 2, limits.min, largest, 100], kind)


def number(x):
    """A number as text, because JSON has no infinities, and not every reader has 64-bit integers."""
    return x.hex() if isinstance(x, float) else str(int(x))


def described(array, kind):
    return {"dtype": WIDE.get(kind, "int64"), "shape": list(array.shape),
            "values": [number(x) for x in array.flatten().tolist()]}


def main():
    os.makedirs(FOLDER, exist_ok=True)
    expected = {}

    def save(name, array, kind, version=None):
        with open(os.path.join(FOLDER, name + ".npy"), "wb") as file:
            np.lib.format.write_array(file, array, version)
        expected[name + ".npy"] = described(array, kind)

    for kind in "b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8".split():
        for order in "<>" if kind[1] != "1" else "<":
            data = values(kind).astype(order + kind).reshape(2, 3)
            save(kind + ("_big" if order == ">" else ""), data, kind)
    cube = np.arange(24, dtype="<i4").reshape(2, 3, 4)
    save("fortran", np.asfortranarray(cube), "i4")
    save("scalar", np.array(-2.5, "<f8"), "f8")
    save("nothing", np.zeros((2, 0, 3), "<f4"), "f4")
    save("nothing_fortran", np.zeros((2, 0, 3), "<f4", order="F"), "f4")
    save("version2", cube[0], "i4", (2, 0))
    save("version3", cube[1], "i4", (3, 0))

    # Files that tend refuses, with a part of each error message.
    refused = {}

    def refuse(name, array, words):
        np.save(os.path.join(FOLDER, name + ".npy"), array, allow_pickle=True)
        refused[name + ".npy"] = words

    refuse("complex", np.array([1j, 2], "<c8"), "complex numbers (dtype '<c8')")
    refuse("text", np.array(["ab", "c"]), "text (dtype '<U2')")
    refuse("bytes", np.array([b"ab"]), "text (dtype '|S2')")
    refuse("dates", np.array(["2020-01-01"], "<M8[D]"), "dates and times (dtype '<M8[D]')")
    refuse("spans", np.array([3], "<m8[s]"), "dates and times (dtype '<m8[s]')")
    refuse("structures", np.array([(1, 2.0)], [("a", "<i4"), ("b", "<f8")]), "structures")
    refuse("void", np.zeros(2, "V3"), "structures (dtype '|V3')")
    refuse("objects", np.array([None, {}], object), "Python objects (dtype '|O')")
    refuse("longdouble", np.array([1], np.longdouble), "longdouble")
    refuse("uint64_large", np.array([[1, 2], [2**63, 3]], "<u8"), "the uint64 at (1, 0)")
    refuse("uint64_large_fortran", np.asfortranarray(np.array([[1, 2, 4], [2**63, 3, 5]], ">u8")),
           "the uint64 at (1, 0)")

    arrays = {"weight": cube.astype("<f4"), "bias": values("f8"), "flags": values("b1"),
              "größe": np.array(7), "folder/half": values("f2"), "zeros": np.zeros((30, 30), "<i4")}
    kinds = {"weight": "f4", "bias": "f8", "flags": "b1", "größe": "i8", "folder/half": "f2", "zeros": "i4"}
    for name, write in (("stored.npz", np.savez), ("deflated.npz", np.savez_compressed)):
        write(os.path.join(FOLDER, name), **arrays)
        expected[name] = {key: described(array, kinds[key]) for key, array in arrays.items()}
    np.savez(os.path.join(FOLDER, "empty.npz"))
    expected["empty.npz"] = {}

    with open(os.path.join(FOLDER, "expected.json"), "w") as file:
        json.dump({"read": expected, "refused": refused}, file, indent=0)
        file.write("\n")


if __name__ == "__main__":
    main()
