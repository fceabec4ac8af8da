"""A pytest plugin: one worker of xdist runs all tests that ask a model, since only that one then loads litellm.

To load it takes three seconds of CPU and 150 MB. A test asks a model if it or one of its fixtures makes a client or
the whole assistant; one that leaves that to a helper says so by `xdist_group("model")`.
"""

from collections.abc import Callable
from functools import cache
from inspect import unwrap
from typing import Any

import pytest

GROUP = "model"
LOADING = frozenset({"LiteLLMClient", "OneValet", "litellm_library"})
"""Names of what loads litellm where it is used."""


def pytest_itemcollected(item: pytest.Item) -> None:
    """Put a test that asks a model into their group, unless it is of another."""
    if item.get_closest_marker("xdist_group") is None and any(map(_loads, _functions(item))):
        item.add_marker(pytest.mark.xdist_group(GROUP))


def _functions(item: pytest.Item) -> list[Callable[..., Any]]:
    """Return the function of a test, and those of its fixtures."""
    fixtures = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    return [getattr(item, "function", _loads), *(each.func for same in fixtures.values() for each in same[-1:])]


@cache
def _loads(function: Callable[..., Any]) -> bool:
    code = getattr(unwrap(function), "__code__", None)
    return code is not None and not LOADING.isdisjoint(code.co_names)
