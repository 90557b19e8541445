#!/usr/bin/env python3
"""Reads entries of the benchmark history. An entry is a file that `compare --json FILE` wrote.

    build/release/benchmarks/compare --json benchmarks/history/2027-01-31.json
    python3 benchmarks/history.py benchmarks/history/2027-01-31.json
    python3 benchmarks/history.py benchmarks/history/2026-11-29.json benchmarks/history/2027-01-31.json

With one entry it prints the table of benchmarks/README.md. For each kind of row, the table shows how many times as fast
tend is as the best peer and as libtorch, and which share of the machine's limit tend reaches. With two entries it
prints how many times as fast the second one is, the slowest row first. If the entries come from different machines or
from runs under another load, only their shares of the limit can be compared.
"""

import argparse
import json
import math
import os
import re
import sys


def read(path):
    """The rows of an entry by name, without rows that tend does not have."""
    try:
        with open(path, encoding="utf-8") as file:
            rows = json.load(file)
    except (OSError, ValueError) as error:
        sys.exit(f"history: {path}: {error}")
    keys = {"row", "tend_s", "about"}
    if not isinstance(rows, list) or not all(isinstance(row, dict) and keys <= row.keys() for row in rows):
        sys.exit(f"history: {path} is not a file from compare --json (without --operations)")
    return {row["row"]: row for row in rows if row["tend_s"]}


def percent(share):
    return f"{100 * share:.0f} %" if share is not None else ""


def mean(numbers):
    """The geometric mean, as text; empty without numbers."""
    numbers = [number for number in numbers if number]
    return f"{math.exp(sum(map(math.log, numbers)) / len(numbers)):.2f}" if numbers else ""


def kind(name):
    """What a row measures, without its sizes: "causal MHA" of "causal MHA B8 T64 C128 H4, both"."""
    for group in ("sgemm", "lab step"):
        if name.startswith(group + " "):
            return group
    words = []
    for word in name.split():
        if re.search(r"[0-9]", word) and word != "GPT-2":
            break
        words.append(word)
    return " ".join(words).removesuffix(" of").rstrip(":,")


def print_kinds(entry):
    """A line for each kind of row, in the order of the file."""
    about = next(iter(entry.values()))["about"]
    for name in sorted(about):
        print(f"{name}: {about[name]}")
    print("\n| rows | number | best peer / tend: lowest | mean | libtorch / tend | as installed / tend | of the limit |"
          "\n|---|---:|---:|---:|---:|---:|---:|")
    kinds = {}
    for name, row in entry.items():
        kinds.setdefault(kind(name), []).append(row)
    for name, rows in kinds.items():
        ratios = [row["ratio"] for row in rows if row["ratio"]]
        libtorch = [row["peers"]["libtorch"]["seconds"] / row["tend_s"] for row in rows if "libtorch" in row["peers"]]
        limits = mean(row["of_limit"] for row in rows)
        print(f"| {name} | {len(rows)} | {f'{min(ratios):.2f}' if ratios else ''} | {mean(ratios)} | {mean(libtorch)} | "
              f"{mean(row['as_installed_ratio'] for row in rows)} | {percent(float(limits)) if limits else ''} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new", nargs="?")
    parser.add_argument("--json", metavar="FILE", help="writes the rows")
    options = parser.parse_args()
    if options.json and any(os.path.realpath(options.json) == os.path.realpath(path)
                            for path in (options.old, options.new) if path):
        parser.error("--json would replace an entry")
    if not options.new:
        print_kinds(read(options.old))
        return
    old, new = read(options.old), read(options.new)
    both = [name for name in old if name in new]
    if not both:
        sys.exit("history: the two files have no row in common")

    for name, entry in (("old", old), ("new", new)):
        about = entry[both[0]]["about"]
        print(f"{name}: {about['tend']}; {about.get('machine', 'no machine is named')}")
    rows = [{"row": name, "old_s": old[name]["tend_s"], "new_s": new[name]["tend_s"],
             "speed": old[name]["tend_s"] / new[name]["tend_s"],
             "old_of_limit": old[name]["of_limit"], "new_of_limit": new[name]["of_limit"]} for name in both]
    rows.sort(key=lambda row: row["speed"])
    print("\n| row | old | new | times as fast | of the limit, old | new |\n|---|---:|---:|---:|---:|---:|")
    for row in rows:
        print(f"| {row['row']} | {1e3 * row['old_s']:.3g} ms | {1e3 * row['new_s']:.3g} ms | {row['speed']:.2f} | "
              f"{percent(row['old_of_limit'])} | {percent(row['new_of_limit'])} |")
    print(f"\ngeometric mean over {len(rows)} rows: {mean(row['speed'] for row in rows)}")
    for name in sorted(set(old) ^ set(new)):
        print(f"only in the {'old' if name in old else 'new'} one: {name}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
