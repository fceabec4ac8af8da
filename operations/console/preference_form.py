"""A person's preferences as a form: the value of each field, and the changes of a submitted form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from babel import Locale, UnknownLocaleError

from core.people.preferences import Preference, PreferenceRefused, Preferences, read_preference
from core.people.switches import switches
from core.people.tenant import WhileRunning
from operations.console.rendering import channel_label

FIELD = "prefer."
"""Goes before a preference's name in the form, which has other fields too."""
_BUSY = {
    WhileRunning.STEER: "joins the answer",
    WhileRunning.QUEUE: "is answered next",
    WhileRunning.INTERRUPT: "starts the answer over",
}


@dataclass(frozen=True, slots=True)
class PreferenceField:
    """A field. `choices` as (value, label), empty for a text field; `wrong` says why its value was refused."""

    name: str
    label: str
    value: str
    example: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    wrong: str = ""


def preference_fields(
    known: Preferences, typed: Mapping[str, str] | None = None, wrong: Mapping[str, str] | None = None
) -> Sequence[PreferenceField]:
    """Return the form. `typed`: the refused values, which stay in it."""
    values, refused = shown_values(known) | dict(typed or {}), wrong or {}
    channels = dict.fromkeys((*known.channels, *([known.channel] if known.channel else [])))
    reached = (("", "where they wrote last"), *((name, channel_label(name)) for name in channels))
    busy = tuple((value.value, label) for value, label in _BUSY.items())
    told: Sequence[tuple[Preference, str, str, tuple[tuple[str, str], ...]]] = (
        (Preference.NAME, "Name", "Ada", ()),
        (Preference.LANGUAGE, "Language", "Portuguese", ()),
        (Preference.TIMEZONE, "Timezone", "Lisbon", ()),
        (Preference.CHANNEL, "News goes", "", reached),
        (Preference.QUIET, "Quiet hours", "22:00-07:00", ()),
        (Preference.BUSY, "What is written during an answer", "", busy),
        (Preference.MUTE, "News to leave out", "price, mail", ()),
    )
    on_or_off = (("", "off"), ("on", "on"))
    of_abilities = [(switch.name, switch.title, "", on_or_off) for switch in switches().values()]
    return [
        PreferenceField(name, label, values[name], example, choices, refused.get(name, ""))
        for name, label, example, choices in (*told, *of_abilities)
    ]


def changes_of(known: Preferences, sent: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the preferences that a form changes, and the refused fields, each with a sentence."""
    before = shown_values(known)
    given: dict[str, str] = {name: " ".join(sent.get(f"{FIELD}{name}", before[name]).split()) for name in before}
    changed: dict[str, str] = {name: value for name, value in given.items() if value != before[name]}
    wrong: dict[str, str] = {}
    for name, value in changed.items():
        try:
            read_preference(name, value, known.channels)
        except PreferenceRefused as error:
            wrong[name] = str(error)
    return changed, wrong


def shown_values(known: Preferences) -> dict[str, str]:
    """Return the form's value of each preference."""
    return {name: "on" if name in known.on else "" for name in switches()} | {
        Preference.NAME: known.name or "",
        Preference.LANGUAGE: _language_name(known.language or ""),
        Preference.TIMEZONE: known.timezone or "",
        Preference.CHANNEL: known.channel or "",
        Preference.QUIET: f"{known.quiet.start:%H:%M}-{known.quiet.end:%H:%M}" if known.quiet else "",
        Preference.BUSY: known.busy.value,
        Preference.MUTE: "all" if "*" in known.muted else ", ".join(known.muted),
    }


@cache
def _language_name(tag: str) -> str:
    """Return a language's English name; its tag if it has no name."""
    if not tag:
        return ""
    try:
        return Locale.parse(tag, sep="-").get_display_name("en") or tag
    except (ValueError, UnknownLocaleError):
        return tag
