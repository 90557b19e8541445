#!/usr/bin/env python3
"""Writes pt/tar*.pt and pt/tar.json: files as torch.save wrote them before 0.1.10, for tests of nn/archives.

PyTorch reads such files and no longer writes them, so they are put together here, and read by it for a check.
Needs PyTorch 2.4 or later: python3 tests/data/make_tar.py
"""
import io
import json
import os
import pickle
import struct
import tarfile
from collections import OrderedDict

import torch

from make_pt import FOLDER, described, dtypes

STORAGES = {torch.float32: "Float", torch.float64: "Double", torch.float16: "Half", torch.bfloat16: "BFloat16",
            torch.int8: "Char", torch.int16: "Short", torch.int32: "Int", torch.int64: "Long", torch.uint8: "Byte",
            torch.bool: "Bool"}


def pickled(*parts):
    """A tuple of integers, texts and, as bytes, names of classes."""
    content = b"".join(b"ctorch\n" + part + b"\n" if isinstance(part, bytes) else pickle.dumps(part, 2)[2:-1]
                       for part in parts)
    return b"\x80\x02(" + content + b"t."


def tar_of(value, views=()):
    """The file for a value; tensors in `views` lie in a view of their storage that begins with them."""
    tensors, storages, entries = [], {}, [b"", b""]

    def number(tensor):
        if not any(each is tensor for each in tensors):
            tensors.append(tensor)
        return 94000000000000 + next(i for i, each in enumerate(tensors) if each is tensor)

    class Pickler(pickle.Pickler):
        def persistent_id(self, value):
            return str(number(value)) if isinstance(value, torch.Tensor) else None

    out = io.BytesIO()
    Pickler(out, 2).dump(value)
    listed = []
    for tensor in tensors:
        storage, name = tensor.untyped_storage(), STORAGES[tensor.dtype].encode()
        key = storages.setdefault(storage._cdata, 200 + len(storages))
        count = storage.nbytes() // tensor.element_size()
        offset = tensor.storage_offset()
        if not any(entry[0] == key for entry in listed):
            elements = torch.empty(0, dtype=tensor.dtype).set_(storage, 0, (count,), (1,))
            raw = bytes(elements.view(torch.uint8).tolist()) if count else b""
            entries[0] += pickled(key, "cpu", name + b"Storage") + struct.pack("<q", count) + raw
            listed.append((key, None))
        if any(each is tensor for each in views):
            listed.append((1000 + len(listed), (1000 + len(listed), key, offset, count - offset)))
            key, offset = listed[-1][0], 0
        entries[1] += pickled(number(tensor), key, name + b"Tensor") + struct.pack("<ii", tensor.dim(), -1)
        entries[1] += struct.pack(f"<{2 * tensor.dim() + 1}q", *tensor.shape, *tensor.stride(), offset)
    wholes = sum(view is None for _, view in listed)
    storages_file = pickle.dumps(wholes, 2) + entries[0] + pickle.dumps([view for _, view in listed if view], 2)
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:", format=tarfile.PAX_FORMAT) as tar:
        for name, text in (("sys_info", pickle.dumps({"protocol_version": 1000}, 2)), ("pickle", out.getvalue()),
                           ("tensors", pickle.dumps(len(tensors), 2) + entries[1]), ("storages", storages_file)):
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(text), 1480000000.25  # which needs attributes, as real times do
            tar.addfile(info, io.BytesIO(text))
    return content.getvalue()


def main():
    base = torch.arange(12, dtype=torch.float32)
    tail = base[5:9]
    value = OrderedDict([
        ("dtypes", dtypes()), ("base", base), ("matrix", base.view(3, 4)), ("transposed", base.view(3, 4).t()),
        ("tail", tail), ("again", tail), ("steps", base[1::3]), ("empty", torch.zeros(0, 3)), ("epoch", 3),
        ("list", [torch.arange(2), None, 0.5, ("x", True)]), ("large", torch.arange(5000, dtype=torch.uint8))])
    small = {"x": torch.tensor([1.5, -2.0])}
    expected = {}
    for name, each, views in (("tar.pt", value, [tail]), ("tar_small.pt", small, [])):
        path = os.path.join(FOLDER, name)
        with open(path, "wb") as file:
            file.write(tar_of(each, views))
        loaded = torch.load(path, weights_only=False)
        expected[name] = described(loaded)
        assert expected[name] == described(each), name
    loaded = torch.load(os.path.join(FOLDER, "tar.pt"), weights_only=False)
    assert loaded["tail"] is loaded["again"] and loaded["matrix"].data_ptr() == loaded["base"].data_ptr()
    with open(os.path.join(FOLDER, "tar.json"), "w") as file:
        json.dump(expected, file)
        file.write("\n")


if __name__ == "__main__":
    main()
