"""Programs over leaves that persist (leaf_program.h), in PyTorch, statement by statement.

tend promises that a call which fails has changed nothing. PyTorch does not, so that it is given
what it had before. Three rules of tend's PyTorch does not have; they are checked here before
PyTorch is asked, and counted as "refused":

  - a .grad whose shape or dtype is not its tensor's must not be used: by a backward that adds to
    it, a step, or clip_grad_norm_;
  - set_data must not make a .grad misfit, nor replace the elements of a tensor with history;
  - a step and load_state_dict need state of the parameter's shape and dtype.
"""

import re

import torch

from torch_common import Dice, digest, weights

TENSOR = re.compile(r"([xvb]\d+|m\d+[wb])$")
OPTIMIZER = re.compile(r"o\d+$")


class Refused(Exception):
    """What tend refuses by a rule that PyTorch does not have."""


class Thrown(Exception):
    """What a hook throws."""


def drawn(seed, shape, dtype):
    dice = Dice(seed)
    count = torch.Size(shape).numel()
    x = torch.tensor([-2 + 4 * dice.uniform() for _ in range(count)], dtype=torch.float64)
    x = (x.floor() if dtype == torch.int64 else x).to(dtype)
    return x.reshape(shape).clone()  # a base, no view


def cotangent(which, x):
    return weights(x.numel(), which).reshape(x.shape).to(x.dtype)


def fits(other, x):
    return other is None or (other.shape == x.shape and other.dtype == x.dtype)


def check_fits(other, x):
    if not fits(other, x):
        raise Refused(f"{tuple(other.shape)} {other.dtype} for {tuple(x.shape)} {x.dtype}")


class Snapshot:
    """Elements and gradients, to go back to."""

    def __init__(self, tensors):
        self.entries = {}
        for name, x in tensors.items():
            self.take(name, x)

    def take(self, name, x):
        if x is None:
            return
        gradient = x.grad
        self.entries[name] = (
            x,
            x.detach().clone(),
            gradient,
            None if gradient is None else gradient.detach().clone(),
        )

    def restore(self):
        for x, elements, gradient, gradient_elements in self.entries.values():
            if not torch.equal(x.detach(), elements):
                x.data.copy_(elements)
            if x.grad is not gradient:
                x.grad = gradient
            if gradient is not None and not torch.equal(gradient.detach(), gradient_elements):
                gradient.data.copy_(gradient_elements)


