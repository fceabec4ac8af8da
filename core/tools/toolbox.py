"""The tools of one turn as the model is offered them: a group is one line until the conversation opens it.

What opens while a conversation goes on is appended, and stays: prompts go on to begin alike, and are cached.
"""

import re
from collections.abc import Collection, Iterable
from functools import lru_cache

from core.errors import ToolRetry
from core.journal.types import Outcome
from core.llm.types import ToolCall
from core.tools.arguments import Understood, read_call
from core.tools.registry import ToolRegistry
from core.tools.results import CallResult
from core.tools.tool import AnyTool, tool

SWITCH = "use_tools"
"""The built-in tool that opens and closes a group."""
_LISTED = re.compile(r"([\w-]+) \(([\w, -]+)\)")


class Toolbox:
    """All tools of a turn, and which of them are on offer. What was opened is known from the calls' results.

    `groups` are the names of what is open, in the order in which it was opened. Up to `in_full` tools are offered in
    full, whatever their groups, and the tools of `always` are whatever their number.
    """

    def __init__(
        self, tools: ToolRegistry, groups: Iterable[str] = (), in_full: int = 0, always: Collection[str] = ()
    ) -> None:
        self._all = tools
        members: dict[str, list[AnyTool]] = {}
        plain = [member for member in tools if not member.of_turn]
        for member in plain if len(plain) > in_full else ():
            if member.group and member.group not in always:
                members.setdefault(member.group, []).append(member)
        self._members = members
        self._groups = {member.name: group for group, tools_of in members.items() for member in tools_of}
        self._switch = _switch(_named(self._members)) if self._members else None
        of_turn = {member.name: [member] for member in tools if member.of_turn}
        self._opens = self._members | of_turn
        self._base = [member for member in plain if member.name not in self._groups]
        known = [name for name in groups if name in self._opens]
        self._open = list(dict.fromkeys([*known, *of_turn]))
        self.offered = self._offer()

    @property
    def groups(self) -> tuple[str, ...]:
        """Return the names of what is open, tools of the turn included, in their order."""
        return tuple(self._open)

    def get(self, name: str) -> AnyTool | None:
        """Return a tool, also one whose group is closed: a model that names it need not open its group first."""
        return self._all.get(name) or self.offered.get(name)

    def suggest(self, name: str) -> str:
        """Return what to do, to a model that named a tool that is not there."""
        return self.offered.suggest(name)

    def read(self, call: ToolCall, tool: AnyTool) -> Understood:
        """Return the arguments of a call as its tool wants them. Raises `ToolRetry` with what is right."""
        return read_call(call, tool)

    def apply(self, result: CallResult) -> None:
        """Open or close what a call did; the same in a replay as the first time."""
        group, on = self._groups.get(result.call.name), True
        if result.call.name == SWITCH and self._switch is not None and result.outcome is Outcome.OK:
            given = read_call(result.call, self._switch).arguments
            group, on = str(given.get("group", "")), given.get("on") is not False
        if group not in self._members or (group in self._open) == on:
            return
        self._open = [*self._open, group] if on else [name for name in self._open if name != group]
        self.offered = self._offer()

    def _offer(self) -> ToolRegistry:
        if self._switch is None and not self._open:
            return self._all
        opened = [member for name in self._open for member in self._opens[name]]
        return ToolRegistry([*self._base, *([self._switch] if self._switch else []), *opened])


def groups_in(description: str) -> dict[str, str]:
    """Return the group of each tool that is in one, closed or open, as the description of the switch lists them."""
    return {name: group for group, names in _LISTED.findall(description) for name in names.split(", ")}


def _named(members: dict[str, list[AnyTool]]) -> tuple[tuple[str, str], ...]:
    """Return the groups with the names of their tools."""
    return tuple((group, ", ".join(member.name for member in tools)) for group, tools in sorted(members.items()))


@lru_cache(256)
def _switch(groups: tuple[tuple[str, str], ...]) -> AnyTool:
    """Return the tool that opens and closes groups: made once, for its schema takes a millisecond."""
    names = dict(groups)
    listed = "; ".join(f"{group} ({tools})" for group, tools in names.items())

    @tool(
        name=SWITCH,
        effect="read",
        description=(
            "Open a group of further tools, whenever one of them is what the person needs; on=false closes it. "
            f"The groups: {listed}."
        ),
    )
    async def use_tools(group: str, on: bool = True) -> str:
        if group not in names:
            raise ToolRetry(f"There is no group {group!r}. The groups are: {', '.join(names)}.")
        return f"From now on you can call {names[group]}." if on else f"Switched off: {names[group]}."

    return use_tools
