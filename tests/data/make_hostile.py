#!/usr/bin/env python3
"""Writes hostile/: invalid files that tend must refuse, and expected.json: a part of each error message.

Needs only Python: python3 tests/data/make_hostile.py
"""
import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import struct
import zlib

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hostile")
STORED, DEFLATED, BZIP2, LZMA = 0, 8, 12, 14
ENCRYPTED = 1  # the flag of an encrypted entry
MIB = 2**20


# --- zip archives, in which every field can be wrong

def deflated(data):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


class Entry:
    """An entry of an archive: `data` packed by `method`. The other arguments override fields of its headers."""

    def __init__(self, name, data, method=STORED, flags=0, size=None, packed=None, packed_size=None, crc=None, at=None,
                 local_extra=0):
        self.name, self.method, self.flags, self.at = name.encode(), method, flags, at
        self.local_extra = local_extra  # the number of bytes of `packed` that the local header declares as extra fields
        pack = {STORED: lambda: data, DEFLATED: lambda: deflated(data)}
        self.packed = pack[method]() if packed is None else packed
        self.packed_size = len(self.packed) if packed_size is None else packed_size
        self.size = len(data) if size is None else size
        self.crc = zlib.crc32(data) if crc is None else crc

    def header(self, extra=0):
        return struct.pack("<HHHHHIIIHH", 20, self.flags, self.method, 0, 33, self.crc, self.packed_size, self.size,
                           len(self.name), extra)

    def local(self):
        return b"PK\3\4" + self.header(self.local_extra) + self.name

    def central(self, at):
        return (b"PK\1\2" + struct.pack("<H", 20) + self.header() + struct.pack("<HHHII", 0, 0, 0, 0, at) + self.name)


def zipped(*entries):
    """An archive of the entries. An entry with an offset `at` points into the data of other entries."""
    out, directory = b"", b""
    for entry in entries:
        at = len(out) if entry.at is None else entry.at
        if entry.at is None:
            out += entry.local() + entry.packed
        directory += entry.central(at)
    return out + directory + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, len(entries), len(entries), len(directory),
                                                     len(out), 0)


def overlapping(count):
    """An archive whose entries each contain the next entry, like D. Fifield's zip bombs (USENIX WOOT 2019)."""
    data = deflated(npy("|u1", f"({MIB},)", bytes(MIB)))
    locals_, entries = b"", []
    for i in reversed(range(count)):
        packed = locals_ + data if not locals_ else locals_
        entry = Entry(f"{i:02}.npy", b"", packed=packed, size=len(packed), crc=zlib.crc32(packed))
        locals_ = entry.local() + packed
        entries.insert(0, entry)
    at = 0
    for entry in entries[1:]:
        at += len(entries[0].local())
        entry.at = at
    return zipped(*entries)


# --- .npy, .pt and safetensors

def npy(descr, shape, data, extra=""):
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, {extra}}}\n".encode()
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text + data


FLOATS = struct.pack("<2f", 1, 2)


def pt(pickled, storage=Entry("a/data/0", FLOATS)):
    first = pickled if isinstance(pickled, Entry) else Entry("a/data.pkl", pickled)
    return zipped(first, Entry("a/byteorder", b"little"), storage, Entry("a/version", b"3\n"))


def tensor_pickle(numel, sizes, strides, view=b""):
    """A pickle (protocol 2) of a tensor on the float storage '0'. The arguments are pickle opcodes of numbers."""
    return (b"\x80\2ctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0000X\3\0\0\0cpu"
            + numel + view + b"tQK\0(" + sizes + b"t(" + strides + b"t\x89ccollections\nOrderedDict\n)RtR.")


def legacy(pickled, elements):
    """A file in the format before PyTorch 1.6. There, the view of a storage is None if it is the whole storage."""
    sizes = {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}
    parts = [pickle.dumps(part, protocol=2) for part in (0x1950a86a20f9469cfc6c, 1001, sizes)]
    return b"".join(parts) + pickled + pickle.dumps(["0"], protocol=2) + elements


