#!/usr/bin/env python3
"""Prints which part of each floor's branches the tests take.

    cmake --workflow --preset coverage

builds with Clang's counters and calls this with the folder of the programs. A branch is one way out of a
condition; it counts as taken when any copy of a template took it. Kernels are compiled for this machine's SIMD
target alone: Clang counts nothing in the copies for others, as a system header includes them. Files below LIMIT
follow by name, with the conditions that always went one way and what tests/coverage.txt says of them; a file of
which it says nothing is a failure.
"""

import argparse
import bisect
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

LIMIT = 95


def tool(name, cache):
    """LLVM's tool of this name, of the version of the compiler that CMake's cache names: formats of counts differ."""
    compiler = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", cache.read_text(), re.MULTILINE)[1]
    version = subprocess.run([compiler, "-dumpversion"], capture_output=True, text=True, check=True).stdout
    found = shutil.which(f"{name}-{version.split('.')[0]}") or shutil.which(name)
    return found or sys.exit(f"coverage.py: {name} is not installed (apt-get install llvm)")


def run_tests(programs, folder, profiles):
    """Each program once. What it counted goes to `profiles`; what fails is named."""
    # Written by exit() and by end_child() of tests/end_child.h: what a child counted that a test kills is lost.
    # Counters that are in the file at once (%c) cannot be kept in registers, and training takes 30 times as long.
    environment = {**os.environ, "LLVM_PROFILE_FILE": f"{profiles}/%m.profraw"}
    failed = []
    for program in programs:
        print(f"{program} ...", flush=True)
        ended = subprocess.run([folder / program, "~[slow]~[.]"], cwd=folder, env=environment, check=False,
                               capture_output=True, text=True)
        print("".join(ended.stdout[-200:].strip().splitlines()[-1:]), flush=True)
        if ended.returncode != 0:
            print(ended.stdout[-20000:])
            failed.append(program)
    return failed


def merge(profdata, target, profiles):
    """Joins profiles into one file. False where one of them is no profile."""
    return subprocess.run([profdata, "merge", "-sparse", "-o", target, *profiles], check=False).returncode == 0


def count(programs, folder, profdata, merged):
    """Runs the tests; what they counted, joined by `profdata`, is in the file `merged` then. Returns the programs that
    failed."""
    failed, joined = [], []
    with tempfile.TemporaryDirectory() as kept:
        for program in programs:
            joined.append(f"{kept}/{program}.profdata")
            for attempt in range(3):
                with tempfile.TemporaryDirectory() as profiles:
                    failed_now = run_tests([program], folder, profiles)
                    if merge(profdata, joined[-1], pathlib.Path(profiles).glob("*")):
                        break
                # A test has killed a child while that wrote the file that all processes share.
                print(f"{program} left counts that were cut off: once more" if attempt < 2 else
                      sys.exit(f"coverage.py: {program} left counts that were cut off, three times"), flush=True)
            failed += failed_now
        if not merge(profdata, merged, joined):
            sys.exit("coverage.py: the counts cannot be joined")
    return failed


def branches(data, root, floors):
    """By file of a floor: {place of a condition: [times true, times false]}."""
    result = {}
    for entry in data["data"][0]["files"]:
        path = pathlib.Path(entry["filename"])
        if not path.is_relative_to(root) or path.relative_to(root).parts[0] not in floors:
            continue
        counts = collections.defaultdict(lambda: [0, 0])
        lines = path.read_text().splitlines()
        starts = [tuple(segment[:2]) for segment in entry["segments"]]
        for line, column, end_line, end_column, true, false, *_ in entry.get("branches", []):
            segment = entry["segments"][bisect.bisect(starts, (line, column)) - 1]
            if true == false == 0 and segment[2] > 0:
                continue  # a condition that the compiler knew
            if lines[line - 1][: column - 1].rstrip().endswith("switch ("):
                continue  # the default that a switch over every enumerator does not need
            place = counts[line, column, end_line, end_column]
            place[0] += true
            place[1] += false
        result[str(path.relative_to(root))] = counts
    return result


def part(counts):
    """(branches taken, branches) of conditions."""
    ways = [way for place in counts for way in place]
    return sum(way > 0 for way in ways), len(ways)


def percent(taken, of):
    return 100 * taken / of if of else 100


def untaken(counts):
    """The lines of the conditions that always went one way, or were never met."""
    words = {(True, False): "T", (False, True): "F", (False, False): "-"}
    kinds = {place: words.get((ways[0] > 0, ways[1] > 0)) for place, ways in counts.items()}
    return " ".join(f"{place[0]}{kind}" for place, kind in sorted(kinds.items()) if kind)


def explanations(path):
    """{file: why it is below LIMIT}, of lines `file: why`; those that begin with # are remarks."""
    lines = (line for line in path.read_text().splitlines() if line and not line.startswith("#"))
    return dict(line.split(": ", 1) for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="the folder of the test programs")
    parser.add_argument("floors", nargs="+", metavar="floor", help="a floor, with the program test_FLOOR")
    parser.add_argument("--again", action="store_true", help="only print what the last run of the tests counted")
    parser.add_argument("--json", type=pathlib.Path, help="write the parts by file")
    options = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parent.parent
    folder = options.folder.resolve()
    programs = [*(f"test_{floor}" for floor in options.floors), "test_hostile"]
    merged = folder / "coverage.profdata"
    profdata, cov = (tool(name, folder.parent / "CMakeCache.txt") for name in ("llvm-profdata", "llvm-cov"))
    failed = [] if options.again else count(programs, folder, profdata, merged)
    objects = [word for program in programs[1:] for word in ("-object", folder / program)]
    export = [cov, "export", "-skip-functions", "-skip-expansions",
              f"-instr-profile={merged}", folder / programs[0], *objects,
              *(root / floor for floor in options.floors)]
    data = json.loads(subprocess.run(export, check=True, capture_output=True).stdout)
    files = branches(data, root, options.floors)
    print("\n| floor | files | branches | taken | % |\n|---|---|---|---|---|")
    for floor in options.floors:
        of_floor = [counts for name, counts in files.items() if name.startswith(floor + "/")]
        taken, of = part(ways for counts in of_floor for ways in counts.values())
        print(f"| {floor} | {len(of_floor)} | {of} | {taken} | {percent(taken, of):.1f} |")
    report = {name: part(counts.values()) for name, counts in files.items()}
    below = {name: percent(taken, of) for name, (taken, of) in report.items() if percent(taken, of) < LIMIT}
    reasons = explanations(root / "tests" / "coverage.txt")
    print(f"\nFiles below {LIMIT} %, with the lines of conditions that were always true (T), always false (F), "
          "or never met (-), and why:\n")
    for name, part_taken in sorted(below.items(), key=lambda item: item[1]):
        print(f"{part_taken:5.1f} % of {report[name][1]:3} {name}: {untaken(files[name])}")
        print(f"      {reasons.get(name, 'NOT EXPLAINED')}")
    for name in sorted(reasons.keys() - below.keys()):
        print(f"tests/coverage.txt explains {name}, which is not below {LIMIT} %")
    if options.json:
        options.json.write_text(json.dumps({name: {"taken": taken, "branches": of}
                                            for name, (taken, of) in report.items()}, indent=1) + "\n")
    if failed:
        sys.exit(f"coverage.py: {', '.join(failed)} failed")
    if below.keys() - reasons.keys():
        sys.exit(f"coverage.py: tests/coverage.txt does not explain {len(below.keys() - reasons.keys())} files")


if __name__ == "__main__":
    main()
