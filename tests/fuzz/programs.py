"""Writes random programs, and PyTorch's results after each of their steps.

tests/data/make_pytorch.py stores them in tests/data/fuzz.json, and tests/fuzz/programs_test.cpp runs the
same programs in tend. Needs PyTorch 2.6. For a long run, write more programs and let the test read them:

    TEND_OP_ROWS=rows.json build/release/tests/test_autograd "every row of*"
    python3 tests/fuzz/programs.py rows.json --seed 1000000 --seconds 3600 --store found.json
    TEND_FUZZ_PROGRAMS=found.json build/release/tests/test_fuzz

--show prints the program of --seed, one step per line.

A program is a list of steps [kind, ...]. `Machine` has a method for each kind. Most steps apply a row of
the operation table to tensors of the program. `fit` gives these tensors the shape and the interval of the
row's sample, so that every row can follow every other. A program is left out if PyTorch fails, if numbers
are huge, or if a tiny change of the leaves changes the results, which then depend on rounding.
"""

import argparse
import json
import random
import re
import time
import warnings

import torch
import torch.nn.functional as F

warnings.filterwarnings("ignore")

DTYPES = {"bool": torch.bool, "int64": torch.int64, "float32": torch.float32, "float64": torch.float64}
LARGEST = 1e4  # limit for the sum of absolute values of a tensor


class Unfit(Exception):
    """Raised for a program that is not stored."""


def weights(count, which):
    places = torch.arange(count, dtype=torch.int64)
    return ((places * 7919 + which * 104729 + 17) % 201 - 100).double() / 100


def weights_like(x, which):
    return weights(x.numel(), which).reshape(x.shape).to(x.dtype)


