"""The present result of a new task: the value of a watch, the events of a source. Pure."""

from fnmatch import fnmatchcase

from abilities.tasks.descriptions import value_in_words
from abilities.tasks.kinds.condition import ConditionTrigger, Judged, tells_all
from abilities.tasks.kinds.event import EventTrigger
from abilities.tasks.kinds.json_paths import find
from abilities.tasks.kinds.schedule import TriggerError
from abilities.tasks.kinds.step_limit import Steps
from abilities.tasks.known_sources import KnownSources
from core.json_types import Json, canonical_json
from core.language.catalogue import gettext, listed

_UNITS = ("currency", "unit")
"""Fields beside a value that name its unit."""
_MAX_SHOWN = 300


def seen_now(trigger: ConditionTrigger, judged: Judged, result: Json) -> str:
    """Return the value of a first look, such as "412 EUR".

    It is empty for a plain no. Raises `TriggerError` if it could not be judged.
    """
    if judged.watch.errors:
        came = canonical_json(result)
        shown = came if len(came) <= _MAX_SHOWN else f"{came[:_MAX_SHOWN]}…"
        raise TriggerError(
            gettext(
                "I tried it, and it does not work: {error} The result is now: {shown}",
                error=judged.reason,
                shown=shown,
            )
        )
    if tells_all(trigger, judged.watch.value):
        return gettext("it is so already, and you are told at once") if judged.fires else ""
    unit = _unit(trigger.path, result)
    words = f"{value_in_words(judged.watch.value)}{f' {unit}' if unit else ''}"
    return gettext("{value}, so you are told at once", value=words) if judged.fires else words


def last_event(trigger: EventTrigger, known: KnownSources) -> str:
    """Return a note if no such event has come yet; raises `TriggerError` if none can ever come."""
    sources = [name for name in known.names() if fnmatchcase(name, trigger.source)]
    if not sources:
        missing = gettext("There is no event source “{name}”.", name=trigger.source)
        raise TriggerError(f"{missing} {_listed(known)}")
    types = sorted({type for name in sources for type in known.types(name)})
    if any(fnmatchcase(type, trigger.type) for type in types):
        return ""
    if all(name in known.channels for name in sources):
        never = gettext(
            "No event of the type “{type}” comes from {sources}.", type=trigger.type, sources=listed(sources)
        )
        raise TriggerError(f"{never} {_listed(known)}")
    if not types:
        return gettext("none has come yet")
    return gettext("none has come yet; so far: {types}", types=", ".join(types))


def _listed(known: KnownSources) -> str:
    if not known.names():
        return gettext("There is none: whoever runs the assistant can add one.")
    nothing = gettext("nothing came yet")
    parts = [f"{name} ({', '.join(known.types(name)) or nothing})" for name in known.names()]
    return gettext("There are: {sources}.", sources="; ".join(parts))


def _unit(path: str | None, result: Json) -> str:
    """Return the unit of the value at a path, as a field beside it says; empty if none does."""
    parent = path.rpartition(".")[0] if path is not None else ""
    try:
        beside = next(find(parent, result, Steps()), None) if parent else None
    except TriggerError:  # the text before the last dot need be no path
        return ""
    if not isinstance(beside, dict):
        return ""
    return next((str(beside[name]) for name in _UNITS if isinstance(beside.get(name), str)), "")
