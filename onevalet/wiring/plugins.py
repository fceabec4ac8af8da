"""Load plugins, those that ship and an operator's own: import the modules and collect from their namespaces.

No decorator registers anything: a module contributes the values in its namespace after its import.
"""

import importlib
import pkgutil
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any

from core.agents.standard_agent import StandardAgent
from core.agents.valet import valet_of
from core.errors import ConfigError
from core.hooks.hooks import Hook, Rule
from core.hooks.judge import AskingJudge, Judge
from core.language.catalogue import add_catalogues_of
from core.tools.tool import AnyTool, Tool
from core.tools.toolbox import ToolRegistry
from core.turns.checks import SafetyCheck
from core.turns.orchestrator import Orchestrator
from onevalet.ability_registry import PACKAGE, ability_of, all_abilities, is_shipped
from onevalet.wiring.abilities import use_abilities
from onevalet.wiring.plugin_checks import check_instances, check_methods

SHIPPED = "agents"
"""The package of the tools that ship, for which those of the abilities are loaded too."""
OURS = (SHIPPED, PACKAGE)
"""In these packages each tool says itself whether it is in a group."""
GROUPED_FROM = 3
"""So many tools of a plugin's module are a group."""


@dataclass(frozen=True, slots=True)
class Plugins:
    """Everything that the plugin modules define."""

    tools: ToolRegistry
    agents: tuple[type[StandardAgent], ...] = ()
    hooks: tuple[Hook, ...] = ()
    checks: tuple[SafetyCheck, ...] = ()
    orchestrator: type[Orchestrator] = Orchestrator
    groups: Mapping[str, str] = field(default_factory=dict)
    """The groups of the agents that name none themselves, by the agents' names."""

    @property
    def names(self) -> frozenset[str]:
        """Return the names under which the model may be offered tools and agents."""
        valets = (valet_of(agent) for agent in self.agents)
        return frozenset({tool.name for tool in self.tools} | {valet.name for valet in valets if valet})

    def check_prefixes(self, prefixes: Sequence[str]) -> None:
        """Raise `ConfigError` for a tool or an agent whose name is kept for those of another source."""
        for name in sorted(self.names):
            for prefix in prefixes:
                if name.startswith(prefix):
                    raise ConfigError(f"{name!r} begins with {prefix!r}, as other tools do; rename one of the two.")

    def check_groups(self, named: Sequence[str], prefixes: Sequence[str] = ()) -> None:
        """Raise `ConfigError` for a group that neither these tools are in nor those of another source."""
        valets = [valet for agent in self.agents if (valet := valet_of(agent))]
        groups = {tool.group for tool in self.tools} | {self.groups.get(valet.name, valet.group) for valet in valets}
        known = sorted({*filter(None, groups), *(prefix.rstrip("_") for prefix in prefixes)})
        for name in named:
            if name not in known:
                setting = "ONEVALET_LOOP_GROUPS_IN_FULL"
                raise ConfigError(f"{setting} names {name!r}; the groups are {', '.join(known) or 'none'}.")


def load_plugins(names: Sequence[str], brought: Sequence[object] = ()) -> Plugins:
    """Import the named modules, a package with its direct submodules, and collect their tools, agents and hooks.

    `brought` are further values, collected like those of a module.

    Raise `ConfigError` in a sentence with the file and line, for the author of the module.
    """
    use_abilities()
    add_catalogues_of(_modules(names))
    values = plugin_values(names, brought)
    _check(values)
    values = _without_replaced(values)
    tools = ToolRegistry(value for value in values if isinstance(value, Tool))
    agents = tuple(dict.fromkeys(value for value in values if valet_of(value) is not None))
    groups = _groups(tools, agents)
    return Plugins(
        tools=ToolRegistry(replace(tool, group=groups[tool.name]) if tool.name in groups else tool for tool in tools),
        groups=groups,
        agents=agents,
        hooks=tuple(dict.fromkeys(value for value in values if isinstance(value, Hook))),
        checks=tuple(dict.fromkeys(value for value in values if isinstance(value, SafetyCheck))),
        orchestrator=_one_orchestrator(values),
    )


