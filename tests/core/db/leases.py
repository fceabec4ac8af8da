"""Leases, found by what they are: moments ahead of the clock that a function of SQL writes to keep others away.

Whatever their columns, parameters and constants are called: the columns are of type `timestamptz`, and compared with
the clock; the lengths are followed from the function's parameter through the callers to where they are written.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta

_CLOCK = r"(?:clock_timestamp\(\)|now\(\)|statement_timestamp\(\)|\b[pv]_now\b)"
_AHEAD = re.compile(rf"{_CLOCK} ?\+")
_FUNCTION = re.compile(r"create (?:or replace )?function (\w+) ?\(")
_SET = re.compile(r"\b(\w+) = ")
_INSERT = re.compile(r"insert into \w+(?: as \w+)? \(")
_TESTED = (
    re.compile(rf"\b(\w+)(?:, [^()]*\))? (?:<|<=|>|>=) {_CLOCK}"),
    re.compile(rf"{_CLOCK} (?:<|<=|>|>=) (?:\w+\.)?(\w+)"),
)
_END = re.compile(r";| (?:where|from|returning|on conflict)\b")
_PARAMETER = re.compile(r"\bp_\w+")

_IN_JSON = re.compile(r"->> ?'(\w+)' ?\)? ?:: ?interval")

_KINDS = ("timedelta", "str")
"""The types of parameters whose arguments are followed: lengths, and statements."""

type Length = timedelta | None
"""None where it is computed."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """A function that writes a column ahead of the clock. `by`: its parameters that say by how much."""

    function: str
    column: str
    by: tuple[int, ...]
    said: str


def ahead_of_the_clock(texts: Iterable[str]) -> list[Ahead]:
    """Return what functions write ahead of the clock into columns that any function compares with the clock."""
    functions = [one for text in texts for one in _functions(text)]
    tested = {name for _, body in functions for pattern in _TESTED for name in pattern.findall(body)}
    return [
        Ahead(name, column, tuple(_places(body, said)), said)
        for name, body in functions
        for column, said in _written(body)
        if column in tested and _AHEAD.search(said)
    ]


def handing_on(one: Ahead, texts: Iterable[str]) -> Iterator[Ahead]:
    """Yield the functions of SQL that call a function and hand its length on."""
    for name, body in (found for text in texts for found in _functions(text)):
        for match in re.finditer(rf"\b{one.function}\(", body.partition(" as $$ ")[2]):
            given = _pieces(body.partition(" as $$ ")[2][match.end() :])
            names = [piece.split()[0] for piece in _parameters(body)]
            by = [names.index(given[place - 1]) + 1 for place in one.by
                  if place <= len(given) and given[place - 1] in names]  # fmt: skip
            if by and name != one.function:
                yield Ahead(name, one.column, tuple(by), one.said)


def _functions(text: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"(?m)^(?=create )", re.sub(r"--[^\n]*", "", text)):
        body = " ".join(part.split())
        if match := _FUNCTION.match(body):
            yield match[1], body


def _written(body: str) -> Iterator[tuple[str, str]]:
    """Yield each column that a function writes, with the expression."""
    for match in _SET.finditer(body):
        yield match[1], _pieces(body[match.end() :])[0]
    for match in _INSERT.finditer(body):
        columns = _pieces(body[match.end() :])
        rest = body[match.end() + len(", ".join(columns)) + 1 :].lstrip()
        values = re.sub(r"^(?:values ?\(|select )", "", rest)
        yield from zip(columns, _pieces(values), strict=False)


def _pieces(text: str) -> list[str]:
    """Return the expressions between commas, up to the end of the list or the clause."""
    pieces, depth, start = list[str](), 0, 0
    for at, char in enumerate(text):
        if char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif char == "," and depth == 0:
            pieces.append(text[start:at].strip())
            start = at + 1
        if depth < 0 or (depth == 0 and _END.match(text, at)):
            return [*pieces, text[start:at].strip()]
    return [*pieces, text[start:].strip()]


def _places(body: str, said: str) -> Iterator[int]:
    """Yield the places, from 1, of the parameters that an expression adds to the clock."""
    names = [piece.split()[0] for piece in _parameters(body)]
    if match := _AHEAD.search(said):
        added = _pieces(said[match.end() :])[0]
        yield from (names.index(name) + 1 for name in _PARAMETER.findall(added) if name in names)


def _parameters(body: str) -> list[str]:
    match = _FUNCTION.match(body)
    return [piece for piece in _pieces(body[match.end() :]) if piece] if match else []


class Sources:
    """The modules of the product: what their names are set to, who calls what, and who calls the functions of SQL."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._set = defaultdict[tuple[str, str], list[ast.expr]](list)
        """By file and name, those of attributes with a dot before them."""
        self._imported = dict[tuple[str, str], str]()
        self._parameters = {kind: defaultdict[tuple[str, str], list[tuple[str, int]]](list) for kind in _KINDS}
        self._said = dict[tuple[str, str], list[str]]()
        self._calls = defaultdict[str, list[tuple[str, ast.Call]]](list)
        for path, source in sources.items():
            for node in ast.walk(ast.parse(source)):
                self._note(path, node)

    def lengths(self, function: str, place: int) -> dict[str, Length]:
        """Return each length that callers give to a parameter of a function of SQL, by file and name."""
        found, call = dict[str, Length](), re.compile(rf"\b{function}\(([^()]*)\)")
        for path, node in (one for calls in [*self._calls.values()] for one in calls):
            for given in self._given(path, node, call, place):
                found |= self._followed(path, function, given, set())
        return found

    def followed(self, path: str, value: ast.expr) -> dict[str, Length]:
        """Return the lengths that an expression of a module can stand for, by file and name."""
        return self._followed(path, _name(value), value, set())

    def _given(self, path: str, node: ast.Call, call: re.Pattern[str], place: int) -> Iterator[ast.expr]:
        """Yield what a call of the database gives for a parameter of the function of SQL in its statement."""
        for statement in node.args[:2]:
            said = [*_said(statement), *(self._texts(path, statement.id) if isinstance(statement, ast.Name) else ())]
            match = next((found for text in said if (found := call.search(text))), None)
            if match is None:
                continue
            numbers = [int(one[1]) if (one := re.search(r"\$(\d+)", text)) else 0 for text in match[1].split(",")]
            number = numbers[place - 1] if place <= len(numbers) else 0
            for given in self._variants(path, [one for one in node.args if one is not statement]):
                starred = next((at for at, one in enumerate(given) if isinstance(one, ast.Starred)), len(given))
                at = number - 1 if number - 1 < starred else len(given) - (max(numbers) - number + 1)
                if number and 0 <= at < len(given) and not isinstance(given[at], ast.Starred):
                    yield given[at]
            return

    def _variants(self, path: str, given: list[ast.expr]) -> list[list[ast.expr]]:
        """Return arguments with what their first starred name may stand for, as far as that is written out."""
        for at, one in enumerate(given):
            if isinstance(one, ast.Starred):
                values = [value.elts for value in self._set[path, _key(one.value)] if isinstance(value, ast.Tuple)]
                return [[*given[:at], *value, *given[at + 1 :]] for value in values] or [given]
        return [given]

    def _note(self, path: str, node: ast.AST) -> None:
        match node:
            case ast.Call(func=called):
                self._calls[_name(called)].append((path, node))
            case ast.ImportFrom(module=str(module), names=names):
                for one in names:
                    self._imported[path, one.asname or one.name] = f"{module.replace('.', '/')}.py"
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._set[path, _key(target)].append(value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._set[path, _key(target)].append(value)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._note_parameters(path, node.name, node.args)
            case ast.ClassDef():
                self._note_class(path, node)

    def _note_class(self, path: str, node: ast.ClassDef) -> None:
        fields = [one for one in node.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)]
        for place, one in enumerate(fields):
            for kind in _kinds(one.annotation):
                self._parameters[kind][path, f".{_name(one.target)}"].append((node.name, place))
            if one.value is not None:
                self._set[path, f".{_name(one.target)}"].append(one.value)
        for made in node.body:
            if isinstance(made, ast.FunctionDef) and made.name == "__init__":
                self._note_parameters(path, node.name, made.args)

    def _note_parameters(self, path: str, called: str, taken: ast.arguments) -> None:
        names = [one.arg for one in (*taken.posonlyargs, *taken.args)]
        every = [one for one in (*taken.posonlyargs, *taken.args, *taken.kwonlyargs) if one.arg != "self"]
        for place, one in enumerate(every):
            for kind in _kinds(one.annotation):
                self._parameters[kind][path, one.arg].append((called, place))
        defaults = [*zip(reversed(names), reversed(taken.defaults), strict=False)]
        defaults += [(one.arg, value) for one, value in zip(taken.kwonlyargs, taken.kw_defaults, strict=True) if value]
        for name, value in defaults:
            self._set[path, name].append(value)

    def _texts(self, path: str, name: str) -> list[str]:
        """Return the texts that a name of a module stands for, also as a parameter of a function there."""
        if (path, name) not in self._said:
            values = [*self._set[path, name]]
            for where, value in self._passed(path, name, "str"):
                values += [value, *self._set.get((where, _name(value)), ())] if where == path else []
            self._said[path, name] = [text for value in values for text in _said(value)]
        return self._said[path, name]

    def _followed(self, path: str, name: str, value: ast.expr, seen: set[tuple[str, str]]) -> dict[str, Length]:
        """Return the lengths that an expression can stand for."""
        match value:
            case ast.Call() if _name(value.func) == "timedelta":
                return {f"{path} {name}": length_of(value)}
            case ast.BinOp():
                return {f"{path} {name}": None}
            case ast.IfExp(body=one, orelse=other):
                return self._followed(path, name, one, seen) | self._followed(path, name, other, seen)
            case ast.Name() | ast.Attribute() if (path, _key(value)) not in seen:
                key = _key(value)
                seen.add((path, key))
            case _:
                return {}
        found = dict[str, Length]()
        for where, one in self._meant(path, key):
            found |= self._followed(where, key.removeprefix("."), one, seen)
        return found

    def _meant(self, path: str, key: str) -> Iterator[tuple[str, ast.expr]]:
        """Yield what a name or an attribute is set to: in its module, in the one it is imported from, or by callers."""
        found = [(path, one) for one in self._set[path, key]]
        if (home := self._imported.get((path, key))) is not None:
            found += [(home, one) for one in self._set[home, key]]
        found += self._passed(path, key)
        if not found and key.startswith("."):  # of an object of another module
            homes = {where for where, name in [*self._set, *self._parameters["timedelta"]] if name == key}
            found = [(home, one) for home in homes for one in self._set[home, key]]
            found += [one for home in homes for one in self._passed(home, key)]
        yield from found

    def _passed(self, path: str, key: str, kind: str = "timedelta") -> Iterator[tuple[str, ast.expr]]:
        """Yield what callers pass for a parameter or a field of a module, by its place or its name."""
        for called, place in self._parameters[kind].get((path, key), ()):
            for where, node in self._calls.get(called, ()):
                if place < len(node.args) and not any(isinstance(one, ast.Starred) for one in node.args):
                    yield where, node.args[place]
                yield from ((where, one.value) for one in node.keywords if one.arg == key.removeprefix("."))


