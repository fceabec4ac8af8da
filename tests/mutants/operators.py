"""What a mutant changes: one thing on one line of a function, by the syntax tree, with the file's lines left in place.

Left alone is what no behaviour depends on: docstrings, annotations, log lines, metrics, spans, sentences of the
catalogue (other tests read those), messages of errors, and seconds to wait.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

_FLIPPED: Mapping[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: (r"<", "<="),
    ast.LtE: (r"<=", "<"),
    ast.Gt: (r">", ">="),
    ast.GtE: (r">=", ">"),
    ast.Eq: (r"==", "!="),
    ast.NotEq: (r"!=", "=="),
    ast.Is: (r"\bis\b", "is not"),
    ast.IsNot: (r"\bis\s+not\b", "is"),
    ast.In: (r"\bin\b", "not in"),
    ast.NotIn: (r"\bnot\s+in\b", "in"),
}
_SWAPPED = {"min": "max", "max": "min", "any": "all", "all": "any"}
_UNSEEN = frozenset({"log", "_log", "metrics", "tracing", "span"})
"""Roots of calls that only operators see."""
_WORDED = frozenset({"gettext", "ngettext", "gettext_noop", "ngettext_noop", "_", "cast"})
"""Functions whose own texts are left alone; what is filled in is not."""
_LEFT_ALONE = frozenset({"strict", "exc_info", "timeout"})
"""Keyword arguments that change nothing unless something else is wrong."""
_STRIPPING = frozenset({"strip", "lstrip", "rstrip"})
_MISTAKES = frozenset({"AssertionError", "NotImplementedError"})


@dataclass(frozen=True, slots=True)
class Edit:
    """A piece of a file, from one byte to another, and what stands there instead. The lines are its statement's."""

    start: int
    end: int
    after: str
    lines: range = field(compare=False)


@dataclass(frozen=True, slots=True)
class Mutant:
    """One line of the product, changed. `lines` are those of its statement's head, `source` is the whole file."""

    path: str
    line: int
    lines: range
    before: str
    after: str
    source: str


def edits_of(source: str) -> dict[int, list[Edit]]:
    """Return what could be changed in a file, by line."""
    finder = _Finder(source)
    found: dict[int, list[Edit]] = {}
    for edit in finder.of_functions(ast.parse(source)):
        found.setdefault(finder.line_of(edit.start), []).append(edit)
    return found


def mutant_of(path: str, source: str, edit: Edit) -> Mutant | None:
    """Return the file with one edit; None where that is no Python, or the same Python."""
    text = source.encode()
    removed = text[edit.start : edit.end].decode()
    # Every line keeps its number: what is known of the lines holds for the mutant too.
    after = edit.after + "\n" * (removed.count("\n") - edit.after.count("\n"))
    changed = (text[: edit.start] + after.encode() + text[edit.end :]).decode()
    try:
        tree = ast.parse(changed)
    except SyntaxError:
        return None
    if ast.dump(tree) == ast.dump(ast.parse(source)):
        return None
    line = text[: edit.start].count(b"\n")
    old, new = source.splitlines()[line].strip(), changed.splitlines()[line].strip()
    return Mutant(path, line + 1, edit.lines, old, new, changed)


