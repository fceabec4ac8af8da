"""Memory: people's statements are remembered, recalled, corrected, and forgotten for good."""

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from abilities.memory.chat_words import MEMORY
from abilities.memory.tables import TABLES
from onevalet.ability import Ability, Commands, ConsolePages, Extra, OwnSettings, Repeated
from onevalet.foundations import Foundation, RecallFoundation, ServiceFoundation, WorkFoundation

if TYPE_CHECKING:
    from typer import Typer

    from core.clock import Clock
    from core.credentials.store import CredentialStore
    from core.people.merge import MergeHook
    from core.queue.claims import ClaimedWork
    from core.tools.memory_access import MemoryAccess
    from core.turns.services import Recall
    from onevalet.settings import Settings
    from operations.doctor.types import Probe
    from operations.paths.types import PathReader


def _settings() -> OwnSettings[Any]:
    from abilities.memory.settings import MEMORY

    return MEMORY


def _loads(settings: "Settings") -> None:
    from abilities.memory.opening import load_libraries

    load_libraries(settings)


def _pages(_: ServiceFoundation) -> ConsolePages:
    from abilities.memory.pages import MemoryPages

    return ConsolePages([MemoryPages])


def _path() -> "PathReader":
    from abilities.memory.path import PATH

    return PATH


def _probes() -> "Sequence[Probe]":
    from abilities.memory.probes import PROBES

    return PROBES


def _merge_hooks(_: "Clock", __: "CredentialStore") -> "Sequence[MergeHook]":
    from abilities.memory.merge import MemoryMerge

    return [MemoryMerge()]


def _commands() -> "Typer":
    from abilities.memory.cli import memory_app

    return memory_app


def _recall(stack: AsyncExitStack, foundation: RecallFoundation) -> "Recall | None":
    from abilities.memory.opening import open_recall

    return open_recall(stack, foundation)


def _memories(foundation: Foundation, clock: "Clock") -> "Callable[[str], MemoryAccess] | None":
    from abilities.memory.without_model import open_memories

    return open_memories(foundation, clock)


def _work(stack: AsyncExitStack, foundation: WorkFoundation) -> "Sequence[Repeated | ClaimedWork[Any]]":
    from abilities.memory.opening import open_work

    return open_work(stack, foundation)


ABILITY = Ability(
    name="memory",
    extras=(Extra("memory", "onevalet_memory", "nothing is remembered", "set ONEVALET_MEMORY=off"),),
    settings=_settings,
    loads=_loads,
    tools=("abilities.memory.tools", "abilities.memory.shared_tools"),
    words=(MEMORY,),
    tables=TABLES,
    merge_hooks=_merge_hooks,
    commands=(Commands("memory", "People", _commands),),
    pages=_pages,
    probes=_probes,
    path=_path,
    recall=_recall,
    memories=_memories,
    work=_work,
)
