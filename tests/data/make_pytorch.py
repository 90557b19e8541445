"""Writes PyTorch's results for the operation table and for the pages. The tests compare tend's results with them.

    python3 tests/data/make_pytorch.py [ROWS.json]

Run it in tend's top folder, with PyTorch 2.6, after building the tests. It runs build/release/tests/test_autograd to
get the rows of the table. If the tests are on another machine, write the rows there and copy the file:
TEND_OP_ROWS=ROWS.json build/release/tests/test_autograd "every row of*". It writes:

- tests/data/ops/FAMILY.json: values and gradients of every row (make_ops.py).
- docs/pytorch.md: a line for each operation that has no line yet, next to operations of the same family.
- tests/data/pytorch.json, and files in tests/data/docs: the results of the Python code in docs/.
- tests/data/fuzz.json: random programs (tests/fuzz/programs.py).

Each line in the tables of docs/pytorch.md runs by itself, after the page's first Python block and
manual_seed(0). Its result is the value of the last expression. If the line ends with an assignment, the result is the
assigned variables. If the value is None, the result is the tensors of the first block that the line names, with their
gradients. Lines under "What differs" may raise an error.

For the other Python blocks of PAGES, the script stores what they print, and the files that they save in
tests/data/docs. tests/docs compares all results with those of the C++ code next to the Python code.
"""

import ast
import contextlib
import copy
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings

import torch
import torch.nn.functional
from torch.nn.attention.flex_attention import and_masks, create_block_mask, flex_attention, or_masks
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset, random_split

import make_ops

sys.path.append("tests/fuzz")
import programs

PAGE = "docs/pytorch.md"
PAGES = [PAGE, "docs/weights.md"]
FILES = "tests/data/docs"
BLOCK = re.compile(r"```python\n(.*?)```", re.S)


def tables(page):
    """Yields each table row outside of code blocks, as (the head of its table, its cells)."""
    head = None
    in_code = False
    for line in page.splitlines():
        in_code ^= line.startswith("```")
        if in_code or not line.startswith("|"):
            head = None
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if head is None:
            head = cells
        elif not set(cells[0]) <= set("-:"):
            yield head, cells


def spans(cell):
    return [code.replace("\\|", "|") for code in re.findall(r"`([^`]+)`", cell)]


def python_lines(page):
    """Yields each line as (kind, line). The kind is "same" if Python and C++ share the line, otherwise "other"."""
    for head, cells in tables(page):
        if head[1] == "lines":
            yield from (("same", code) for code in spans(cells[1]))
        elif head[0] == "PyTorch":
            yield from (("other", code) for code in spans(cells[0]))


def items(value):
    """Any result as a list of plain items. tests/docs/lines.h converts the results of C++ in the same way."""
    if isinstance(value, torch.Tensor):
        digits = ".17g" if value.dtype == torch.float64 else ".9g"
        numbers = " ".join(format(float(each), digits) for each in value.detach().flatten())
        return [{"dtype": str(value.dtype).removeprefix("torch."), "shape": list(value.shape),
                 "requires_grad": value.requires_grad, "values": numbers}]
    if isinstance(value, torch.nn.Module):
        return [item for each in value.parameters() for item in items(each)]
    if isinstance(value, (tuple, list)):
        return [item for each in value for item in items(each)]
    if isinstance(value, (bool, int, float)):
        return [{"number": format(float(value), ".17g")}]
    if value is None:
        return [{"undefined": True}]
    return [{"text": str(value).removeprefix("torch.")}]


def assigned(statement):
    if isinstance(statement, (ast.With, ast.For)):
        return assigned(statement.body[-1])
    if not isinstance(statement, ast.Assign):
        return []
    target = statement.targets[0]
    names = target.elts if isinstance(target, ast.Tuple) else [target]
    return [each.id for each in names if isinstance(each, ast.Name)]


