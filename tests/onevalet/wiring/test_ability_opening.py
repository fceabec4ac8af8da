"""What abilities open for one another, for turns and around a worker's work, and in which order."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from core.errors import ConfigError
from core.turns.runs import Runs
from core.turns.services import TaskEngine
from onevalet.ability import Ability
from onevalet.ability_registry import all_abilities
from onevalet.foundations import Opened, OpeningFoundation, WorkFoundation
from onevalet.wiring import abilities, ability_work
from tests.abilities.memory.talking import talking
from tests.scripted_model import echo


class Bell:
    """What one ability opens and another needs."""


def test_what_nobody_opened_is_told_by_its_name() -> None:
    assert Opened().find(Bell) is None
    with pytest.raises(ConfigError, match=r"^This assistant has no Bell\.$"):
        Opened().get(Bell)


async def test_abilities_open_before_the_assistant_and_join_after(
    database_url: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[object] = []

    def opens(stack: AsyncExitStack, foundation: OpeningFoundation) -> None:
        foundation.opened.add(Bell, Bell())
        stack.callback(lambda: done.append("closed"))
        done.append("opened")

    def joins(foundation: WorkFoundation) -> None:
        done.append((type(foundation.opened.get(Bell)), type(foundation.orchestrator).__name__))

    planted = (*all_abilities(), Ability(name="bells", opens=opens), Ability(name="towers", joins=joins))
    for module in (abilities, ability_work):
        monkeypatch.setattr(module, "all_abilities", lambda: planted)
    async with talking(database_url, redis_url, tmp_path, monkeypatch, echo, onevalet_memory="off") as talk:
        opened = talk.parts.foundation.opened
        names = {ability.name for ability in planted}
        assert (opened.find(TaskEngine) is not None, opened.find(Runs) is not None) == ("tasks" in names,) * 2
    assert done == ["opened", (Bell, "Orchestrator"), "closed"]


async def test_what_runs_around_the_work_is_left_in_reverse(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def running(name: str) -> Ability:
        @asynccontextmanager
        async def around(_: WorkFoundation) -> AsyncIterator[None]:
            done.append(f"{name} begins")
            yield
            done.append(f"{name} ends")

        return Ability(name=name, around=around)

    monkeypatch.setattr(ability_work, "all_abilities", lambda: (running("first"), running("second")))
    async with ability_work.around_work(cast(Any, None)):
        done.append("work")
    assert done == ["first begins", "second begins", "work", "second ends", "first ends"]
