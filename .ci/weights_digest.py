#!/usr/bin/env python3
"""Prints the SHA-256 of a model's weights in a checkpoint, by name: python3 .ci/weights_digest.py FILE

Other parts of a checkpoint differ from run to run, for example the duration of each step.
"""

import hashlib
import json
import struct
import sys

with open(sys.argv[1], "rb") as file:
    data = file.read()
(size,) = struct.unpack("<Q", data[:8])
header = json.loads(data[8:8 + size])
digest = hashlib.sha256()
for name in sorted(header):
    if name == "__metadata__" or name.startswith("training."):
        continue
    begin, end = header[name]["data_offsets"]
    digest.update(name.encode() + data[8 + size + begin:8 + size + end])
print(digest.hexdigest())