def integer(value):
    return b"\x8a\x08" + struct.pack("<q", value)


def laughs(levels):
    """Nested lists, each with the same inner list ten times: a few hundred bytes for 10^levels values."""
    out = b"\x80\2]q\0(" + b"K\1" * 10 + b"e"
    for level in range(1, levels):
        out += b"0]q" + bytes([level]) + b"(" + (b"h" + bytes([level - 1])) * 10 + b"e"
    return out + b"."


def safetensors(header, data=b"", size=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if size is None else size) + text + data


def tensor(begin, end, shape=(2,), dtype="F32"):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


# --- IDX

def idx(sizes, data, kind=8):
    return bytes([0, 0, kind, len(sizes)]) + b"".join(struct.pack(">I", size) for size in sizes) + data


def files():
    """Yields each file's name, its content, and a part of the error message."""
    two = npy("<f4", "(2,)", struct.pack("<2f", 1, 2))
    packed = deflated(two)
    yield "bomb_size.npz", zipped(Entry("a.npy", two, DEFLATED, size=2**32 - 2)), "cannot hold 4294967294 bytes in"
    yield "bomb_hidden.npz", zipped(Entry("a.npy", two, DEFLATED, packed=deflated(two + bytes(4 * MIB)))), \
        "'a.npy' has more bytes than the archive's directory says"
    yield "bomb_behind.npz", zipped(Entry("a.npy", two + bytes(4 * MIB), DEFLATED)), \
        "its shape (2,) takes 8 bytes, but 4194312 follow the header"
    yield "bomb_shape.npz", zipped(Entry("a.npy", npy("<f4", "(1099511627776,)", b""), DEFLATED)), \
        "takes 4398046511104 bytes, but 0 follow the header"
    yield "bomb_header.npz", zipped(Entry("a.npy", b"\x93NUMPY\2\0" + struct.pack("<I", 4 * MIB) + b" " * (4 * MIB),
                                          DEFLATED)), "a header of 4194304 bytes"
    yield "overlap.npz", overlapping(40), "more than the file has besides the other entries"
    yield "overlap_whole.npz", zipped(Entry("a.npy", two), Entry("b.npy", two, at=0)), "is not a zip archive"
    yield "encrypted.npz", zipped(Entry("a.npy", two, flags=ENCRYPTED, packed=bytes(12) + two)), "'a.npy' is encrypted"
    yield "lzma.npz", zipped(Entry("a.npy", two, LZMA, packed=b"\x09\x04\x05\0" + lzma.compress(
        two, lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA1}]))), "'a.npy' is neither stored nor deflated"
    yield "bzip2.npz", zipped(Entry("a.npy", two, BZIP2, packed=bz2.compress(two))), \
        "'a.npy' is neither stored nor deflated"
    yield "checksum.npz", zipped(Entry("a.npy", two, DEFLATED, crc=1)), "'a.npy' cannot be read: CRC error"
    yield "deflate.npz", zipped(Entry("a.npy", two, DEFLATED, packed=b"\x07" + packed)), "'a.npy' cannot be read"
    yield "beyond.npz", zipped(Entry("a.npy", two, packed_size=2**31, size=2**31)), "is not a zip archive"
    yield "twice.npz", zipped(Entry("a.npy", two), Entry("a.npy", two)), "is used twice"
    yield "short.npz", zipped(Entry("a.npy", two[:-1])), "its shape (2,) takes 8 bytes, but 7 follow the header"
    yield "cut.npz", zipped(Entry("a.npy", two))[:-30], "is not a zip archive"
    # The local header declares 200 bytes of extra fields, which moves the start of the data. The header of the array
    # is still in the file, but its elements, which are aligned, would end after the end of the file.
    moved = npy("<f4", "(50,)", b"", " " * 4)
    yield "moved.npz", zipped(Entry("a.npy", bytes(200) + moved, local_extra=200)), \
        "'a.npy' cannot be read: Premature end of file"
    yield "overflow.npz", zipped(Entry("a.npy", npy("<f4", f"({2**32}, {2**31})", b""))), "beyond 2^63 bytes"

    yield "text.pt", pt(b"\x80\2X\xff\xff\xff\x7f."), "ends too early"
    yield "laughs.pt", pt(laughs(12)), "repeats its parts too often"
    yield "storage.pt", pt(tensor_pickle(integer(2**40), integer(2**40), b"K\1")), \
        "storage '0' of 1099511627776 elements does not fit 8 bytes"
    yield "view.pt", pt(tensor_pickle(b"K\2", integer(2**40), b"K\1")), "reach beyond a storage of 2 elements"
    yield "encrypted.pt", zipped(Entry("a/data.pkl", b"\x80\2N.", flags=ENCRYPTED, packed=bytes(12) + b"\x80\2N.")), "'a/data.pkl' is encrypted"
    vector = tensor_pickle(b"K\2", b"K\2", b"K\1")
    yield "cut.pt", pt(vector)[:-30], "is not a zip archive"
    yield "overlap.pt", zipped(Entry("a/data.pkl", vector), Entry("a/data/0", FLOATS, at=0)), "is not a zip archive"
    yield "bomb_pickle.pt", pt(Entry("a/data.pkl", vector, DEFLATED, packed=deflated(vector + bytes(4 * MIB)))), \
        "'a/data.pkl' has more bytes than the archive's directory says"
    yield "bomb_storage.pt", pt(vector, Entry("a/data/0", FLOATS, DEFLATED, packed=deflated(FLOATS + bytes(4 * MIB)))), \
        "'a/data/0' has more bytes than the archive's directory says"
    yield "bomb_size.pt", pt(vector, Entry("a/data/0", FLOATS, DEFLATED, size=2**32 - 2)), \
        "cannot hold 4294967294 bytes in"
    yield "cut_legacy.pt", legacy(tensor_pickle(b"K\2", b"K\2", b"K\1", b"N"), struct.pack("<q", 2) + FLOATS[:-1]), \
        "ends too early"
    yield "storage_legacy.pt", legacy(tensor_pickle(integer(2**40), b"K\2", b"K\1", b"N"), struct.pack("<q", 2**40)), \
        "of 1099511627776 elements does not fit"
    yield "system.pt", pt(b"\x80\2cos\nsystem\nX\4\0\0\0true\x85R."), "holds an object of 'os.system'"

    yield "header.npy", b"\x93NUMPY\2\0\xff\xff\xff\xff", "a header of 4294967295 bytes"
    yield "shape.npy", npy("<f4", "(1099511627776,)", bytes(8)), "takes 4398046511104 bytes, but 8 follow"
    yield "overflow.npy", npy("<f4", f"({2**32}, {2**32})", b""), "beyond 2^63 bytes"
    yield "zero.npy", npy("<f4", f"(0, {2**62}, {2**62})", b""), "beyond 2^63 bytes"
    yield "negative.npy", npy("<f4", "(-2,)", bytes(8)), "its shape has a part that is not a size"
    yield "dimensions.npy", npy("<f4", "(" + "1, " * 65 + ")", bytes(4)), "more than 64 dimensions"
    yield "python.npy", npy("<f4", "(__import__('os').system('true'),)", bytes(4)), "its shape has a part that is not a size"
    yield "cut.npy", two[:-1], "takes 8 bytes, but 7 follow the header"

    yield "header.safetensors", safetensors(b"{}", size=2**63 - 1), "9223372036854775807"
    yield "cut.safetensors", safetensors({"a": tensor(0, 8)}, bytes(7)), "data_offsets must be in order and within the file"
    yield "overlap.safetensors", safetensors({"a": tensor(0, 8), "b": tensor(4, 12)}, bytes(12)), \
        "tensor 'b' begins at 4, not at 8"
    yield "gap.safetensors", safetensors({"a": tensor(0, 8), "b": tensor(12, 20)}, bytes(20)), \
        "tensor 'b' begins at 12, not at 8"
    yield "behind.safetensors", safetensors({"a": tensor(0, 8)}, bytes(9)), "the tensors take 8 bytes of 9"
    yield "backwards.safetensors", safetensors({"a": tensor(8, 0)}, bytes(8)), "data_offsets must be in order and within the file"
    yield "overflow.safetensors", safetensors({"a": tensor(0, 8, (2**62, 2**62))}, bytes(8)), "does not take 8 bytes"
    yield "shape.safetensors", safetensors({"a": tensor(0, 8, (2**40,))}, bytes(8)), "does not take 8 bytes"
    yield "negative.safetensors", safetensors({"a": tensor(0, 8, (-2,))}, bytes(8)), "-2 is not a size"
    yield "twice.safetensors", safetensors(b'{"a":' + json.dumps(tensor(0, 8)).encode() + b',"a":'
                                           + json.dumps(tensor(8, 16)).encode() + b"}", bytes(16)), "is used twice"
    yield "nested.safetensors", safetensors(b'{"a":' + b"[" * 4000 + b"]" * 4000 + b"}"), "nest deeper than 64"
    yield "no_json.safetensors", safetensors(b'{"a": ' + b"\xff" * 9), "the header is not JSON"

    yield "outside.index.json", b'{"weight_map": {"a": "../cut.safetensors"}}', "must name a file in the folder of this index for tensor 'a'"
    yield "nested.index.json", b'{"weight_map": ' + b"[" * 4000 + b"]" * 4000 + b"}", "nest deeper than 64"
    yield "cut.index.json", b'{"weight_map": {"a": "one', "is not JSON"

    yield "cut.tokens", b"\1\0\2", "has 3 bytes, not a whole number of tokens of 2 bytes"

    yield "overflow.idx", idx([2**31] * 4, b""), "but its header says shape"
    yield "zero.idx", idx([0] + [2**32 - 1] * 4, b""), "but its header says shape"
    yield "large.idx", idx([2**32 - 1, 2**16], bytes(8)), "but its header says shape"
    yield "dimensions.idx", bytes([0, 0, 8, 255]) + bytes(8), "is cut off: the header should have 255 sizes"
    yield "type.idx", idx([1], b"\1", kind=10), "unknown type 10"
    yield "cut.idx", idx([2, 3], bytes(5)), "says shape (2, 3) and element size 1"
    out = io.BytesIO()
    with gzip.GzipFile("", "wb", mtime=0, fileobj=out) as file:
        file.write(idx([4 * MIB], bytes(4 * MIB)))
    yield "gzip.idx", out.getvalue(), "is compressed by gzip: gunzip it first"

    yield "quote.csv", b'a,b\n"1,2\n3,4\n', "line 2, column 1: the quote is not closed"
    yield "behind.csv", b'a,b\n"1"2,3\n', "line 2, column 1: there is text after the closing quote"
    yield "few.csv", b"a,b\n1,2\n3\n", "line 3, column 1: the line must have 2 fields, but has 1"
    yield "many.csv", b"a,b\n1,2\n3,4,5\n", "line 3, column 3: the line has more than the 2 fields of the first"
    yield "range.csv", b"a\n1e999999999\n", "is out of the range of float32"
    yield "zeros.csv", b"a\n1\0\n", "line 2, column 1: \"1\\x00\" is not a valid float32"
    yield "text.csv", b"a\n" + b"9" * 3000 + b"x\n", "line 2, column 1"


def main():
    os.makedirs(FOLDER, exist_ok=True)
    expected = {}
    for name, content, words in files():
        with open(os.path.join(FOLDER, name), "wb") as file:
            file.write(content)
        expected[name] = words
    with open(os.path.join(FOLDER, "expected.json"), "w") as file:
        json.dump(expected, file, indent=0)
        file.write("\n")


if __name__ == "__main__":
    main()
