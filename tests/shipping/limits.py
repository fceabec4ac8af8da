"""The shape of the code: what is largest, and what no formatter or reader should meet.

`uv run -m tests.shipping.limits` prints the ten largest classes, the ten files with the most imports of ours, and the
ten functions with the most parameters. They fail nothing: a limit there was met by moving lines.
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache

from tests.shipping.harness import PACKAGES, PRODUCT, ROOT, python_files

SHOWN = 10

type Check = Callable[[str], list[str]]
type Measure = Callable[[str], Iterable[tuple[int, str]]]
"""Returns the sizes in one file, each with what has it."""
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def class_lines(source: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of each class."""
    yield from ((_lines_of(node), node.name) for node in nodes_of(source) if isinstance(node, ast.ClassDef))


def imports(source: str) -> Iterator[tuple[int, str]]:
    """Yield how many of our modules a file imports: lazily and for types included."""
    yield len(set(_our_modules(nodes_of(source)))), ""


def parameters(source: str) -> Iterator[tuple[int, str]]:
    """Yield the parameters of each function, without `self` and `cls`.

    Not those of a typer command, which declares the command line's options as parameters, and not the fields of a
    dataclass, whose `__init__` is not in the source.
    """
    for node in nodes_of(source):
        if isinstance(node, _Function) and not is_command(node):
            yield len(_parameters(node)), node.name


MEASURES: Mapping[str, Measure] = {
    "lines of a class": class_lines,
    "imports of our modules": imports,
    "parameters of a function": parameters,
}


def largest(measure: Measure, files: Mapping[str, str]) -> list[tuple[int, str, str]]:
    """Return the largest sizes in files, each with the file and what has it."""
    found = [(size, path, name) for path, source in files.items() for size, name in measure(source)]
    return sorted(found, reverse=True)[:SHOWN]


def unformatted_lines(source: str) -> list[str]:
    """Return one breach if a comment keeps the formatter away."""
    if "fmt" not in source:
        return []
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    words = [token.string.replace(" ", "") for token in tokens if token.type == tokenize.COMMENT]
    return ["fmt: skip"] if any("fmt:skip" in word or "fmt:off" in word for word in words) else []


_SPLAT = re.compile(r"\*\s*[(\[{]")
"""What every source has that unpacks a literal: others are not even parsed."""


def literal_splats(source: str) -> list[str]:
    """Return one breach if a literal is unpacked in place, which only serves to break lines elsewhere."""
    if not _SPLAT.search(source):
        return []
    starred = [node.value for node in nodes_of(source) if isinstance(node, ast.Starred)]
    return ["splat of a literal"] if any(isinstance(value, ast.Tuple | ast.List | ast.Set) for value in starred) else []


CHECKS: tuple[Check, ...] = (unformatted_lines, literal_splats)


def breaches(source: str, checks: Iterable[Check] = CHECKS) -> set[str]:
    """Return what breaks any of the limits in one file."""
    return {breach for check in checks for breach in check(source)}


@lru_cache(maxsize=1)
def nodes_of(source: str) -> list[ast.AST]:
    """Parse a file once for all its checks, which come one after another."""
    return list(ast.walk(ast.parse(source)))


def _lines_of(node: ast.ClassDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _our_modules(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the modules of ours that a file imports; of a package's names, each may be a module."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if _is_ours(alias.name))
        elif isinstance(node, ast.ImportFrom) and node.module and _is_ours(node.module):
            submodules = [f"{node.module}.{alias.name}" for alias in node.names if _is_module(node.module, alias.name)]
            yield from submodules or [node.module]


def _is_ours(module: str) -> bool:
    return module.split(".")[0] in PACKAGES


def _is_module(package: str, name: str) -> bool:
    folder = ROOT.joinpath(*package.split("."))
    return (folder / f"{name}.py").exists() or (folder / name / "__init__.py").exists()


def _parameters(function: _Function) -> list[str]:
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    names = [argument.arg for argument in named if argument is not None]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def is_command(function: _Function) -> bool:
    """Return whether a function declares a typer command."""
    called = [node.func for node in function.decorator_list if isinstance(node, ast.Call)]
    return any(isinstance(decorator, ast.Attribute) and decorator.attr == "command" for decorator in called)


def main() -> None:
    """Print the largest of each measure."""
    files = python_files(*PRODUCT)
    for name, measure in MEASURES.items():
        sys.stdout.write(f"{name}\n")
        for size, path, what in largest(measure, files):
            sys.stdout.write(f"  {size:5} {path} {what}".rstrip() + "\n")


if __name__ == "__main__":
    main()
