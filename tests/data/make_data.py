#!/usr/bin/env python3
"""Writes data.json: the orders in which PyTorch (2.6 was used) returns the examples of a dataset.

Each case also stores the next random number of each generator. It shows whether the case used the right number of
random numbers. Run in this folder: python3 make_data.py
"""
import json
from pathlib import Path

import torch
from torch.utils.data import (DataLoader, Dataset, RandomSampler, SubsetRandomSampler, WeightedRandomSampler,
                              random_split)


class Numbers(Dataset):
    def __init__(self, size):
        self.size = size

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        return index


def following(generator=None):
    return torch.randint(1 << 30, (), generator=generator).item()


def epochs(loader, count):
    return [[batch.tolist() for batch in loader] for _ in range(count)]


def loaders():
    cases = []
    for seed, size, batch, workers, drop_last, own, shuffle in [
            (0, 10, 3, 0, False, False, True), (1, 10, 3, 2, False, False, True),
            (2, 12, 4, 0, True, False, True), (3, 101, 10, 3, True, False, True),
            (4, 1, 1, 0, False, False, True), (5, 9, 3, 0, False, True, True),
            (6, 11, 4, 2, False, True, True), (7, 11, 4, 0, True, True, True),
            (8, 7, 2, 0, False, False, False), (9, 7, 2, 1, False, True, False),
            (2**40 + 3, 500, 64, 0, False, False, True)]:
        torch.manual_seed(seed)
        generator = torch.Generator().manual_seed(seed) if own else None
        loader = DataLoader(Numbers(size), batch_size=batch, shuffle=shuffle, num_workers=workers,
                            drop_last=drop_last, generator=generator)
        cases.append({"seed": seed, "size": size, "batch_size": batch, "num_workers": workers,
                      "drop_last": drop_last, "own": own, "shuffle": shuffle, "epochs": epochs(loader, 3),
                      "next": following(), "own_next": following(generator)})
    return cases


def random_samplers():
    cases = []
    for seed, size, replacement, samples, own in [
            (0, 10, False, None, False), (1, 10, False, None, True), (2, 10, False, 25, True),
            (3, 10, False, 20, False), (4, 10, False, 4, True), (5, 10, True, None, False),
            (6, 10, True, 32, True), (7, 1000, True, 75, True), (8, 3, True, 64, False)]:
        torch.manual_seed(seed)
        generator = torch.Generator().manual_seed(seed) if own else None
        sampler = RandomSampler(Numbers(size), replacement=replacement, num_samples=samples,
                                generator=generator)
        cases.append({"seed": seed, "size": size, "replacement": replacement, "num_samples": samples, "own": own,
                      "passes": [list(sampler), list(sampler)], "next": following(),
                      "own_next": following(generator)})
    return cases


def other_samplers():
    torch.manual_seed(11)
    subset = SubsetRandomSampler([4, 9, 2, 7, 7, 30])
    weighted = WeightedRandomSampler([0.5, 0, 3, 1.25, 0.1], 12)
    without = WeightedRandomSampler([0.5, 0, 3, 1.25, 0.1], 4, replacement=False)
    passes = [[int(i) for i in sampler] for sampler in (subset, subset, weighted, weighted, without, without)]
    loader = DataLoader(Numbers(5), batch_size=5, sampler=weighted)
    return {"seed": 11, "passes": passes, "loader": epochs(loader, 2), "next": following()}


def splits():
    cases = []
    for seed, size, lengths, own in [(0, 10, [3, 7], False), (1, 10, [0.7, 0.3], True), (2, 11, [0.5, 0.25, 0.25], True),
                                     (3, 10, [0.1] * 10, False), (4, 5, [0, 5], False), (5, 103, [0.8, 0.1, 0.1], False),
                                     (6, 4, [1.0], False)]:
        torch.manual_seed(seed)
        generator = torch.Generator().manual_seed(seed) if own else torch.default_generator
        parts = random_split(Numbers(size), lengths, generator)
        cases.append({"seed": seed, "size": size, "lengths": lengths, "own": own,
                      "parts": [part.indices for part in parts], "next": following(generator)})
    return cases


def token_batches():
    """The positions at which the batches (x, y) of nanoGPT's get_batch start."""
    torch.manual_seed(1337)
    starts = [torch.randint(1000 - 8, (4,)).tolist() for _ in range(3)]
    return {"seed": 1337, "tokens": 1000, "block_size": 8, "batch_size": 4, "starts": starts}


def main():
    stored = {"loaders": loaders(), "random_samplers": random_samplers(), "other_samplers": other_samplers(),
              "splits": splits(), "token_batches": token_batches()}
    Path("data.json").write_text(json.dumps(stored, separators=(",", ":")) + "\n")


main()
