"""The parts of litellm that its modules load for everybody and one provider's calls use, put off until such a call.

Kept, because of 1.106 they are a fifth of the CPU of a load for direct calls, and 40 MB.
"""

import importlib
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from types import ModuleType
from typing import Any

_MANTLE = "litellm.llms.bedrock_mantle.chat.claude_transformation"
"""Bedrock's transformation, which imports all of litellm's loggers. One function of it is used."""
_TOKENIZERS, _TOKENIZER = "litellm.litellm_core_utils.tokenizers", "anthropic_tokenizer.json"
"""A tokenizer, which takes 30 MB while it is read, and 2 MB as the text that is kept."""


def replace_mantle() -> None:
    """Let litellm find a stand-in for Bedrock's transformation, unless that is imported already."""
    if _MANTLE not in sys.modules:
        sys.modules[_MANTLE] = _StandIn(_MANTLE)


@contextmanager
def without_tokenizer() -> Iterator[None]:
    """Import `litellm.utils` inside the block: its tokenizer is read at the first use."""
    load = json.load

    def load_others(file: Any, **options: Any) -> Any:
        return None if str(getattr(file, "name", "")).endswith(_TOKENIZER) else load(file, **options)

    json.load = load_others
    try:
        yield
    finally:
        json.load = load
        if (utils := sys.modules.get("litellm.utils")) is not None:
            utils.__class__ = _Utils


class _StandIn(ModuleType):
    """A module of functions, which is imported when one of them is called."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def call(*given: Any, **named: Any) -> Any:
            if sys.modules.get(self.__name__) is self:
                del sys.modules[self.__name__]
            return getattr(importlib.import_module(self.__name__), name)(*given, **named)

        return call


class _Utils(ModuleType):
    """`litellm.utils` without the tokenizer that it has read."""

    @property
    def claude_json_str(self) -> str:
        return resources.files(_TOKENIZERS).joinpath(_TOKENIZER).read_text("utf-8")
