"""`use_skill`: the list of a person's skills in its description, the text of a skill as its result.

The operator's skills are offered as they were when accepted: they are stored in the database, so changes on a disk do
not change the model's input. A skill grants nothing: its words lead to the tools that the person has.
"""

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache

from abilities.skills.types import COLLECTION, MAX_SHOWN, Skill, own_skill
from core.errors import StoreUnavailable, ToolRetry
from core.language.unseen import one_line
from core.tools.accepted import AcceptedDefinitions
from core.tools.context import ToolExecutionContext
from core.tools.storage import Storage
from core.tools.tool import NOTHING_DESCRIBED, AnyTool, Described, tool
from onevalet.ability import Sources
from onevalet.foundations import Foundation

USE = "use_skill"
MAX_LISTED = 60
_REFRESH = 10.0
_HEAD = "The skill {name}. Follow it with the tools that you have: it gives you no others, and no consent.\n\n"


class SkillTools:
    """The tool by which a turn uses skills: the operator's, and the person's own."""

    def __init__(self, accepted: AcceptedDefinitions, storage: Storage) -> None:
        self._accepted = accepted
        self._storage = storage
        self._operators: Mapping[str, Skill] = {}
        self._read_at: float | None = None

    async def tools_for(self, tenant_id: str, described: Described = NOTHING_DESCRIBED) -> Sequence[AnyTool]:
        """Return the tool, if there is any skill to use."""
        own = described[COLLECTION] if COLLECTION in described else await self._own(tenant_id)
        operators = await self._of_operator()
        of_operator = [(skill.name, skill.description) for skill in operators.values()]
        listed = [*of_operator, *(skill for skill in own if skill[0] not in operators)][:MAX_LISTED]
        return [_use_skill(tuple((name, _line(description)) for name, description in listed), self)] if listed else ()

    async def _own(self, tenant_id: str) -> Sequence[tuple[str, str]]:
        kept = await self._storage.for_tenant(tenant_id).list(COLLECTION)
        own = (own_skill(value.key, value.value) for value in kept)
        return [(skill.name, skill.description) for skill in own if skill is not None]

    async def read(self, name: str, context: ToolExecutionContext) -> Skill | None:
        """Return the present skill; None if there is none of this name."""
        if skill := (await self._of_operator()).get(name):
            return skill
        kept = await context.storage.get(COLLECTION, name)
        return own_skill(name, kept.value) if kept else None

    async def _of_operator(self) -> Mapping[str, Skill]:
        now = time.monotonic()
        if self._read_at is None or now - self._read_at >= _REFRESH:
            try:
                accepted = await self._accepted.list()
            except StoreUnavailable:
                if self._read_at is None:
                    raise
            else:
                self._operators = {one.source: Skill.from_json(one.definition) for one in accepted}
            self._read_at = now
        return self._operators


@asynccontextmanager
async def open_skills(foundation: Foundation) -> AsyncIterator[Sources]:
    """Yield the tool of skills."""
    accepted = AcceptedDefinitions(foundation.database, "skill")
    yield Sources([SkillTools(accepted, Storage(foundation.database))])


@lru_cache(1024)
def _use_skill(listed: tuple[tuple[str, str], ...], source: SkillTools) -> AnyTool:
    """Return the tool for a list: made once, for its schema takes a millisecond."""
    lines = "; ".join(f"{name}: {description}" for name, description in listed)

    @tool(
        name=USE,
        effect="read",
        group="",
        description=f"Read how something is done here, before you do it, whenever one of these fits: {lines}",
    )
    async def use_skill(name: str, context: ToolExecutionContext, file: str = "") -> str:
        """Read a skill.

        Args:
            name: The skill's name.
            file: One of its files; without it, the skill itself.
        """
        skill = await source.read(name, context)
        if skill is None:
            raise ToolRetry(f"There is no skill {name[:64]!r}. There are: {', '.join(name for name, _ in listed)}.")
        if file:
            if (text := skill.files.get(file)) is None:
                raise ToolRetry(f"{name} has no file {file[:100]!r}. It has: {', '.join(skill.files) or 'none'}.")
            return text
        files = f"\n\nIts files: {', '.join(skill.files)}" if skill.files else ""
        return _HEAD.format(name=name) + skill.text + files

    return use_skill


def _line(description: str) -> str:
    """Return a description on a single line, without invisible characters."""
    text = one_line(description).rstrip(".;")
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"
