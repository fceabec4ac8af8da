"""JSONPath (RFC 9535), followed in counted steps: the library reads the path, and we walk the data.

The library's own walk has no bound, and writes down the way to every place that it visits.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, cast

import jsonpath
from jsonpath.exceptions import JSONPathError
from jsonpath.filter import FilterQuery, walk
from jsonpath.segments import JSONPathRecursiveDescentSegment, JSONPathSegment
from jsonpath.selectors import (
    Filter,
    FilterContext,
    IndexSelector,
    JSONPathSelector,
    NameSelector,
    SliceSelector,
    WildcardSelector,
)

from core.json_types import Json
from core.triggers.kinds.schedule import TriggerError
from core.triggers.kinds.step_limit import Steps

MAX_PATH = 500
_UNREADABLE = (JSONPathError, RecursionError, ArithmeticError, ValueError)
_COMPARED = 100
"""How many places two objects or lists may have that a filter compares with each other."""


class _Paths(jsonpath.JSONPathEnvironment):
    """JSONPath without regular expressions, one badly written of which runs for hours."""

    def setup_function_extensions(self) -> None:
        super().setup_function_extensions()
        for name in ("match", "search"):
            self.function_extensions.pop(name, None)

    def compare(self, left: object, operator: str, right: object) -> bool:
        """Compare as the library does, objects and lists only while they are small."""
        if isinstance(left, dict | list) and isinstance(right, dict | list):
            steps = Steps(_COMPARED)
            steps.walk(cast(Json, left))
        return super().compare(left, operator, right)


def check_path(path: str) -> None:
    """Refuse what is no JSONPath; raises `TriggerError`."""
    if len(path) <= MAX_PATH:  # a longer one, kept when that was allowed, is refused by whoever follows it
        _compiled(path)


def check_bounded(path: str) -> None:
    """Refuse a path that may visit the same place again and again; raises `TriggerError`."""
    compiled = _compiled(path)
    if sum(isinstance(one, JSONPathRecursiveDescentSegment) for one in compiled.segments) > 1:
        raise TriggerError(f"{path!r} has more than one '..': name the part with one at most.")
    for segment in compiled.segments:
        for selector in segment.selectors:
            if isinstance(selector, Filter):
                _check_filter(path, selector)


def find(path: str, data: Json, steps: Steps) -> Iterator[Json]:
    """Find all that a path leads to, one after the other.

    Raises `TriggerError` for a path that cannot be followed, and for one that takes too many steps.
    """
    compiled = _compiled(path)
    found: Iterable[Json] = (data,)
    for segment in compiled.segments:
        for selector in segment.selectors:
            if isinstance(selector, Filter):
                _check_filter(path, selector)
        found = _follow(segment, found, data, steps)
    return iter(found)


def _follow(segment: JSONPathSegment, nodes: Iterable[Json], root: Json, steps: Steps) -> Iterator[Json]:
    deep = isinstance(segment, JSONPathRecursiveDescentSegment)
    for node in nodes:
        for place in _descendants(node, steps) if deep else (node,):
            for selector in segment.selectors:
                steps.take()
                yield from _SELECT[type(selector)](selector, place, root, steps)


def _descendants(node: Json, steps: Steps) -> Iterator[Json]:
    """Visit a value and all values inside of it, from the top and in order."""
    waiting: list[Json] = [node]
    while waiting:
        one = waiting.pop()
        steps.take()
        yield one
        waiting += reversed([inside for inside in _children(one) if isinstance(inside, dict | list)])


def _children(value: Json) -> Iterable[Json]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _by_name(selector: NameSelector, value: Json, root: Json, steps: Steps) -> Iterator[Json]:
    if isinstance(value, dict) and selector.name in value:
        yield value[selector.name]


def _by_index(selector: IndexSelector, value: Json, root: Json, steps: Steps) -> Iterator[Json]:
    if isinstance(value, list) and -len(value) <= selector.index < len(value):
        yield value[selector.index]


def _by_slice(selector: SliceSelector, value: Json, root: Json, steps: Steps) -> Iterator[Json]:
    if isinstance(value, list) and selector.slice.step != 0:
        for place in range(*selector.slice.indices(len(value))):
            steps.take()
            yield value[place]


def _by_wildcard(selector: WildcardSelector, value: Json, root: Json, steps: Steps) -> Iterator[Json]:
    for one in _children(value):
        steps.take()
        yield one


def _by_filter(selector: Filter, value: Json, root: Json, steps: Steps) -> Iterator[Json]:
    size = sum(1 for _ in walk(selector.expression))
    for one in _children(value):
        steps.take(size)
        context = FilterContext(env=selector.env, current=one, root=cast(Any, root))
        try:
            holds = selector.expression.evaluate(context)
        except (JSONPathError, TypeError, RecursionError) as error:
            raise TriggerError("A filter of the path cannot be worked out on what came back.") from error
        if holds:
            yield one


_SELECT: Mapping[type[JSONPathSelector], Callable[[Any, Json, Json, Steps], Iterator[Json]]] = {
    NameSelector: _by_name,
    IndexSelector: _by_index,
    SliceSelector: _by_slice,
    WildcardSelector: _by_wildcard,
    Filter: _by_filter,
}


def _check_filter(path: str, selector: Filter) -> None:
    for one in walk(selector.expression):
        if isinstance(one, FilterQuery) and not one.path.singular_query():
            raise TriggerError(f"{path!r} looks for many values inside of a filter: it may name single ones there.")


@lru_cache(maxsize=1024)
def _compiled(path: str) -> jsonpath.JSONPath:
    if len(path) > MAX_PATH:
        raise TriggerError(f"A path has {MAX_PATH} characters at most.")
    try:
        compiled = _ENVIRONMENT.compile(path)
    except _UNREADABLE as error:
        told = str(error).splitlines()[0][:200] if str(error) else "it cannot be read"
        raise TriggerError(f"{path!r} is no JSONPath: {told}") from error
    if not isinstance(compiled, jsonpath.JSONPath):
        raise TriggerError(f"{path!r} is no JSONPath: it joins several")
    return compiled


_ENVIRONMENT = _Paths(strict=True)
