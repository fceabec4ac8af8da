"""The tools that one orchestrator knows, by name. There is no global one."""

import difflib
from collections.abc import Iterable, Iterator

from core.errors import ConfigError
from core.json_types import Json, canonical_hash
from core.llm.types import ToolSpec
from core.tools.tool import AnyTool


class ToolRegistry:
    """Tools by name. Two tools of one name are an error that names both places."""

    def __init__(self, tools: Iterable[AnyTool] = ()) -> None:
        self._tools: dict[str, AnyTool] = {}
        for tool in tools:
            self._add(tool)
        self.specs: tuple[ToolSpec, ...] = tuple(tool.spec for tool in self._tools.values())
        """What the model is shown."""
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
        """Return which tools there are, the likeliest first, to a model that named one that is not there."""
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
