"""JSONPath (RFC 9535), followed in counted steps: the library parses the path, and we walk the data.

The library's own walk is not bounded, and records the path to every node that it visits.
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

from abilities.tasks.kinds.schedule import TriggerError
from abilities.tasks.kinds.step_limit import Steps
from core.json_types import Json
from core.language.catalogue import gettext, gettext_noop

MAX_PATH = 500
_NO_PATH = gettext_noop("“{path}” is not a JSONPath, such as $.price.")
_UNREADABLE = (JSONPathError, RecursionError, ArithmeticError, ValueError)
_COMPARED = 100
"""Nodes of an object or list that a filter compares with another."""


class _Paths(jsonpath.JSONPathEnvironment):
    """JSONPath without regular expressions: a bad expression runs for hours."""

    def setup_function_extensions(self) -> None:
        super().setup_function_extensions()
        for name in ("match", "search"):
            self.function_extensions.pop(name, None)

    def compare(self, left: object, operator: str, right: object) -> bool:
        """Compare as the library does, but only small objects and lists."""
        if isinstance(left, dict | list) and isinstance(right, dict | list):
            steps = Steps(_COMPARED)
            steps.walk(cast(Json, left))
        return super().compare(left, operator, right)


def check_path(path: str) -> None:
    """Refuse text that is no JSONPath; raises `TriggerError`."""
    if len(path) <= MAX_PATH:  # a longer path, stored when that was allowed, is refused when it is followed
        _compiled(path)


def check_bounded(path: str) -> None:
    """Refuse a path that may visit the same node many times; raises `TriggerError`."""
    compiled = _compiled(path)
    if sum(isinstance(segment, JSONPathRecursiveDescentSegment) for segment in compiled.segments) > 1:
        raise TriggerError(gettext("“{path}” has more than one “..”: name the part with one at most.", path=path))
    for segment in compiled.segments:
        _check_filters(path, segment)


def find(path: str, data: Json, steps: Steps) -> Iterator[Json]:
    """Yield the values that a path selects.

    Raises `TriggerError` for a path that cannot be followed or takes too many steps.
    """
    compiled = _compiled(path)
    nodes: Iterable[Json] = (data,)
    for segment in compiled.segments:
        _check_filters(path, segment)
        nodes = _follow(segment, nodes, data, steps)
    return iter(nodes)


def _follow(segment: JSONPathSegment, nodes: Iterable[Json], root: Json, steps: Steps) -> Iterator[Json]:
    deep = isinstance(segment, JSONPathRecursiveDescentSegment)
    for node in nodes:
        for value in _descendants(node, steps) if deep else (node,):
            for selector in segment.selectors:
                steps.take()
                yield from _SELECT[type(selector)](selector, value, root, steps)


def _descendants(node: Json, steps: Steps) -> Iterator[Json]:
    """Yield a value and all values inside it, from the top and in order."""
    waiting: list[Json] = [node]
    while waiting:
        value = waiting.pop()
        steps.take()
        yield value
        waiting += reversed([child for child in _children(value) if isinstance(child, dict | list)])


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
        for index in range(*selector.slice.indices(len(value))):
            steps.take()
            yield value[index]


def _by_wildcard(selector: WildcardSelector, value: Json, root: Json, steps: Steps) -> Iterator[Json]:
    for child in _children(value):
        steps.take()
        yield child


def _by_filter(selector: Filter, value: Json, root: Json, steps: Steps) -> Iterator[Json]:
    size = sum(1 for _ in walk(selector.expression))
    for child in _children(value):
        steps.take(size)
        context = FilterContext(env=selector.env, current=child, root=cast(Any, root))
        try:
            holds = selector.expression.evaluate(context)
        except (JSONPathError, TypeError, RecursionError) as error:
            raise TriggerError(gettext("A filter of the path does not work on the result.")) from error
        if holds:
            yield child


_SELECT: Mapping[type[JSONPathSelector], Callable[[Any, Json, Json, Steps], Iterator[Json]]] = {
    NameSelector: _by_name,
    IndexSelector: _by_index,
    SliceSelector: _by_slice,
    WildcardSelector: _by_wildcard,
    Filter: _by_filter,
}


def _check_filters(path: str, segment: JSONPathSegment) -> None:
    for selector in segment.selectors:
        for part in walk(selector.expression) if isinstance(selector, Filter) else ():
            if isinstance(part, FilterQuery) and not part.path.singular_query():
                sentence = gettext(
                    "“{path}” looks for many values in a filter: it may name only single values there.", path=path
                )
                raise TriggerError(sentence)


@lru_cache(maxsize=1024)
def _compiled(path: str) -> jsonpath.JSONPath:
    if len(path) > MAX_PATH:
        raise TriggerError(gettext("A path has at most {number} characters.", number=MAX_PATH))
    try:
        compiled = _ENVIRONMENT.compile(path)
    except _UNREADABLE as error:
        reason = str(error).splitlines()[0][:200] if str(error) else ""
        raise TriggerError(gettext(_NO_PATH, path=path), note=reason) from error
    if not isinstance(compiled, jsonpath.JSONPath):
        raise TriggerError(gettext(_NO_PATH, path=path), note="It joins several.")
    return compiled


_ENVIRONMENT = _Paths(strict=True)