class LeafProgram:
    """Runs statements, and has what they call."""

    def __init__(self):
        self.names = {"torch": torch}
        for name in dir(self):
            if name.startswith("do_"):
                self.names[name.removeprefix("do_")] = getattr(self, name)
        self.snapshot = None
        self.refusal = None  # why a hook has made a statement one that tend refuses

    # What programs call.

    def do_leaf(self, seed, shape, dtype):
        return drawn(seed, shape, dtype).requires_grad_()

    def do_plain(self, seed, shape, dtype):
        return drawn(seed, shape, dtype)

    def do_cotangent(self, which, x):
        return cotangent(which, x)

    def do_backward(self, outputs, cotangents, retain, create):
        self.check_walk(outputs, None)
        torch.autograd.backward(outputs, cotangents, retain_graph=retain, create_graph=create)

    def do_grad(self, output, inputs, cotangent, retain, create, unused):
        self.check_walk([output], inputs)
        gradients = torch.autograd.grad(
            [output], inputs, [cotangent], retain, create, allow_unused=unused
        )
        # Some are expanded, not always the same as in tend.
        return [None if g is None else g.clone() for g in gradients]

    def do_set_data(self, x, data):
        if not x.is_leaf:
            raise Refused("a tensor with history keeps its elements")
        if x.grad is not None:
            check_fits(data, x)
        x.data = data

    def do_linear(self, inputs, outputs):
        module = torch.nn.Linear(inputs, outputs).double()
        module.weight.data = cotangent(1, module.weight)
        module.bias.data = cotangent(2, module.bias)
        return module

    def do_module_to(self, module, dtype):
        for parameter in module.parameters():
            if parameter.dtype != dtype:
                parameter.grad = None  # PyTorch converts it
        module.to(dtype)

    def do_optimizer(self, kind, groups):
        (parameters, options), *more = groups
        optimizer = getattr(torch.optim, kind)(parameters, **options)
        for parameters, options in more:
            optimizer.add_param_group(dict(params=parameters, **options))
        return optimizer

    def do_set_lr(self, optimizer, lr):
        for group in optimizer.param_groups:
            group["lr"] = lr

    def do_step(self, optimizer):
        for group in optimizer.param_groups:
            for x in group["params"]:
                check_fits(x.grad, x)
                if x.grad is not None:
                    self.check_state(optimizer, x)
        optimizer.step()

    def do_reload(self, optimizer):
        for group in optimizer.param_groups:
            for x in group["params"]:
                self.check_state(optimizer, x)
        optimizer.load_state_dict(optimizer.state_dict())

    @staticmethod
    def check_state(optimizer, x):
        for name, value in optimizer.state.get(x, {}).items():
            if name != "step":
                check_fits(value, x)

    def do_clip(self, parameters, most):
        for x in parameters:
            check_fits(x.grad, x)
        gradients = [x.grad for x in parameters if x.grad is not None]
        norm = torch.nn.utils.get_total_norm(gradients)
        # Otherwise PyTorch multiplies by one, where it does not refuse to write.
        expanded = any(0 in g.stride() and g.numel() > 1 for g in gradients)
        if most / (norm + 1e-6) < 1 or expanded:
            torch.nn.utils.clip_grad_norm_(parameters, most)
        return norm.detach().double()

    def do_hook(self, x, kind, name=None):
        return x.register_hook(lambda gradient: self.act(kind, name, gradient))

    # What they do.

    def act(self, kind, name, gradient):
        if kind == "scale":
            return gradient * 2
        if kind == "replace":
            return cotangent(7, gradient)
        if kind == "wrong_shape":
            return torch.stack([gradient, gradient])
        if kind == "throw":
            raise Thrown()
        x = self.names[name]
        with torch.no_grad():
            if kind == "count":
                x.add_(1)
            elif kind == "zero_grad":
                x.grad = None
            elif kind == "set_grad":
                x.grad = cotangent(8, x)
            elif kind == "set_data":
                x.data = cotangent(9, x)
            elif kind == "unsqueeze_":
                x.unsqueeze_(-1)
                self.refusal = "the leaf has another shape than its gradient"
            elif kind == "other_data":
                x.grad = None
                x.data = x.data.unsqueeze(0).clone()
                self.refusal = "the leaf has another shape than its gradient"
        self.snapshot.take(name, x)
        return None

    def check_walk(self, outputs, inputs):
        """What tend finds before a backward changes anything: saved tensors that were changed or
        let go, and gradients that do not fit. Only nodes that lead to `inputs` count."""
        edges = [self.edge(x) for x in outputs]
        wanted = None if inputs is None else {self.edge(x) for x in inputs}
        order, seen = [], set()
        stack = [(node, False) for node in edges if node is not None]
        while stack:
            node, done = stack.pop()
            if done:
                order.append(node)
            elif node not in seen:
                seen.add(node)
                stack.append((node, True))
                stack += [(next_node, False) for next_node, _ in node.next_functions if next_node]
        needed = set()
        for node in order:
            leads = any(n in needed or n in (wanted or ()) for n, _ in node.next_functions if n)
            if wanted is None or leads:
                needed.add(node)
        for node in needed:
            for name in dir(type(node)):
                if name.startswith("_saved_"):
                    getattr(node, name)
        if wanted is None:
            for node in seen:
                self.check_accumulation(node)

    @staticmethod
    def edge(x):
        if x.grad_fn is not None:
            return x.grad_fn
        return torch.autograd.graph.get_gradient_edge(x).node if x.requires_grad else None

    @staticmethod
    def check_accumulation(node):
        if not hasattr(node, "variable") or not node.variable.requires_grad:
            return
        x = node.variable
        check_fits(x.grad, x)
        gradient = x.grad
        if gradient is not None and 0 in gradient.stride() and gradient.numel() > 1:
            x.grad = gradient.clone()  # PyTorch cannot add to it

    # The runner.

    def tensors(self):
        return {name: x for name, x in self.names.items() if TENSOR.match(name)}

    def state(self):
        world = {name: state_of(x) for name, x in self.tensors().items()}
        for name, optimizer in self.names.items():
            if not OPTIMIZER.match(name):
                continue
            parameters = [x for group in optimizer.param_groups for x in group["params"]]
            for i, x in enumerate(parameters):
                for key, value in optimizer.state.get(x, {}).items():
                    if value is None or (key == "step" and not value):
                        continue
                    value = value.long() if key == "step" else value
                    world[f"{name}.{i}.{key}"] = state_of(value)
        return world

    def run(self, statement):
        self.snapshot = Snapshot(self.tensors())
        self.refusal = None
        outcome = {}
        try:
            try:
                exec(statement, self.names)
            finally:
                if self.refusal:
                    raise Refused(self.refusal)
        except Refused as error:
            outcome["refused"] = str(error)
        except Exception as error:
            outcome["error"] = f"{type(error).__name__}: {error}".splitlines()[0]
        if outcome:
            self.snapshot.restore()
        outcome["after"] = self.state()
        return outcome


def state_of(x):
    if x is None:
        return ["none", 0, 0]
    elements, gradient = digest(x), digest(x.grad)
    kind = f"{elements['dtype']} {shape_text(x)}"
    kind += " grad" * x.requires_grad + " leaf" * x.is_leaf + " inference" * x.is_inference()
    state = [kind, elements["sum"], elements["magnitude"]]
    if x.grad is not None:
        kind = f"{gradient['dtype']} {shape_text(x.grad)}" + " grad" * (
            x.is_leaf and x.grad.requires_grad
        )
        state += [kind, gradient["sum"], gradient["magnitude"]]
    return state


def shape_text(x):
    """As tend prints it."""
    return str(tuple(x.shape))


def changes(worlds):
    """Of each world what the one before it has not; None for what is no longer there."""
    before, found = {}, []
    for world in worlds:
        found.append({k: v for k, v in world.items() if before.get(k) != v})
        found[-1].update({k: None for k in before if k not in world})
        before = world
    return found


def run(statements):
    program = LeafProgram()
    outcomes = [program.run(statement) for statement in statements]
    for outcome, changed in zip(outcomes, changes([o.pop("after") for o in outcomes])):
        outcome["changes"] = changed
    return {"statements": outcomes}
