#!/usr/bin/env python3
"""The worker of `compare --operations` for PyTorch.

It answers the commands that worker.h describes. `prepare` reads the case from the file that the
environment variable COMPARE_INPUTS names. The worker of tend has written this file.
"""

import ast
import contextlib
import functools
import inspect
import json
import math
import os
import sys
import time
import warnings

import numpy
import torch
import torch.nn.functional as F

LONG = 0.25  # work of this many seconds gets no second warm-up
KEPT = 1 << 16  # about so many elements of a result tensor are compared
DTYPES = {"bool": "?", "int64": "<i8", "float32": "<f4", "float64": "<f8"}


def read_case():
    with open(os.environ["COMPARE_INPUTS"], "rb") as file:
        case = json.loads(file.readline())
        inputs = []
        for each in case["inputs"]:
            dtype = numpy.dtype(DTYPES[each["dtype"]])
            count = math.prod(each["shape"])
            values = numpy.frombuffer(file.read(count * dtype.itemsize), dtype)
            x = torch.from_numpy(values.copy()).reshape(each["shape"])
            if case["transposed"]:
                order = list(reversed(range(x.dim())))
                x = x.permute(order).contiguous().permute(order)
            inputs.append(x.requires_grad_(each["gradient"]))
    return case, inputs


@functools.lru_cache(maxsize=4)  # making a large cotangent takes longer than the measured operation
def cotangent_numbers(count, dtype):
    return ((7919 * torch.arange(count) % 201 - 100).double() / 100).to(dtype)


def cotangent(output):
    """The same numbers as in operation_cases.cpp."""
    return cotangent_numbers(output.numel(), output.dtype).reshape(output.shape)


def in_place_form(python, name, names):
    """The in-place call for an expression such as torch.exp(a), F.relu(a), a.exp() or a + b."""
    with contextlib.suppress(SyntaxError, AttributeError):
        tree = ast.parse(python, mode="eval").body
        if isinstance(tree, (ast.BinOp, ast.Compare)):
            other = tree.right if isinstance(tree, ast.BinOp) else tree.comparators[0]
            arguments = [ast.unparse(other)]
        else:
            given = tree.args if ast.unparse(tree.func).split(".")[0] in ("torch", "F") else [None, *tree.args]
            arguments = [ast.unparse(each) for each in given[1:]]
            arguments += [ast.unparse(each) for each in tree.keywords]
        rest = ", ".join(arguments)
        for call in (f"a.{name}({rest})", f"torch.{name}(a, {rest})", f"F.{name}(a, {rest})"):
            owner = eval(call.split("(")[0].rpartition(".")[0], names)
            if hasattr(owner, name):
                return eval("lambda: " + call, names)
        function = name.removesuffix("_")  # such as F.silu, which has an argument inplace
        if "inplace" in inspect.signature(getattr(F, function)).parameters:
            return eval(f"lambda: F.{function}({', '.join(['a', *arguments])}, inplace=True)", names)
    raise NotImplementedError(name)


class Task:
    def __init__(self):
        case, self.inputs = read_case()
        names = {"torch": torch, "F": F, "x": self.inputs} | dict(zip("abcdefg", self.inputs))
        self.call = eval("lambda: " + case["python"], names)
        self.backward = case["backward"]
        if case["in_place"]:
            self.original = self.inputs[0].detach().clone()
            self.call = self.in_place(in_place_form(case["python"], case["in_place"], names))
        self.wanted = [x for x in self.inputs if x.requires_grad]
        self.cotangents = None
        self.count = 0
        self.once()

    def in_place(self, call):
        """Resets the first input before every eighth call, like run_in_place in operation_cases.cpp."""

        def restored():
            if self.calls % 8 == 0:
                self.inputs[0].copy_(self.original)
            self.calls += 1
            return call()

        self.calls = 0
        return restored

    def once(self):
        if not self.backward:
            with torch.no_grad():
                self.outputs = self.call()
            return
        self.outputs = self.call()
        single = isinstance(self.outputs, torch.Tensor)
        outputs = [self.outputs] if single else self.outputs
        tracked = [o for o in outputs if o.requires_grad]
        if self.cotangents is None:
            self.cotangents = [cotangent(o) for o in tracked]
        self.gradients = torch.autograd.grad(
            tracked, self.wanted, self.cotangents, allow_unused=True
        )

    def run(self, count):
        for _ in range(count):
            self.once()

    def measure(self):
        start = time.perf_counter()
        self.run(self.count)
        return time.perf_counter() - start

    def calibrate(self, enough):
        self.count = 1
        seconds = self.measure()
        if seconds < LONG:
            seconds = self.measure()
        while seconds < enough:
            wanted = math.ceil(self.count * 1.2 * enough / max(seconds, 1e-9))
            self.count = min(max(wanted, self.count + 1), 20 * self.count)
            seconds = self.measure()
        self.is_long = seconds / self.count >= LONG

    def time(self, milliseconds):
        if self.count == 0:
            self.calibrate(milliseconds / 1000)
        if not self.is_long:
            self.run(1 + self.count // 10)
        return self.measure() / self.count

    def tensors(self):
        self.calls = 0  # so that an in-place call resets its tensor first
        self.once()
        single = isinstance(self.outputs, torch.Tensor)
        yield from [self.outputs] if single else self.outputs
        if self.backward:
            for x, gradient in zip(self.wanted, self.gradients):
                yield torch.zeros_like(x) if gradient is None else gradient

    def write_result(self, path):
        count = 0
        with open(path, "wb") as file:
            for tensor in self.tensors():
                values = tensor.detach().reshape(-1).to(torch.float32).numpy()
                if len(values) > KEPT:
                    values = values[:: (len(values) // KEPT) | 1]
                file.write(len(values).to_bytes(8, sys.byteorder))
                file.write(values.tobytes())
                count += 1
        return count


class Server:
    task = None

    def answer(self, line):
        command, *words = line.split()
        if command == "about":
            about = f"PyTorch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}"
            return f"about {about}, {torch.get_num_threads()} threads"
        if command == "prepare":
            self.task = None
            try:
                self.task = Task()
            except NotImplementedError:  # such as a derivative that PyTorch lacks
                return "unsupported"
            return "ready"
        if command == "release":
            self.task = None
            return "done 0"
        if command == "result":
            return f"done {self.task.write_result(words[0])}"
        if command == "time":
            return f"seconds {self.task.time(int(words[0])):.9g}"
        raise ValueError("unknown command: " + command)


def main():
    warnings.filterwarnings("ignore")
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    server = Server()
    for line in sys.stdin:
        try:
            answer = server.answer(line)
        except Exception as error:
            answer = f"failed {type(error).__name__}: {error}".replace("\n", " ")
        print(answer, file=answers, flush=True)


if __name__ == "__main__":
    main()
