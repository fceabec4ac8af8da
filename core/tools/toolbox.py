"""The tools of one turn as the model is offered them: groups are off until the conversation switches them on."""

from collections.abc import Iterable

from core.errors import ToolRetry
from core.journal.types import Outcome
from core.llm.types import ToolCall
from core.tools.arguments import Understood, read_call
from core.tools.registry import ToolRegistry
from core.tools.results import CallResult
from core.tools.tool import AnyTool, tool

SWITCH = "use_tools"
"""The built-in tool that switches a group."""


class Toolbox:
    """All tools of a turn, and which of them are on offer. What was switched is known from the calls' results."""

    def __init__(self, tools: ToolRegistry, groups: Iterable[str] = ()) -> None:
        self._all = tools
        members: dict[str, list[str]] = {}
        for member in tools:
            if member.group:
                members.setdefault(member.group, []).append(member.name)
        self._members = members
        self._switch = _switch(members) if members else None
        self._on = {group for group in groups if group in members}
        self.offered = self._offer()

    @property
    def groups(self) -> tuple[str, ...]:
        return tuple(sorted(self._on))

    def get(self, name: str) -> AnyTool | None:
        return self.offered.get(name)

    def suggest(self, name: str) -> str:
        """Return what to do, to a model that named a tool that is not on offer."""
        hidden = self._all.get(name)
        if hidden is not None and hidden.group:
            return f"It is in the group {hidden.group!r}: call {SWITCH} with that group first."
        return self.offered.suggest(name)

    def read(self, call: ToolCall, tool: AnyTool) -> Understood:
        """Return the arguments of a call as its tool wants them. Raises `ToolRetry` with what is right."""
        return read_call(call, tool)

    def apply(self, result: CallResult) -> None:
        """Switch, if that is what a call was and it went well; the same in a replay as the first time."""
        if result.call.name != SWITCH or self._switch is None or result.outcome is not Outcome.OK:
            return
        given = read_call(result.call, self._switch).arguments
        group = str(given.get("group", ""))
        if group in self._members:
            (self._on.discard if given.get("on") is False else self._on.add)(group)
            self.offered = self._offer()

    def _offer(self) -> ToolRegistry:
        if self._switch is None:
            return self._all
        return ToolRegistry([*(tool for tool in self._all if not tool.group or tool.group in self._on), self._switch])


def _switch(members: dict[str, list[str]]) -> AnyTool:
    listed = "; ".join(f"{group} ({', '.join(names)})" for group, names in sorted(members.items()))

    @tool(
        name=SWITCH,
        effect="read",
        description=f"Switch a group of tools on, or off with on=false, for this conversation. The groups: {listed}.",
    )
    async def use_tools(group: str, on: bool = True) -> str:
        if group not in members:
            raise ToolRetry(f"There is no group {group!r}. The groups are: {', '.join(sorted(members))}.")
        names = ", ".join(members[group])
        return f"From now on you can call {names}." if on else f"Switched off: {names}."

    return use_tools
