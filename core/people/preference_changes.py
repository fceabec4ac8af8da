"""Preferences changed so that the change can be taken back, unless they were changed again since."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass

from core.json_types import JsonObject
from core.language.catalogue import gettext, speaking
from core.people.preferences import SWITCH, Preference, Preferences, PreferenceStore, label_of, value_in_words
from core.people.switches import switches

TAKE_BACK_PREFERENCE = "take_back_preference"
"""The tool that takes a change back; it ships with the plugins."""


@dataclass(frozen=True, slots=True)
class PreferenceChange:
    """A changed preference: its columns before and after.

    `title` names it with its new value.
    """

    name: str
    title: str
    before: Mapping[str, str]
    after: Mapping[str, str]
    text: str
    """The new value, not all: they would be two text messages. It is in the language that holds now."""

    @property
    def differs(self) -> bool:
        return self.before != self.after

    def to_json(self) -> JsonObject:
        """Return the arguments of the tool that takes it back."""
        return {"name": self.name, "before": dict(self.before), "after": dict(self.after)}


async def change_preference(
    store: PreferenceStore, tenant_id: str, name: str, value: str, turn_id: str, call: str
) -> PreferenceChange:
    """Store a preference in the person's words; raises `PreferenceRefused`. A repeat of the call changes nothing."""
    before, after = await store.change(tenant_id, name, value, turn_id, call)
    name = name.strip().lower()
    title = _line(after, name)
    with speaking(after.language) if after.language else nullcontext():
        text = _line(after, name)
        if name in after.on and (why := store.idle.get(name)):
            text = f"{text}\n{gettext(why)}"
    return PreferenceChange(name, title, columns_of(before, name), columns_of(after, name), text)


async def take_back_preference(
    store: PreferenceStore, tenant_id: str, name: str, before: Mapping[str, str], after: Mapping[str, str], turn_id: str
) -> str | None:
    """Store a preference as it was before, and return it in words; None if it has another value than `after` by now."""
    if columns_of(await store.read(tenant_id), name) not in (after, before):
        return None
    restored = await store.put_back(tenant_id, before, turn_id)
    return _line(restored, name)


def _line(preferences: Preferences, name: str) -> str:
    return gettext("{name}: {value}", name=label_of(name), value=value_in_words(preferences, name))


def columns_of(preferences: Preferences, name: str) -> dict[str, str]:
    """Return a preference as `keep_preferences` takes it."""
    quiet = preferences.quiet
    match name:
        case Preference.LANGUAGE:
            return {"language": preferences.language or "", "language_from": preferences.language_from or ""}
        case Preference.CHANNEL:
            return {"preferred_channel": preferences.channel or ""}
        case Preference.QUIET:
            start, end = (f"{at:%H:%M}" for at in (quiet.start, quiet.end)) if quiet else ("", "")
            return {"quiet_from": start, "quiet_until": end}
        case Preference.BUSY:
            return {"while_running": preferences.busy.value}
        case Preference.MUTE:
            return {"muted": ",".join(preferences.muted)}
        case Preference.NAME:
            return {"name": preferences.name or ""}
        case switch if switch in switches():
            return {f"{SWITCH}{switch}": "on" if switch in preferences.on else ""}
    return {"timezone": preferences.timezone or ""}