def fit(x, like):
    """A tensor with the shape, interval and dtype of `like`, computed from x's elements, repeated or cut off."""
    count = like.numel()
    x = x.reshape(-1)
    x = x if x.is_floating_point() else x.double()
    line = torch.cat([x] * (count // x.numel() + 1)).narrow(0, 0, count).reshape(like.shape)
    low, high = (float(like.min()), float(like.max())) if count else (0.0, 0.0)
    return (torch.sigmoid(line + weights_like(line, 3)) * (high - low) + low).to(like.dtype)


def view(x, kind):
    return {
        "row": lambda: x[0],
        "narrow": lambda: x.narrow(0, 0, 1),
        "transpose": lambda: x.transpose(0, -1),
        "unsqueeze": lambda: x.unsqueeze(0),
        "diagonal": lambda: x.diagonal(0, -2, -1),
        "expand": lambda: x.expand(2, *x.shape),
        None: lambda: x,
    }[kind]()


VIEWS = ["row", "narrow", "transpose", "unsqueeze", "diagonal", "expand"]
WRITES = ["mul_", "add_", "tanh_", "sigmoid_", "fill_", "zero_", "copy_", "masked_fill_"]
MISTAKES = ["grad of another shape", "write of another shape", "write to a leaf", "dimension",
            "no graph", "frozen value", "cotangent of another shape", "no cotangent", "shapes", "integers"]


class Machine:
    """Runs steps. A step defines new tensors with the next names (v0, v1, ...), or changes existing ones."""

    def __init__(self, rows, shift=0.0):
        self.rows, self.shift = rows, shift
        self.names, self.leaves, self.optimizers, self.hooks, self.count = {}, [], [], [], 0

    def run(self, step):
        getattr(self, step[0])(*step[1:])

    def define(self, *tensors):
        for x in tensors:
            self.names[f"v{self.count}"] = x
            self.count += 1

    def tensors(self, names):
        return [self.names[name] for name in names]

    def leaf(self, shape, dtype, values):
        x = torch.tensor(values, dtype=torch.float64).reshape(shape)
        x = x + self.shift * (3e-6 if dtype == "float32" else 1e-11) * weights_like(x, 4)
        self.leaves.append(f"v{self.count}")
        self.define(x.to(DTYPES[dtype]).clone().requires_grad_())

    def sample(self, expression, number):
        return [torch.tensor(each["values"], dtype=DTYPES[each["dtype"]]).reshape(each["shape"])
                for each in self.rows[expression][number]]

    def row(self, expression, sample, arguments):
        """Runs "FAMILY: EXPRESSION" of a row. An argument is the name of a tensor, or None for the sample's input."""
        inputs = [like if name is None else fit(self.names[name], like)
                  for name, like in zip(arguments, self.sample(expression, sample))]
        python = expression.partition(": ")[2]
        result = eval(python, {"torch": torch, "F": F, "x": inputs} | dict(zip("abcdefg", inputs)))
        self.define(*([result] if isinstance(result, torch.Tensor) else result))

    def view(self, name, kind):
        self.define(view(self.names[name], kind))

    def write(self, name, kind, function, other, no_grad):
        with torch.set_grad_enabled(not no_grad):
            x = view(self.names[name], kind)
            y = None if other is None else fit(self.names[other], weights_like(x, 5))
            {
                "mul_": lambda: x.mul_(-0.75),
                "add_": lambda: x.add_(y),
                "tanh_": lambda: x.tanh_(),
                "sigmoid_": lambda: x.sigmoid_(),
                "fill_": lambda: x.fill_(0.25),
                "zero_": lambda: x.zero_(),
                "copy_": lambda: x.copy_(y),
                "masked_fill_": lambda: x.masked_fill_(weights_like(x, 6) > 0, 0.125),
            }[function]()

    def backward(self, names, retain):
        outputs = self.tensors(names)
        cotangents = [weights_like(x, 10 + i) for i, x in enumerate(outputs)]
        torch.autograd.backward(outputs, cotangents, retain_graph=retain)

    def grad(self, outputs, inputs):
        """Defines gradients that have a graph. An input without a gradient gets zeros."""
        outputs, inputs = self.tensors(outputs), self.tensors(inputs)
        cotangents = [weights_like(x, 20 + i) for i, x in enumerate(outputs)]
        found = torch.autograd.grad(outputs, inputs, cotangents, create_graph=True, allow_unused=True)
        # clone(), because some gradients are expanded tensors, and not always the same ones as in tend.
        self.define(*(torch.zeros_like(x) if g is None else g.clone() for g, x in zip(found, inputs)))

    def zero_grad(self, name):
        self.names[name].grad = None

    def set_grad(self, name):
        self.names[name].grad = weights_like(self.names[name], 7)

    def requires_grad_(self, name, value):
        self.names[name].requires_grad_(value)

    def optimizer(self, kind, options, names):
        self.optimizers.append(getattr(torch.optim, kind)(self.tensors(names), **options))

    def step(self, number):
        self.optimizers[number].step()

    def clip(self, names, most):
        torch.nn.utils.clip_grad_norm_(self.tensors(names), most)

    def hook(self, name, kind):
        act = (lambda g: g * 2) if kind == "scale" else (lambda g: weights_like(g, 8))
        self.hooks.append(self.names[name].register_hook(act))

    def remove_hook(self, number):
        self.hooks[number].remove()

    def forget(self):
        """Deletes all tensors except the leaves."""
        self.names = {name: x for name, x in self.names.items() if name in self.leaves}

    def mistake(self, kind, name):
        """A call that must fail and must change nothing."""
        x = self.names[name]
        larger = weights_like(torch.empty(2, *[n + 2 for n in x.shape]), 9).to(x.dtype)
        try:
            if kind == "grad of another shape":
                x.grad = larger
            elif kind == "write of another shape":
                with torch.no_grad():
                    x.add_(larger)
            elif kind == "write to a leaf":
                x.mul_(2)
            elif kind == "dimension":
                x.transpose(0, 7)
            elif kind == "no graph":
                x.detach().backward(torch.ones_like(x))
            elif kind == "frozen value":
                x.requires_grad_(False)
            elif kind == "cotangent of another shape":
                x.backward(larger)
            elif kind == "no cotangent":
                x.backward()
            elif kind == "shapes":
                torch.matmul(larger, larger)
            elif kind == "integers":
                x.long().requires_grad_()
        except (RuntimeError, IndexError):
            return
        raise Unfit

    def state(self):
        return {name: state_of(x) for name, x in self.names.items()}


def digest(x):
    terms = x.detach().double().reshape(-1)
    terms = terms * (1 + weights(terms.numel(), 1000) / 2)
    total, size = float(terms.sum()), float(terms.abs().sum())
    if not size <= LARGEST:  # NaN, too
        raise Unfit
    return [float(f"{total:.13g}"), float(f"{size:.13g}")]


def state_of(x):
    dtype = str(x.dtype).removeprefix("torch.")
    state = [f"{dtype} {tuple(x.shape)}" + " grad" * x.requires_grad + " leaf" * x.is_leaf, *digest(x)]
    return state if x.grad is None or not x.is_leaf else state + digest(x.grad)


class Writer:
    """Chooses the steps of a program while it runs."""

    def __init__(self, seed, rows):
        self.choose, self.rows, self.steps = random.Random(seed), rows, []
        self.machine = Machine(rows)
        self.order = {}  # how many times the value of a tensor was differentiated

    def add(self, *step):
        self.machine.run(step)
        self.steps.append(list(step))
        used = re.findall(r'"(v\d+)"', json.dumps(step))
        order = max((self.order.get(name, 0) for name in used), default=0) + (step[0] == "grad")
        for name in self.machine.names:
            if name not in self.order or step[0] == "write":
                self.order[name] = max(order, self.order.get(name, 0))

    def any(self, fits=lambda name, x: True):
        """The name of a random tensor, or None if no tensor fits. Later tensors are more likely."""
        names = [name for name, x in self.machine.names.items() if x.numel() and fits(name, x)]
        return names[int(len(names) * self.choose.random() ** 0.5)] if names else None

    def real(self):
        return self.any(lambda name, x: x.is_floating_point())

    def tracked(self, most=1):
        """The name of a tensor with a grad_fn whose value was differentiated at most `most` times.

        There is a limit because PyTorch's third derivative of layer_norm is wrong: it treats the saved
        statistics as constants.
        """
        return self.any(lambda name, x: x.requires_grad and not x.is_leaf and self.order[name] <= most)

    def some_leaf(self):
        return self.choose.choice(self.machine.leaves)

    def add_leaf(self):
        shape = [0 if self.choose.random() < 0.02 else self.choose.randint(1, 4)
                 for _ in range(self.choose.randint(0, 3))]
        count = torch.Size(shape).numel()
        dtype = "float32" if self.choose.random() < 0.1 else "float64"
        self.add("leaf", shape, dtype, [round(self.choose.uniform(-2, 2), 3) for _ in range(count)])

    def add_row(self):
        # If the expression is detached, PyTorch has no gradient to compare with.
        expression = self.choose.choice([each for each in self.rows if ".detach()" not in each])
        number = self.choose.randrange(len(self.rows[expression]))
        arguments = [self.real() if each["gradient"] and self.choose.random() < 0.9 else None
                     for each in self.rows[expression][number]]
        try:
            self.add("row", expression, number, arguments)
        except (RuntimeError, IndexError, ValueError, TypeError):
            pass  # PyTorch does not support every sample

    def add_view(self):
        name, kind = self.any(), self.choose.choice(VIEWS)
        if name and self.machine.names[name].dim() >= (2 if kind == "diagonal" else 1):
            self.add("view", name, kind)

    def add_write(self):
        no_grad = self.choose.random() < 0.3
        name = self.some_leaf() if no_grad else self.tracked()
        kind = self.choose.choice([None, None, "row", "narrow", "transpose", "diagonal"])
        if not name or (kind and self.machine.names[name].dim() < 2) or not self.machine.names[name].numel():
            return
        if no_grad:
            self.add("forget")
        function = self.choose.choice(WRITES)
        other = self.real() if function in ("add_", "copy_") else None
        self.add("write", name, kind, function, other, no_grad)

    def add_backward(self):
        names = [name for name in {self.tracked(), self.tracked()} if name]
        if names:
            self.add("backward", sorted(names), self.choose.random() < 0.7)

    def add_grad(self):
        names = [name for name in self.machine.leaves if self.machine.names[name].requires_grad]
        output = self.tracked()
        if names and output:
            self.add("grad", [output], names)

    def add_optimizer(self):
        if self.choose.random() < 0.5:
            momentum = self.choose.choice([0.0, 0.9])
            kind, options = "SGD", {"lr": 0.1, "momentum": momentum, "nesterov": momentum > 0 and
                                    self.choose.random() < 0.5, "weight_decay": 0.1}
        else:
            # With the default eps, a gradient that is zero up to rounding would make a step of full length.
            kind, options = "AdamW", {"lr": 0.03, "betas": [0.9, 0.99], "eps": 1e-3, "weight_decay": 0.01}
        self.add("optimizer", kind, options, self.machine.leaves[:2])

    def add_step(self):
        if self.machine.optimizers:
            self.add("forget")  # graphs may have saved the parameters
            self.add("step", self.choose.randrange(len(self.machine.optimizers)))

    def add_about_leaf(self):
        kind, name = self.choose.choice(["zero_grad", "set_grad", "hook", "requires_grad_", "clip"]), self.some_leaf()
        if kind == "clip":
            self.add("clip", self.machine.leaves, 0.5)
        elif kind == "hook":
            if self.machine.names[name].requires_grad:
                self.add("hook", name, self.choose.choice(["scale", "replace"]))
        elif kind == "requires_grad_":
            self.add("forget")
            self.add(kind, name, not self.machine.names[name].requires_grad)
        else:
            self.add(kind, name)

    def add_remove_hook(self):
        if self.machine.hooks:
            self.add("remove_hook", self.choose.randrange(len(self.machine.hooks)))

    def add_mistake(self):
        name, kind = self.real(), self.choose.choice(MISTAKES)
        if name and not (kind == "no cotangent" and self.machine.names[name].numel() == 1):
            self.add("mistake", kind, name)

    def write(self):
        for _ in range(self.choose.randint(1, 3)):
            self.add_leaf()
        kinds = {self.add_row: 12, self.add_view: 3, self.add_write: 3, self.add_backward: 3,
                 self.add_grad: 1, self.add_optimizer: 1, self.add_step: 2, self.add_about_leaf: 2,
                 self.add_remove_hook: 0.5, self.add_mistake: 1}
        for add in self.choose.choices(list(kinds), list(kinds.values()), k=self.choose.randint(4, 24)):
            add()
        self.add_grad()
        self.add_grad()  # usually differentiates the gradients from the first call
        return self.steps


def run(steps, rows, shift=0.0):
    """The state after each step."""
    machine, states = Machine(rows, shift), []
    for step in steps:
        machine.run(step)
        states.append(machine.state())
    return states


def check_stable(states, others):
    for state, other in zip(states, others):
        single = any("float32" in each[0] for each in state.values())
        for name, numbers in state.items():
            if len(numbers) != len(other[name]) or numbers[0] != other[name][0]:
                raise Unfit
            allowed = (5e-4 if single else 2.5e-10) * max(1, *numbers[2::2])
            if any(abs(a - b) > allowed for a, b in zip(numbers[1:], other[name][1:])):
                raise Unfit


def changes(states):
    """The changes of each state from the one before it. A deleted name has the value None."""
    before, found = {}, []
    for state in states:
        found.append({k: v for k, v in state.items() if before.get(k) != v})
        found[-1].update({k: None for k in before if k not in state})
        before = state
    return found


def program(seed, rows):
    """A program with its results, or None if the results cannot be compared."""
    try:
        steps = Writer(seed, rows).write()
        states = run(steps, rows)
        check_stable(states, run(steps, rows, shift=1.0))
    except (Unfit, RuntimeError, TypeError, IndexError, ValueError):
        return None
    return {"seed": seed, "steps": steps, "changes": changes(states)}


def by_name(families):
    """The rows of the operation table, with keys "FAMILY: EXPRESSION"."""
    return {f"{family}: {k}": v for family, rows in families.items() for k, v in rows.items()}


def write_many(rows, seed, count=400, seconds=None):
    torch.set_num_threads(1)
    torch.backends.cuda.enable_flash_sdp(False)  # PyTorch's fused attention has no second derivative
    found, first, start = [], seed, time.monotonic()
    while time.monotonic() - start < seconds if seconds else len(found) < count:
        found += filter(None, [program(seed, rows)])
        seed += 1
    print(f"{len(found)} programs, {seed - first - len(found)} others left out")
    return found


def store(found, path):
    with open(path, "w", encoding="utf-8") as file:
        file.write("[" + ",\n".join(json.dumps(p, separators=(",", ":")) for p in found) + "]\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--programs", type=int, default=400)
    parser.add_argument("--seconds", type=float, help="run for this time instead of --programs")
    parser.add_argument("--store")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    with open(options.rows, encoding="utf-8") as file:
        rows = by_name(json.load(file))
    if options.show:
        print(*map(json.dumps, Writer(options.seed, rows).write()), sep="\n")
        return
    found = write_many(rows, options.seed, options.programs, options.seconds)
    if options.store:
        store(found, options.store)


if __name__ == "__main__":
    main()
