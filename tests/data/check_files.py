#!/usr/bin/env python3
"""Reads files that tend wrote, with NumPy, PyTorch and safetensors, and reports the first difference.

Needs NumPy, PyTorch 2.4 or later, and safetensors. A test of tend writes the files:

    TEND_KEEP_FILES=FOLDER build/release/tests/test_nn "[.files]"
    python3 tests/data/check_files.py FOLDER
"""
import json
import os
import sys

import numpy as np
import safetensors
import safetensors.torch
import torch

WANTED = {
    "float32": np.array([[1.5, -0.0, np.inf], [1e-45, -3e38, 2.0]], "<f4"),
    "float64": np.array([0.1, -0.0, 5e-324], "<f8"),
    "int64": np.array([[-2**63, 2**63 - 1]], "<i8"),
    "bool": np.array([True, False, True]),
    "scalar": np.array(7, "<i8"),
    "nothing": np.zeros((0, 3), "<f4"),
    "transposed": np.array([[1, 4], [2, 5], [3, 6]], "<i8"),
}


def main():
    folder, found = sys.argv[1], []

    def check(condition, what):
        found.append(what)
        if not condition:
            sys.exit(f"differs: {what}")

    def check_all(arrays, where):
        check(list(arrays) == list(WANTED), f"{where}: the names")
        for name, wanted in WANTED.items():
            array = np.asarray(arrays[name])
            check(array.dtype == wanted.dtype and array.shape == wanted.shape and
                  np.ascontiguousarray(array).tobytes() == wanted.tobytes(), f"{where}: {name}")

    path = lambda name: os.path.join(folder, name)
    check_all({name: np.load(path(name + ".npy"), allow_pickle=False) for name in WANTED}, ".npy")
    for name in ("stored.npz", "deflated.npz"):
        check_all(dict(np.load(path(name), allow_pickle=False)), name)
    stored = torch.load(path("state.pt"), weights_only=True)
    check_all(stored, "state.pt")
    check_all(torch.load(path("state.pt"), weights_only=True, mmap=True), "state.pt, mapped")
    check(not stored["transposed"].is_contiguous(), "state.pt: strides")
    arrays = safetensors.torch.load_file(path("state.safetensors"))
    check_all({name: arrays[name] for name in WANTED}, "state.safetensors")

    for half in (torch.float16, torch.bfloat16):
        name = str(half)[len("torch."):] + ".safetensors"
        halves = safetensors.torch.load_file(path(name))
        for key, wanted in WANTED.items():
            wanted = torch.from_numpy(wanted)
            wanted = wanted.to(half) if wanted.is_floating_point() else wanted
            got = halves[key]
            check(got.dtype == wanted.dtype and got.shape == wanted.shape, f"{name}: {key}, dtype and shape")
            if wanted.is_floating_point():  # compares bits, so that -0 differs from 0
                got, wanted = got.view(torch.int16), wanted.view(torch.int16)
            check(torch.equal(got, wanted), f"{name}: {key}")

    with open(path("shards/model.safetensors.index.json")) as file:
        index = json.load(file)
    names, shards = index["weight_map"], {}
    for name in sorted(set(names.values())):
        with safetensors.safe_open(path("shards/" + name), framework="pt") as file:
            check(file.metadata() == {"format": "pt"}, f"{name}: the metadata")
            check(sorted(file.keys()) == sorted(key for key in names if names[key] == name), f"{name}: the names")
            shards.update({key: file.get_tensor(key) for key in file.keys()})
    check_all({key: shards[key] for key in WANTED}, "shards")
    check(len(set(names.values())) == int(name.split("-of-")[1][:5]) > 2, "shards: how many there are")
    check(index["metadata"]["total_size"] == sum(x.nbytes for x in WANTED.values()), "shards: the total size")
    check(np.load(path("mapped.npy")).tobytes() == WANTED["float32"].tobytes(), "mapped.npy")

    nested = torch.load(path("nested.pt"), weights_only=True)
    a, b, c = nested["shared"]
    check(a.data_ptr() == b.data_ptr() and c.data_ptr() == a.data_ptr() + 8 and
          a.untyped_storage().nbytes() == 24, "nested.pt: shared storages")
    a[0, 0] = 50
    check(b[0, 0] == 50, "nested.pt: writes are seen")
    check(nested["weight"].requires_grad and not a.requires_grad, "nested.pt: requires_grad")
    check(nested["tuple"] == (1, -2.5, None, True, "größe", 2**40, -1), "nested.pt: the tuple")
    check(nested[7] == {"list": [[], {}, ()]}, "nested.pt: keys and empty containers")
    check(os.path.getsize(path("nested.pt")) < 4000, "nested.pt: the size")
    print(f"{len(found)} checks, nothing differs")


if __name__ == "__main__":
    main()
