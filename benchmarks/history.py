#!/usr/bin/env python3
"""Compares two entries of the benchmark history, which `compare --json FILE` wrote.

    build/release/benchmarks/compare --json benchmarks/history/2027-01-31.json
    python3 benchmarks/history.py benchmarks/history/2026-11-24.json benchmarks/history/2027-01-31.json

Prints how many times as fast the second one is, the slowest row first, and what share of the row's limit
tend reached. On different machines, or with another load, only the shares say something.
"""

import argparse
import json
import math
import os
import sys


def read(path):
    """The rows of an entry by name, without those that tend does not have."""
    try:
        with open(path, encoding="utf-8") as file:
            rows = json.load(file)
    except (OSError, ValueError) as error:
        sys.exit(f"history: {path}: {error}")
    keys = {"row", "tend_s", "about"}
    if not isinstance(rows, list) or not all(isinstance(row, dict) and keys <= row.keys() for row in rows):
        sys.exit(f"history: {path} is no file of compare --json (without --operations)")
    return {row["row"]: row for row in rows if row["tend_s"]}


def percent(share):
    return f"{100 * share:.0f} %" if share is not None else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--json", metavar="FILE", help="writes the rows")
    options = parser.parse_args()
    if options.json and any(os.path.realpath(options.json) == os.path.realpath(path)
                            for path in (options.old, options.new)):
        parser.error("--json would replace an entry")
    old, new = read(options.old), read(options.new)
    both = [name for name in old if name in new]
    if not both:
        sys.exit("history: the two have no row in common")

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
    mean = math.exp(sum(math.log(row["speed"]) for row in rows) / len(rows))
    print(f"\ngeometric mean over {len(rows)} rows: {mean:.2f}")
    for name in sorted(set(old) ^ set(new)):
        print(f"only in the {'old' if name in old else 'new'} one: {name}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
