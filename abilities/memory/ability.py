"""Memory: people's statements are remembered, recalled, corrected, and forgotten for good."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from abilities.memory.chat_words import MEMORY
from abilities.memory.tables import TABLES
from onevalet.ability import Ability, Commands, Extra, calls, named

if TYPE_CHECKING:
    from core.clock import Clock
    from core.credentials.store import CredentialStore
    from core.people.merge import MergeHook


def _merge_hooks(_: "Clock", __: "CredentialStore") -> "Sequence[MergeHook]":
    from abilities.memory.merge import MemoryMerge

    return [MemoryMerge()]


ABILITY = Ability(
    name="memory",
    extras=(Extra("memory", "onevalet_memory", "nothing is remembered", "set ONEVALET_MEMORY=off"),),
    settings=named("abilities.memory.settings:MEMORY"),
    loads=calls("abilities.memory.opening:load_libraries"),
    tools=("abilities.memory.tools", "abilities.memory.shared_tools"),
    words=(MEMORY,),
    tables=TABLES,
    merge_hooks=_merge_hooks,
    commands=(Commands("memory", "People", named("abilities.memory.cli:memory_app")),),
    pages=named("abilities.memory.pages:PAGES"),
    probes=named("abilities.memory.probes:PROBES"),
    path=calls("abilities.memory.path:read_path"),
    recall=calls("abilities.memory.opening:open_recall"),
    memories=calls("abilities.memory.without_model:open_memories"),
    work=calls("abilities.memory.opening:open_work"),
)
