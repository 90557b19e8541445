#!/usr/bin/env python3
"""Breaks one line of a kernel or derivative at a time, and checks that a test fails.

    python3 tests/mutate.py --count 20 --seed 1

A mutation changes one operator, number or call in a line. The seed selects the mutations at random from
all files in FOLDERS. They are made in a git work tree of the last commit. A mutation is noticed if a
test program fails, crashes or does not end. Mutations that no program notices are printed at the end:
either no test covers the line, or the change has no effect.
"""

import argparse
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

FOLDERS = ["core/kernels", "core/random", "autograd/ops", "attention/expressions", "attention/functions"]
# The programs that should notice a mutation, the fastest first. Each ends at its first failure.
PROGRAMS = ["test_core", "test_attention", "test_autograd", "test_nn"]
SECONDS = 900  # the time limit of a program: several times what the slowest program needs
EQUIVALENT = re.compile(r"assert|fail\(|fail<|reserve|prefetch|grain|parallel_for")  # lines that affect only speed or messages

# Pairs of a regular expression and its replacement.
CHANGES = [
    (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " + "), (r" / ", " * "),
    (r" \+= ", " -= "), (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "),
    (r" == ", " != "), (r" != ", " == "), (r" && ", " || "), (r" \|\| ", " && "),
    (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
    (r"(?<![\w.'])0(?![\w.'])", "1"), (r"(?<![\w.'])1(?![\w.'])", "2"), (r"(?<![\w.'])0\.5(?![\w'])", "0.25"),
    (r"\bhn::Add\(", "hn::Sub("), (r"\bhn::Sub\(", "hn::Add("), (r"\bhn::Mul\(", "hn::Add("),
    (r"\bhn::MulAdd\(", "hn::NegMulAdd("), (r"\bhn::Lt\(", "hn::Le("), (r"\bhn::Max\(", "hn::Min("),
    (r"\bhn::Min\(", "hn::Max("), (r"\.neg\(\)", ""), (r"\.mul\(", ".add("), (r"\.sub\(", ".add("),
]


def mutations(root):
    """All possible mutations, as tuples (file, line number, old line, new line)."""
    found = []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".h", ".cpp"):
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
                code = line.split("//")[0]
                if '"' in code or code.lstrip().startswith(("#", "template")) or EQUIVALENT.search(code):
                    continue
                for pattern, replacement in CHANGES:
                    for match in re.finditer(pattern, code):
                        changed = code[: match.start()] + replacement + code[match.end():]
                        found.append((path.relative_to(root), number, code, changed))
    return found


def run(command, folder, seconds=None):
    """Runs the command. Returns True if it succeeded within the time limit, and its output."""
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          errors="replace", start_new_session=True) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # also kills the child processes of a test
            return False, "did not end"
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return process.returncode == 0, output


def build(tree):
    return run(["cmake", "--build", "--preset", "release", "--target", *PROGRAMS], tree)


def first_failure(output):
    """The name of the first failed test in Catch2's report, or "crashed"."""
    failed = re.search(r"-{60,}\n(.*?)\n-{60,}\n\S+:\d+\n\.{60,}", output, re.DOTALL)
    return " ".join(failed.group(1).split()) if failed else "crashed"


def who_notices(tree):
    """The first test that fails, or None if all tests pass."""
    for program in PROGRAMS:
        passes, output = run([tree / "build/release/tests" / program, "--abort", "~[slow]~[.]"], tree, SECONDS)
        if not passes:
            return f"{program}: {first_failure(output)}"
    return None


def judge(tree, mutation):
    path, number, _, changed = mutation
    file = tree / path
    whole = file.read_text(encoding="utf-8")
    lines = whole.splitlines(keepends=True)
    lines[number] = changed.rstrip() + "\n"
    file.write_text("".join(lines), encoding="utf-8")
    try:
        compiles, _ = build(tree)
        return "does not compile" if not compiles else who_notices(tree) or "survives"
    finally:
        file.write_text(whole, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20, help="mutations to try (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the random choice (default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", help="file for the result of each mutation")
    options = parser.parse_args()

    root = pathlib.Path(__file__).resolve().parent.parent
    tree = root / "build/mutate"
    if not tree.exists():
        subprocess.run(["git", "worktree", "add", "--detach", tree], cwd=root, check=True)
    subprocess.run(["git", "checkout", "--quiet", "--force", "--detach",
                    subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=root, text=True).strip()],
                   cwd=tree, check=True)
    subprocess.run(["cmake", "--preset", "release", "-DTEND_BUILD_BENCHMARKS=OFF"], cwd=tree, check=True,
                   stdout=subprocess.DEVNULL)
    print("building and testing without a mutation ...", flush=True)
    failure = who_notices(tree) if build(tree)[0] else "the build"
    if failure is not None:
        sys.exit(f"mutate: fails without a mutation: {failure}")

    all_of_them = mutations(tree)
    chosen = random.Random(options.seed).sample(all_of_them, min(options.count, len(all_of_them)))
    results = []
    try:
        for mutation in chosen:
            path, number, before, after = mutation
            start = time.monotonic()
            end = judge(tree, mutation)
            results.append({"file": str(path), "line": number + 1, "before": before.strip(), "after": after.strip(),
                            "end": end, "seconds": round(time.monotonic() - start)})
            print(f"{len(results)}/{len(chosen)} {path}:{number + 1}: {end}", flush=True)
    except KeyboardInterrupt:
        print("\ninterrupted", flush=True)
    count = {word: sum(r["end"] == word for r in results) for word in ("survives", "does not compile")}
    print(f"\n{len(results)} of {len(all_of_them)} mutations: {count['does not compile']} do not compile, "
          f"{count['survives']} survive, tests notice the others")
    for r in results:
        if r["end"] == "survives":
            print(f"\n{r['file']}:{r['line']}\n  {r['before']}\n  {r['after']}")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