def computed_ahead(sources: Mapping[str, str]) -> dict[str, Length]:
    """Return by how much Python adds to the clock for a moment that it hands on, by file and name."""
    read, found = Sources(sources), dict[str, Length]()
    for path, source in sources.items():
        for node in ast.walk(ast.parse(source)):
            match node:
                case ast.BinOp(op=ast.Add(), left=ast.Name(id="now") | ast.Call(func=ast.Attribute(attr="now"))):
                    found |= read.followed(path, node.right)
                case _:
                    pass
    return found


def inside_json(texts: Iterable[str]) -> set[str]:
    """Return the intervals that functions of SQL take out of a `jsonb`, where no caller's length is followed."""
    functions = [one for text in texts for one in _functions(text)]
    return {f"{name} {key}" for name, body in functions for key in _IN_JSON.findall(body)}


def length_of(value: ast.expr) -> Length:
    """Return the length of a `timedelta` that is written out."""
    if not isinstance(value, ast.Call) or value.args:
        return None
    try:
        return timedelta(**{word.arg or "": ast.literal_eval(word.value) for word in value.keywords})
    except (ValueError, TypeError):
        return None


def _said(node: ast.expr) -> list[str]:
    return [str(one.value) for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)]


def _kinds(annotation: ast.expr | None) -> list[str]:
    return [kind for kind in _KINDS if annotation is not None and kind in ast.unparse(annotation)]


def _name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _key(node: ast.expr) -> str:
    return f".{node.attr}" if isinstance(node, ast.Attribute) else _name(node)
