"""The limits of the code's shape, each a function over source text that names its breaches."""

import ast
import io
import tokenize
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from tests.shipping.harness import PACKAGES, ROOT

MAX_CLASS_LINES = 200
MAX_IMPORTS = 18
MAX_PARAMETERS = 8

type Check = Callable[[str], list[str]]
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def large_classes(source: str) -> list[str]:
    """Return the classes that are over the limit of lines."""
    classes = [node for node in nodes_of(source) if isinstance(node, ast.ClassDef)]
    return [f"class {node.name}" for node in classes if _lines_of(node) > MAX_CLASS_LINES]


def many_imports(source: str) -> list[str]:
    """Return one breach if a file imports more of our modules than the limit: lazily and for types included."""
    return [f"over {MAX_IMPORTS} imports"] if len(set(_our_modules(nodes_of(source)))) > MAX_IMPORTS else []


def many_parameters(source: str) -> list[str]:
    """Return the functions with more parameters than the limit, not counting `self` and `cls`.

    The options of a typer command do not count: it declares the command line's options as parameters. Neither do the
    fields of a dataclass, whose `__init__` is not in the source.
    """
    functions = [node for node in nodes_of(source) if isinstance(node, _Function)]
    return [
        f"parameters of {node.name}"
        for node in functions
        if len(_parameters(node)) > MAX_PARAMETERS and not is_command(node)
    ]


def unformatted_lines(source: str) -> list[str]:
    """Return one breach if a comment keeps the formatter away."""
    if "fmt" not in source:
        return []
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    words = [token.string.replace(" ", "") for token in tokens if token.type == tokenize.COMMENT]
    return ["fmt: skip"] if any("fmt:skip" in word or "fmt:off" in word for word in words) else []


def literal_splats(source: str) -> list[str]:
    """Return one breach if a literal is unpacked in place, which only serves to break lines elsewhere."""
    starred = [node.value for node in nodes_of(source) if isinstance(node, ast.Starred)]
    return ["splat of a literal"] if any(isinstance(value, ast.Tuple | ast.List | ast.Set) for value in starred) else []


CHECKS: tuple[Check, ...] = (large_classes, many_imports, many_parameters, unformatted_lines, literal_splats)


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
