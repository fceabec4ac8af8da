"""`@valet`: mark an agent's class. It registers nothing: a loader collects what the plugins' modules hold."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from core.agents.fields import Field, InputField, fields_of
from core.agents.standard_agent import StandardAgent
from core.errors import ConfigError
from core.journal.types import Effect
from core.json_types import Json, canonical_hash
from core.tools.docstrings import read_docstring

_NAME = re.compile(r"^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$")


@dataclass(frozen=True, slots=True)
class Valet:
    """An agent as it is known: its class, and what `@valet` said of it.

    `effect` says what may happen to a run whose end is not known (`journal.types.Effect`). `timeout` is in seconds,
    None for the loop's default; `ttl` is how long it may wait for a person, None for the pool's default. One with
    `needs_account` is offered to people who have connected an account of that service.
    """

    name: str
    description: str
    agent: type[StandardAgent]
    expose_as_tool: bool = True
    effect: Effect = Effect.ONCE
    risk: str = ""
    group: str = ""
    needs_account: str = ""
    timeout: float | None = None
    ttl: timedelta | None = None

    @property
    def inputs(self) -> dict[str, InputField]:
        """Return the input fields by name, in the order in which they are declared."""
        return dict(fields_of(self.agent, InputField))

    @property
    def place(self) -> str:
        """Return the file and line where it is written."""
        return place_of_class(self.agent)

    @property
    def schema_version(self) -> str:
        """Return a name for the shape of its fields: another one when a field comes, goes or changes its type."""
        shape: list[Json] = [[one.name, one.required, one.schema()] for one in self.inputs.values()]
        return canonical_hash(shape)[:16]


def valet[Agent: StandardAgent](
    *,
    name: str = "",
    description: str = "",
    expose_as_tool: bool = True,
    effect: str = "",
    risk: str = "",
    group: str = "",
    needs_account: str = "",
    timeout: float | None = None,
    ttl: timedelta | None = None,
) -> Callable[[type[Agent]], type[Agent]]:
    """Make an agent of a class.

    Its description is the docstring's unless given. An agent that has its own `on_running` is not run a second time
    when its end is not known, unless `effect` is "read" or "idempotent"; one that only works with its tools goes on
    where it was. Raises `ConfigError` with the file and line where something is missing.
    """

    def mark(agent: type[Agent]) -> type[Agent]:
        place = place_of_class(agent)
        known_as = name or agent.__name__
        if not _NAME.match(known_as):
            raise ConfigError(f"{place}: {known_as!r} cannot name an agent; use up to 64 letters, digits, _ and -.")
        said = description or read_docstring(vars(agent).get("__doc__")).summary
        if not said:
            raise ConfigError(
                f"{place}: the agent {known_as} needs a docstring that tells the model what it does; "
                f'write """Do this and that.""" below its class line.'
            )
        _check_fields(agent, known_as, place)
        agent.valet = Valet(
            name=known_as,
            description=said,
            agent=agent,
            expose_as_tool=expose_as_tool,
            effect=_effect(agent, effect, place),
            risk=risk,
            group=group,
            needs_account=needs_account,
            timeout=timeout,
            ttl=ttl,
        )
        return agent

    return mark


def valet_of(value: object) -> Valet | None:
    """Return what `@valet` said of a class; None for anything that it did not mark itself."""
    if not (isinstance(value, type) and issubclass(value, StandardAgent)):
        return None
    marked = vars(value).get("valet")
    return marked if isinstance(marked, Valet) else None


def place_of_class(agent: type) -> str:
    """Return "file:line" of a class, for messages to whoever wrote it."""
    try:
        return f"{inspect.getsourcefile(agent)}:{inspect.getsourcelines(agent)[1]}"
    except (OSError, TypeError):
        return f"{agent.__module__}.{agent.__qualname__}"


def _effect(agent: type[StandardAgent], given: str, place: str) -> Effect:
    if not given:
        return Effect.IDEMPOTENT if agent.on_running is StandardAgent.on_running else Effect.ONCE
    if given not in tuple(Effect):
        raise ConfigError(f'{place}: effect={given!r} is not known; write "read", "idempotent" or "once".')
    return Effect(given)


def _check_fields(agent: type, name: str, place: str) -> None:
    for one in fields_of(agent, Field).values():
        if one.name == "task_instruction" or hasattr(StandardAgent, one.name):
            raise ConfigError(f"{place}: the agent {name} cannot have a field named {one.name!r}; call it otherwise.")
        try:
            one.schema()
        except Exception as error:  # pydantic has many errors for a type that it cannot take
            raise ConfigError(
                f"{place}: the field {one.name} of {name} has a type that JSON cannot hold; use str, int, list[str], …"
            ) from error
