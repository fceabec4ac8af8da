"""The tools of an orchestrator, by name (there is no global registry), and the choice that a turn is offered."""

import difflib
import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

from core.errors import ConfigError, ToolRetry
from core.journal.types import Outcome
from core.json_types import Json, canonical_hash
from core.language.catalogue import LANGUAGES, translations
from core.llm.types import ToolCall, ToolSpec
from core.tools.arguments import Understood, read_call
from core.tools.results import CallResult
from core.tools.tool import AnyTool, tool

_AT_ONCE = 2
"""Groups that a text opens: more would be a guess."""
_NO_SPACES = re.compile(r"[\u3400-\u9fff]")


class ToolGroup(str):
    """The name of a group of tools, which is a single line for the model until the conversation opens it.

    words: words of people who want the group, with commas between, such as `email, emails, inbox`: a text with any of
    them, in any of the catalogues' languages, opens the group. A small model seldom opens a group by itself.
    """

    words: str

    def __new__(cls, name: str, words: str = "") -> "ToolGroup":
        group = super().__new__(cls, name)
        group.words = words
        return group


class ToolRegistry:
    """Tools by name. Two tools of the same name are an error that names both places."""

    def __init__(self, tools: Iterable[AnyTool] = ()) -> None:
        self._tools: dict[str, AnyTool] = {}
        for member in tools:
            self._add(member)
        self.specs: tuple[ToolSpec, ...] = tuple(tool.spec for tool in self._tools.values())
        """The specifications for the model."""
        described: list[Json] = [
            [tool.name, tool.signature.digest] for tool in self._tools.values() if not tool.of_turn
        ]
        self.hash = canonical_hash(described)
        """Changes when a tool's name or parameters do; those of a single turn come and go."""

    def __iter__(self) -> Iterator[AnyTool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def get(self, name: str) -> AnyTool | None:
        return self._tools.get(name)

    def only(self, names: Iterable[str]) -> "ToolRegistry":
        """Return a registry of just these tools. Raises `ConfigError` for a name that is not known."""
        wanted = list(names)
        for name in wanted:
            if name not in self._tools:
                raise ConfigError(f"There is no tool named {name!r}. {self.suggest(name)}")
        return ToolRegistry(self._tools[name] for name in wanted)

    def suggest(self, name: str) -> str:
        """Return the names of tools, the likeliest first, for a model that named an unknown tool."""
        if not self._tools:
            return "There are no tools: answer in text."
        close = difflib.get_close_matches(name, self._tools, n=3)
        if close:
            return f"Did you mean {' or '.join(close)}?"
        return f"The tools are: {', '.join(sorted(self._tools))}."

    def _add(self, tool: AnyTool) -> None:
        known = self._tools.get(tool.name)
        if known is tool:
            return
        if known is not None:
            raise ConfigError(
                f"Two tools are named {tool.name!r}: {known.place} and {tool.place}; "
                "rename one of them, or mark yours with replaces=True."
            )
        self._tools[tool.name] = tool


SWITCH = "use_tools"
"""The built-in tool that opens and closes a group."""
_LISTED = re.compile(r"([\w-]+) \(([\w, -]+)\)")


class Toolbox:
    """All tools of a turn, and the choice on offer. Groups opened earlier are known from the calls' results.

    `groups` are the names of the open groups, in the order in which they were opened. Up to `in_full` tools are offered
    in full, whatever their groups, and the tools of `always` whatever their number.
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
        """Return the names of the open groups, tools of the turn included, in their order."""
        return tuple(self._open)

    def get(self, name: str) -> AnyTool | None:
        """Return a tool, even of a closed group: a model that names it need not open its group first."""
        return self._all.get(name) or self.offered.get(name)

    def suggest(self, name: str) -> str:
        """Return advice for a model that named an unknown tool."""
        return self.offered.suggest(name)

    def read(self, call: ToolCall, tool: AnyTool) -> Understood:
        """Return the arguments of a call as its tool wants them. Raises `ToolRetry` with the right form."""
        return read_call(call, tool)

    def apply(self, result: CallResult) -> None:
        """Open or close the group that a call asked for; the same in a replay as the first time."""
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
    """Return the group of each tool that has any, closed or open, as the description of the switch lists them."""
    return {name: group for group, names in _LISTED.findall(description) for name in names.split(", ")}


def likely_groups(groups: Iterable[str | None], text: str) -> tuple[str, ...]:
    """Return the groups that a text speaks of, by their words; the first two of them."""
    worded = dict.fromkeys(
        (str(group), group.words) for group in groups if isinstance(group, ToolGroup) and group.words
    )
    found = dict.fromkeys(name for name, words in worded if _pattern(words).search(text))
    return tuple(found)[:_AT_ONCE]


@lru_cache(256)
def _pattern(words: str) -> re.Pattern[str]:
    """Return the pattern of a group's words in any language: whole words if the language has spaces between them."""
    listed = {word.strip() for tag in LANGUAGES for word in re.split("[,，、]", translations(tag).gettext(words))}
    within = {word for word in listed if _NO_SPACES.search(word)}
    whole, parts = (tuple(map(re.escape, sorted(some - {""}))) for some in (listed - within, within))
    # One look for the edge of a word serves all of them.
    return re.compile("|".join((*([rf"\b(?:{'|'.join(whole)})\b"] if whole else ()), *parts)), re.IGNORECASE)


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
            "Open a group of further tools, when the person needs one of them; on=false closes it. "
            f"The groups: {listed}."
        ),
    )
    async def use_tools(group: str, on: bool = True) -> str:
        if group not in names:
            raise ToolRetry(f"There is no group {group!r}. The groups are: {', '.join(names)}.")
        return f"From now on you can call {names[group]}." if on else f"Switched off: {names[group]}."

    return use_tools
