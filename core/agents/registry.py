"""The agents of an orchestrator by name, and the file in which an operator overrides their options."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import yaml  # type: ignore[import-untyped]

from core.agents.standard_agent import StandardAgent, Valet
from core.agents.valet import valet_of
from core.errors import ConfigError
from core.tools.toolbox import ToolRegistry


class AgentRegistry:
    """Agents by name. Two agents of the same name are an error that names both places."""

    def __init__(
        self,
        agents: Iterable[type[StandardAgent]] = (),
        exposed: Mapping[str, bool] | None = None,
        groups: Mapping[str, str] | None = None,
    ) -> None:
        """`exposed` overrides `expose_as_tool` by name; `groups` are the default groups by name."""
        self._valets: dict[str, Valet] = {}
        for agent in dict.fromkeys(agents):
            marked = valet_of(agent)
            if marked is None:
                raise ConfigError(f"{agent.__module__}.{agent.__qualname__} is not an agent: mark it with @valet(...).")
            if (known := self._valets.get(marked.name)) is not None:
                raise ConfigError(
                    f"Two agents are named {marked.name!r}: {known.place} and {marked.place}; "
                    "rename one, or mark yours with replaces=True."
                )
            group = (groups or {}).get(marked.name) if marked.group is None else marked.group
            self._valets[marked.name] = marked if group == marked.group else replace(marked, group=group)
        self._inner: dict[str, Valet] = {}
        for valet in list(self._valets.values()):
            self._know_inner(valet)
        for name, offered in (exposed or {}).items():
            if name not in self._valets:
                raise ConfigError(f"agent_registry.yaml names {name!r}, and there is no such agent.")
            self._valets[name] = replace(self._valets[name], expose_as_tool=offered)

    def __iter__(self) -> Iterator[Valet]:
        return iter(self._valets.values())

    def __len__(self) -> int:
        return len(self._valets)

    def get(self, name: str) -> Valet | None:
        return self._valets.get(name)

    def find(self, name: str) -> Valet | None:
        """Return the agent with a name, including agents that only other agents use."""
        return self._valets.get(name) or self._inner.get(name)

    def offered(self, names: Sequence[str] | None = None) -> tuple[Valet, ...]:
        """Return the agents to offer to the model; only those in `names`, None for all."""
        return tuple(valet for valet in self if valet.expose_as_tool and (names is None or valet.name in names))

    def _know_inner(self, valet: Valet) -> None:
        for tool in valet.agent.tools:
            inner = valet_of(tool)
            if inner is None:
                continue
            known = self.find(inner.name)
            if known is None:
                self._inner[inner.name] = inner
                self._know_inner(inner)
            elif known.agent is not inner.agent:
                raise ConfigError(f"Two agents are named {inner.name!r}: {known.place} and {inner.place}; rename one.")

    def check_names(self, tools: ToolRegistry) -> None:
        """Raise `ConfigError` if an agent has the name of a tool: the model could not tell them apart."""
        for valet in self:
            if (tool := tools.get(valet.name)) is not None:
                raise ConfigError(
                    f"An agent and a tool are named {valet.name!r}: {valet.place} and {tool.place}; "
                    "rename one of them, or mark yours with replaces=True."
                )


def read_exposed(path: Path) -> dict[str, bool]:
    """Parse `agents: {NAME: {expose_as_tool: true}}` from agent_registry.yaml; a missing file overrides nothing."""
    if not path.exists():
        return {}
    try:
        data = yaml.safe_load(path.read_text())
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is not valid YAML: {' '.join(str(error).split())}.") from error
    agents = data.get("agents") if isinstance(data, dict) else None
    if data is None:
        return {}
    if not isinstance(agents, dict):
        raise ConfigError(f"{path} must hold `agents:` with a name and its `expose_as_tool` below.")
    exposed: dict[str, bool] = {}
    for name, values in agents.items():
        offered = values.get("expose_as_tool") if isinstance(values, dict) else None
        if not isinstance(offered, bool):
            raise ConfigError(f"{path}: {name} needs `expose_as_tool: true` or `expose_as_tool: false`.")
        exposed[str(name)] = offered
    return exposed
