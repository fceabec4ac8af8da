"""`@valet`: mark an agent's class. It registers nothing: a loader collects the classes of the plugins' modules."""

import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, TypedDict, Unpack

from core.agents.account_field import AccountField
from core.agents.fields import Field, InputField, fields_of, wrong_choices
from core.agents.standard_agent import StandardAgent, Valet, place_of_class
from core.errors import ConfigError
from core.journal.types import Effect
from core.language.catalogue import gettext_noop
from core.tools.account_argument import ACCOUNT, ACCOUNT_SAYS, checked_needs
from core.tools.docstrings import read_docstring
from core.tools.tool import EffectName, Risk

_NAME = re.compile(r"^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$")


class ValetOptions(TypedDict, total=False):
    """The options of `@valet`; `core.agents.standard_agent.Valet` explains them."""

    name: str
    description: str
    expose_as_tool: bool
    effect: EffectName
    risk: Risk
    group: str
    accounts: Sequence[str]
    timeout: float | None
    ttl: timedelta | None
    addresses: Sequence[str]
    asks_itself: bool
    standing: Sequence[str]
    hands_on: bool
    replaces: bool


def valet[Agent: StandardAgent](**options: Unpack[ValetOptions]) -> Callable[[type[Agent]], type[Agent]]:
    """Make a class an agent.

    The name defaults to the class's name, the description to its docstring's summary. An agent with an `on_running` of
    its own is not run again if its end is unknown, unless `effect` is "read" or "idempotent"; an agent that only works
    with its tools resumes. Raises `ConfigError` with the file and line if something is missing.
    """

    def mark(agent: type[Agent]) -> type[Agent]:
        place = place_of_class(agent)
        name = options.get("name") or agent.__name__
        if not _NAME.match(name):
            raise ConfigError(f"{place}: {name!r} cannot name an agent; use up to 64 letters, digits, _ and -.")
        description = options.get("description") or read_docstring(vars(agent).get("__doc__")).summary
        if not description:
            raise ConfigError(
                f"{place}: the agent {name} needs a docstring that tells the model what it does; "
                f'write """Do this and that.""" below its class line.'
            )
        accounts = checked_needs(options.get("accounts", ()), place)
        if accounts:
            _add_account(agent)
        _check_fields(agent, name, place)
        effect = _effect(agent, options.get("effect"), place)
        values: dict[str, Any] = {**options, "name": name, "description": description, "effect": effect}
        values["accounts"] = accounts
        agent.valet = Valet(agent=agent, **values)
        return agent

    return mark


def valet_of(value: object) -> Valet | None:
    """Return the options of a class that `@valet` marked itself; None for anything else."""
    if not (isinstance(value, type) and issubclass(value, StandardAgent)):
        return None
    marked = vars(value).get("valet")
    return marked if isinstance(marked, Valet) else None


def _add_account(agent: type[StandardAgent]) -> None:
    """Add the field for the account's name to an agent that needs an account, unless it has its own."""
    if ACCOUNT not in fields_of(agent, Field):
        field = AccountField(gettext_noop("Which account?"), description=ACCOUNT_SAYS, required=False, default="")
        field.__set_name__(agent, ACCOUNT)
        setattr(agent, ACCOUNT, field)


def _effect(agent: type[StandardAgent], given: str | None, place: str) -> Effect:
    if not given:
        return Effect.IDEMPOTENT if agent.on_running is StandardAgent.on_running else Effect.ONCE
    if given not in tuple(Effect):
        raise ConfigError(f'{place}: effect={given!r} is not known; write "read", "idempotent" or "once".')
    return Effect(given)


def _check_fields(agent: type, name: str, place: str) -> None:
    for field in fields_of(agent, Field).values():
        if field.name == "task_instruction" or hasattr(StandardAgent, field.name):
            raise ConfigError(f"{place}: the agent {name} cannot have a field named {field.name!r}; call it otherwise.")
        try:
            field.schema()
        except Exception as error:  # pydantic has many errors for a type that it cannot take
            raise ConfigError(
                f"{place}: the field {field.name} of {name} has a type that JSON cannot hold; "
                "use str, int, list[str], …"
            ) from error
        if isinstance(field, InputField) and (problem := wrong_choices(field)):
            raise ConfigError(f"{place}: the choices of {field.name} of {name} {problem}.")