class _Finder:
    """Walks a file's functions."""

    def __init__(self, source: str) -> None:
        self._text = source.encode()
        self._starts = [0]
        for line in self._text.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def line_of(self, offset: int) -> int:
        return self._text[:offset].count(b"\n") + 1

    def of_functions(self, node: ast.AST) -> Iterator[Edit]:
        """Yield the edits within the functions below a node, and nothing outside of them."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield from self._block(child.body)
            elif isinstance(child, ast.ClassDef | ast.If | ast.Try | ast.With):
                yield from self.of_functions(child)

    def _block(self, body: list[ast.stmt]) -> Iterator[Edit]:
        for statement in body:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                yield from self._block(statement.body)
            elif isinstance(statement, ast.ClassDef):
                yield from self.of_functions(ast.Module([statement], []))
            elif not _is_let_be(statement):
                yield from self._statement(statement)

    def _statement(self, statement: ast.stmt) -> Iterator[Edit]:
        inside = (
            child.lineno for child in ast.walk(statement) if isinstance(child, ast.stmt) and child is not statement
        )
        end = min(inside, default=(statement.end_lineno or statement.lineno) + 1)
        lines = range(statement.lineno, max(end, statement.lineno + 1))
        if (instead := _instead_of(statement)) is not None:
            yield Edit(self._start(statement), self._end(statement), instead, lines)
        if isinstance(statement, ast.Raise):
            return
        for child in ast.iter_child_nodes(statement):
            yield from self._part(child, lines, statement)

    def _part(self, node: ast.AST, lines: range, parent: ast.AST) -> Iterator[Edit]:
        """Yield the edits of an expression, or of what stands below a compound statement."""
        if isinstance(node, ast.stmt):
            yield from self._block([node])
            return
        if isinstance(node, ast.expr):
            if isinstance(parent, ast.AnnAssign) and node is parent.annotation:
                return
            if isinstance(node, ast.Call) and _root(node.func) in _UNSEEN:
                return
            for start, end, after in self._changes(node, parent):
                yield Edit(start, end, after, lines)
        if isinstance(node, ast.JoinedStr | ast.arguments) or (
            isinstance(node, ast.keyword) and node.arg in _LEFT_ALONE
        ):
            return
        for child in ast.iter_child_nodes(node):
            if not (_is_text(child) and _is_worded(node)):
                yield from self._part(child, lines, node)

    def _changes(self, node: ast.expr, parent: ast.AST) -> Iterator[tuple[int, int, str]]:
        start, end = self._start(node), self._end(node)
        if _is_condition(node, parent):
            yield start, end, f"not ({self._text[start:end].decode()})"
        match node:
            case ast.Compare():
                sides = [node.left, *node.comparators]
                for op, (left, right) in zip(node.ops, pairwise(sides), strict=True):
                    pattern, after = _FLIPPED[type(op)]
                    yield from self._between(left, right, pattern, after)
            case ast.BoolOp(op, values):
                pattern, after = (r"\band\b", "or") if isinstance(op, ast.And) else (r"\bor\b", "and")
                for left, right in pairwise(values):
                    yield from self._between(left, right, pattern, after)
            case ast.UnaryOp(ast.Not()):
                yield start, start + len("not"), ""
            case ast.BinOp(left, ast.Add() | ast.Sub() as op, right) if not (_is_text(left) or _is_text(right)):
                pattern, after = (r"\+", "-") if isinstance(op, ast.Add) else ("-", "+")
                yield from self._between(left, right, pattern, after)
            case ast.Call(ast.Name(name)) if name in _SWAPPED:
                yield start, start + len(name), _SWAPPED[name]
            case ast.Constant(value) if (another := _another(value, parent)) is not None:
                yield start, end, another

    def _between(self, left: ast.expr, right: ast.expr, pattern: str, after: str) -> Iterator[tuple[int, int, str]]:
        """Yield the change of the operator between two operands."""
        start = self._end(left)
        if found := re.search(pattern.encode(), self._text[start : self._start(right)]):
            yield start + found.start(), start + found.end(), after

    def _start(self, node: ast.expr | ast.stmt) -> int:
        return self._starts[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr | ast.stmt) -> int:
        return self._starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)


def _is_let_be(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr):
        value = statement.value
        return isinstance(value, ast.Constant) or (isinstance(value, ast.Call) and _root(value.func) in _UNSEEN)
    return isinstance(statement, ast.Assert | ast.Import | ast.ImportFrom | ast.Global | ast.Nonlocal)


def _instead_of(statement: ast.stmt) -> str | None:
    """Return what stands where the statement is left out; None for one that has to stay."""
    match statement:
        case ast.Assign(targets) if all(isinstance(target, ast.Attribute | ast.Subscript) for target in targets):
            return "pass"
        case ast.AugAssign() | ast.Expr(ast.Call() | ast.Await(ast.Call())):
            return "pass"
        case ast.Raise(error) if error is not None and _root(error) not in _MISTAKES:
            return "pass"
        case ast.Return(ast.Constant(value)) if not value:
            return None  # None is as false
        case ast.Return(value) if value is not None:
            return "return None"
    return None


def _root(node: ast.expr) -> str:
    """Return the name that a chain of attributes and calls begins with, less `self`."""
    name = ""
    while isinstance(node, ast.Attribute | ast.Call):
        if isinstance(node, ast.Attribute):
            name, node = node.attr, node.value
        else:
            node = node.func
    return name if isinstance(node, ast.Name) and node.id == "self" else getattr(node, "id", "")


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_worded(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _WORDED


def _is_condition(node: ast.expr, parent: ast.AST) -> bool:
    """Return whether it decides. The condition of `while` is left alone: its opposite mostly never ends."""
    match parent:
        case ast.If(test) | ast.IfExp(test):
            return node is test and not isinstance(node, ast.UnaryOp)
        case ast.comprehension(ifs=ifs):
            return node in ifs
        case ast.match_case(guard=guard):
            return node is guard
    return False


def _another(value: object, parent: ast.AST) -> str | None:
    """Return another constant in place of one; None for a kind that is left alone."""
    if isinstance(value, bool):
        return repr(not value)
    if isinstance(value, int | float):
        return repr(value + 1)
    if isinstance(value, str):
        stripped = isinstance(parent, ast.Call) and getattr(parent.func, "attr", "") in _STRIPPING
        return '""' if stripped else '"mutated"'
    return None