def run(line, setup, same):
    scope = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional}
    if same:
        scope |= {name: f for name, f in vars(torch).items() if name[0] != "_"}
        scope |= vars(torch.nn.functional)
    exec(setup, scope)
    first = {name: value for name, value in scope.items() if isinstance(value, torch.Tensor)}
    scope |= {"copy": copy, "checkpoint": checkpoint, "flex_attention": flex_attention,
              "create_block_mask": create_block_mask, "and_masks": and_masks, "or_masks": or_masks,
              "DataLoader": DataLoader, "TensorDataset": TensorDataset,
              "random_split": random_split}
    torch.manual_seed(0)
    tree = ast.parse(line)
    last = tree.body[-1]
    value = None
    if isinstance(last, ast.Expr):
        exec(compile(ast.Module(tree.body[:-1], []), line, "exec"), scope)
        value = eval(compile(ast.Expression(last.value), line, "eval"), scope)
        names = []
    else:
        exec(compile(tree, line, "exec"), scope)
        names = assigned(last)
    if names:
        return {"names": names, "items": items([scope[name] for name in names])}
    by_name = isinstance(last, ast.Expr) and isinstance(last.value, (ast.Name, ast.Attribute))
    if value is not None or by_name:
        return {"items": items(value)}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names = [name for name in first if name in used and name in scope]
    return {"changed": names,
            "items": [item for name in names for item in items([scope[name], scope[name].grad])]}


def printed(program):
    output = io.StringIO()
    os.makedirs(FILES, exist_ok=True)
    with contextlib.redirect_stdout(output), contextlib.chdir(FILES):
        exec(program, {"torch": torch})
    return output.getvalue()


def read_rows():
    """The rows of the operation table, by family."""
    if len(sys.argv) > 1:
        return json.load(open(sys.argv[1]))
    with tempfile.NamedTemporaryFile("r") as file:
        subprocess.run(["build/release/tests/test_autograd", "every row of*"], check=True,
                       env=os.environ | {"TEND_OP_ROWS": file.name})
        return json.load(file)


def function_of(expression):
    """The name of the function: "exp" for torch.exp(a) and F.exp(a, 2). None for other expressions."""
    found = re.match(r"(?:torch|F)\.(\w+)\(", expression)
    return found and found.group(1)


def add_lines(page, setup, families):
    """Returns the page with a new line for each function of one or two tensors that has no line yet. The line is added
    to the table row that has most functions of the same family. tests/docs compiles it."""
    on_page = set(re.findall(r"(\w+)\(", " ".join(code for _, cells in tables(page) for cell in cells
                                                   for code in spans(cell))))
    for rows in families.values():
        known = {function_of(each) for each in rows} & on_page
        for expression in rows:
            name = function_of(expression)
            if name is None or name in on_page or expression.count(",") > 1:
                continue
            line = f"{name}(x, y)" if "b" in re.findall(r"\w+", expression) else f"{name}(x)"
            run(line, setup, True)  # fails if the function needs other arguments; then write its line by hand
            on_page.add(name)
            place = max((each for each in page.splitlines() if each.startswith("| ") and "`, `" in each),
                        key=lambda each: len(known & set(re.findall(r"`(\w+)\(", each))))
            page = page.replace(place, place.removesuffix(" |") + f", `{line}` |")
            print("new line:", line)
    return page


def write_lines(page, setup):
    results = {}
    for how, line in python_lines(page):
        try:
            results[line] = run(line, setup, how == "same")
        except Exception as error:  # a row under "What differs" may raise one
            results[line] = {"error": type(error).__name__}
            print(f"{line}\n    {type(error).__name__}: {str(error).splitlines()[0]}")
    with open("tests/data/pytorch.json", "w") as file:
        rows = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in results.items())
        texts = json.dumps({name: [printed(block) for block in BLOCK.findall(open(name).read())]
                            for name in PAGES})
        file.write('{"printed": ' + texts + ',\n"lines": {\n' + rows + "\n}}\n")
    print(len(results), "lines")


def main():
    families = read_rows()
    make_ops.write_all(families)
    page = open(PAGE).read()
    setup = BLOCK.search(page).group(1)
    page = add_lines(page, setup, families)
    open(PAGE, "w").write(page)
    write_lines(page, setup)
    programs.store(programs.write_many(programs.by_name(families), seed=1, count=400), "tests/data/fuzz.json")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
