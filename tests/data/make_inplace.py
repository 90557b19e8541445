"""Prints tests/data/inplace.json: the results and gradients of in-place programs in PyTorch.

    python3 tests/data/make_inplace.py > tests/data/inplace.json

tests/autograd/inplace_programs_test.cpp has the same programs with the same names. Needs PyTorch; the
stored results are from 2.6.
"""

import json

import torch

PROGRAMS = []


def program(f):
    PROGRAMS.append(f)
    return f


# The arguments of each program are the leaves x (3, 4) and w (4), and y = 2 x.


@program
def mul_whole(x, w, y):
    y.mul_(w)
    return y


@program
def add_to_row(x, w, y):
    y[0].add_(w)
    return y


@program
def subtract_then_divide(x, w, y):
    y -= w
    y /= w
    return y * w


@program
def assign_row(x, w, y):
    y[1] = w
    return y


@program
def assign_element(x, w, y):
    y[0, 1] = w[2]
    return y * y


@program
def assign_number(x, w, y):
    y[2, 3] = 7.0
    return y * y


@program
def assign_block(x, w, y):
    y[:, 1:3] = w[:2]
    return y


@program
def assign_strided(x, w, y):
    y[::2, ::2] = w[1]
    return y * w


@program
def column_of_transposed(x, w, y):
    y.t()[1].mul_(w[:3])
    return y


@program
def view_of_view(x, w, y):
    y[1:][:, 2].add_(w[:2])
    return y


@program
def old_view_after_write_to_base(x, w, y):
    v = y[0]
    y.mul_(3)
    return v * w


@program
def old_view_after_write_to_other(x, w, y):
    column = y[:, 0]
    y[0].mul_(w)
    return column * column


@program
def view_and_base_after_write(x, w, y):
    v = y[0]
    v.mul_(w)
    return y * v


@program
def twice(x, w, y):
    y[0].mul_(w)
    y[0].add_(w)
    y.add_(x)
    return y


@program
def row_added_to_row(x, w, y):
    y[0].add_(y[1])
    return y * w


@program
def shift_rows(x, w, y):
    y[1:] = y[:-1].clone()
    return y * w


@program
def diagonal(x, w, y):
    y[:, :3].diagonal().mul_(w[:3])
    return y


@program
def flat_view(x, w, y):
    y.view(-1)[5:9].mul_(w)
    return y


@program
def constant_base(x, w, y):
    z = torch.zeros(3, 4, dtype=torch.float64)
    z[1] = w
    z[2] = x[0]
    return z * z


@program
def zero_and_fill(x, w, y):
    y[0].zero_()
    y[:, 0].fill_(5)
    return y * w


@program
def masked_fill_row(x, w, y):
    y[1].masked_fill_(torch.tensor([True, False, True, False]), -1.0)
    return y * w


@program
def read_before_and_after(x, w, y):
    before = y.sum()
    y[0].mul_(2)
    return before * y.sum()


@program
def accumulate_rows(x, w, y):
    out = torch.zeros(4, dtype=torch.float64)
    for row in y:
        out += row * w
    return out


@program
def through_permuted_view(x, w, y):
    y.unsqueeze(0).permute(1, 0, 2)[1, 0].add_(w)
    return y * y


@program
def without_grad_mode(x, w, y):
    with torch.no_grad():
        y[0] = 1.0
    return y * w


@program
def through_detached(x, w, y):
    y.detach()[0] = 5.0
    return y * w


@program
def saved_output_in_slice(x, w, y):
    y[:, 1:].sigmoid_()
    return y * w


@program
def chained(x, w, y):
    y.add_(0.5).mul_(w).relu_()
    return y


@program
def broadcast_source(x, w, y):
    y.copy_(w)
    return y * x


@program
def overlapping_view_of_written_base(x, w, y):
    windows = y.unfold(1, 2, 1)
    y.mul_(w)
    return windows * windows


@program
def overlapping_view_over_rows(x, w, y):
    windows = y.view(-1).unfold(0, 5, 3)
    y[1].add_(w)
    return windows * windows


@program
def expanded_overlapping_view(x, w, y):
    windows = y.unfold(1, 3, 1).expand(2, -1, -1, -1)
    y.mul_(w)
    return windows * windows


@program
def view_that_overlaps_twice(x, w, y):
    windows = y.unfold(0, 2, 1).unfold(1, 3, 1)
    y[:, 2:] = w[:2]
    return windows * windows


@program
def transposed_base_of_overlapping_view(x, w, y):
    windows = y.t().unfold(0, 2, 1)
    y.t()[0].mul_(w[1])
    return windows * windows


@program
def write_to_windows_that_only_touch(x, w, y):
    windows = y.unfold(1, 2, 1)
    windows[:, ::2].mul_(w[:2])
    return windows * windows


@program
def old_history_counts_for_nothing(x, w, y):
    y.copy_(w[0])
    return y


def leaf(*shape):
    count = torch.Size(shape).numel()
    values = (torch.arange(count, dtype=torch.float64) * 7 % 11 - 4.5) / 4
    return values.reshape(shape).requires_grad_()


def main():
    results = {}
    for f in PROGRAMS:
        x, w = leaf(3, 4), leaf(4)
        out = f(x, w, x * 2)
        count = out.numel()
        weights = (torch.arange(count, dtype=torch.float64) + 1).reshape(out.shape) / 8
        (out * weights).sum().backward()
        results[f.__name__] = {
            "out": out.reshape(-1).tolist(),
            "x": None if x.grad is None else x.grad.reshape(-1).tolist(),
            "w": None if w.grad is None else w.grad.reshape(-1).tolist(),
        }
    print("{" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in results.items()) + "}")


if __name__ == "__main__":
    main()