def plugin_values(names: Sequence[str], brought: Sequence[Any] = ()) -> list[Any]:
    """Return all values of the named modules, and those of a program."""
    return [*(value for module in _modules(names) for value in vars(module).values()), *brought]


def _check(values: Sequence[object]) -> None:
    """Raise `ConfigError` for a hook, a rule, a judge or a check that could not work."""
    for base in (Hook, SafetyCheck):
        check_instances(values, base)
    for kind in dict.fromkeys(type(value) for value in values if isinstance(value, Hook | SafetyCheck)):
        check_methods(
            kind, next(base for base in (AskingJudge, Judge, Rule, Hook, SafetyCheck) if issubclass(kind, base))
        )
    for judge in values:
        if isinstance(judge, AskingJudge) and not hasattr(judge, "client"):
            name = f"{type(judge).__module__}.{type(judge).__qualname__}"
            raise ConfigError(f"{name} has no client: give it the model that it asks, as `self.client`.")


def _without_replaced(values: Sequence[Any]) -> list[Any]:
    """Return the values without the tools and agents that others of their name replace."""
    marked = [value if isinstance(value, Tool) else valet_of(value) for value in values]
    replaced = {mark.name for mark in marked if mark is not None and mark.replaces}
    return [
        value
        for value, mark in zip(values, marked, strict=True)
        if mark is None or mark.replaces or mark.name not in replaced
    ]


def _modules(names: Sequence[str]) -> list[ModuleType]:
    return [module for name in _with_abilities(names) for module in _import_with_submodules(name)]


def _with_abilities(names: Sequence[str]) -> Iterator[str]:
    """Yield the module names; the shipped package adds the abilities' modules, and a named ability its own."""
    for name in names:
        if (named := ability_of(name)) is not None:
            yield from named.tools if named in all_abilities() else ()
            continue
        yield name
        if name == SHIPPED:
            yield from (module for ability in all_abilities() if is_shipped(ability) for module in ability.tools)


def _groups(tools: Iterable[AnyTool], agents: Iterable[type[StandardAgent]]) -> dict[str, str]:
    """Return the groups of tools and agents that name none: a plugin's module with several of them is a group."""
    modules = {tool.name: tool.fn.__module__ for tool in tools if tool.group is None}
    modules |= {valet.name: agent.__module__ for agent in agents if (valet := valet_of(agent)) and valet.group is None}
    members = Counter(modules.values())
    return {
        name: module.rpartition(".")[2]
        for name, module in modules.items()
        if members[module] >= GROUPED_FROM and module.partition(".")[0] not in OURS
    }


def _import_with_submodules(name: str) -> list[ModuleType]:
    module = _import(name)
    paths: Iterable[str] = getattr(module, "__path__", ())
    below = sorted(info.name for info in pkgutil.iter_modules(paths) if info.name != "__main__")
    return [module, *(_import(f"{name}.{child}") for child in below)]


def _import(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ConfigError:
        raise
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise ConfigError(f"ONEVALET_PLUGINS names {name!r}, and there is no such module.") from error
        raise ConfigError(f"{_place(error, name)}: it imports {error.name!r}, which is missing.") from error
    except SyntaxError as error:
        raise ConfigError(f"{error.filename}:{error.lineno}: {error.msg}.") from error
    except Exception as error:  # a plugin may raise anything while it is imported: name it, with its place
        raise ConfigError(f"{_place(error, name)}: {type(error).__name__}: {error}.") from error


def _place(error: BaseException, name: str) -> str:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "importlib" not in frame.filename]
    inside = [frame for frame in frames if frame.filename != __file__]
    return f"{inside[-1].filename}:{inside[-1].lineno}" if inside else f"the plugin {name}"


def _one_orchestrator(values: Sequence[object]) -> type[Orchestrator]:
    kinds = {
        value
        for value in values
        if isinstance(value, type) and issubclass(value, Orchestrator) and value is not Orchestrator
    }
    last = [kind for kind in kinds if not any(other is not kind and issubclass(other, kind) for other in kinds)]
    if len(last) > 1:
        names = " and ".join(sorted(f"{kind.__module__}.{kind.__qualname__}" for kind in last))
        raise ConfigError(f"The plugins bring more than one Orchestrator: {names}; keep one.")
    return last[0] if last else Orchestrator
