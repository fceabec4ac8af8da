"""A person's preferences: parsed from their words, checked, and stored."""

import re
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import time
from enum import StrEnum
from functools import cache
from typing import Any
from unicodedata import combining, normalize
from zoneinfo import available_timezones

from babel import Locale

from core.db.database import Database
from core.errors import OneValetError
from core.language.catalogue import LANGUAGES, gettext, gettext_noop, speaking
from core.language.tags import named_tag
from core.people.chat_names import channel_name
from core.people.switches import OFF, ON, switches
from core.people.tenant import QuietHours, WhileRunning

MAX_NAME = 80
"""Characters of a person's name."""
MAX_MUTED = 50
_NAMES = (
    gettext_noop("name"),
    gettext_noop("language"),
    gettext_noop("timezone"),
    gettext_noop("channel"),
    gettext_noop("quiet"),
    gettext_noop("busy"),
    gettext_noop("mute"),
)
"""The names of the preferences, for people of other languages."""
_WHILE_BUSY = {
    WhileRunning.STEER: gettext_noop("what you write meanwhile joins the answer"),
    WhileRunning.QUEUE: gettext_noop("what you write meanwhile is answered next"),
    WhileRunning.INTERRUPT: gettext_noop("what you write meanwhile starts the answer over"),
}
FROM_PROFILE = "profile"
"""The source of a language that the person stated, in place of a channel's name."""
_CITIES_OF = {"pt": "pt_PT"}
"""The locale whose names of cities go with a language, if it is not the language's own."""
SWITCH = "switch."
"""The prefix of a switch's name where it stands among the columns of preferences."""
WORDS_TELL = ("sms", "email", "terminal")
"""The channels whose provider tells no language, so that the person's words do."""


class Preference(StrEnum):
    """The preferences, by the names that commands and the tool use."""

    NAME = "name"
    LANGUAGE = "language"
    TIMEZONE = "timezone"
    CHANNEL = "channel"
    QUIET = "quiet"
    BUSY = "busy"
    """The treatment of messages that arrive while the assistant works: steer, queue or interrupt."""
    MUTE = "mute"
    """Categories of notifications that are not sent."""


class PreferenceRefused(OneValetError):
    """A value cannot be stored; the message is a plain sentence that names the possible values."""


@dataclass(frozen=True, slots=True)
class Preferences:
    """A person's preferences. `timezone` is an IANA name, `language` a BCP 47 tag; None for unset values."""

    name: str | None = None
    language: str | None = None
    timezone: str | None = None
    channel: str | None = None
    quiet: QuietHours | None = None
    busy: WhileRunning = WhileRunning.STEER
    channels: tuple[str, ...] = ()
    """Channels on which the person can be reached now."""
    muted: tuple[str, ...] = ()
    """Categories of notifications that are not sent; `*`: all but urgent notifications."""
    language_from: str | None = None
    """The channel, or `profile`, that gave the language; None if the person chose it."""
    on: tuple[str, ...] = ()
    """The switches of abilities that the person has turned on."""


class PreferenceStore:
    """Read and store people's preferences."""

    def __init__(self, database: Database, idle: Mapping[str, str] | None = None) -> None:
        """`idle`: the switches that do nothing here, by name, with the sentences that say why."""
        self._database = database
        self.idle = idle or {}

    async def read(self, tenant_id: str) -> Preferences:
        row = await self._database.call("select * from read_person($1)", tenant_id)
        return Preferences() if row is None else _preferences(dict(row), row["channels"])

    async def set(self, tenant_id: str, name: str, value: str, turn_id: str | None = None) -> Preferences:
        """Store a preference in the person's words; raises `PreferenceRefused`."""
        known = await self.read(tenant_id)
        columns = read_preference(name, value, known.channels)
        await self._database.rows("select keep_preferences($1,$2,$3)", tenant_id, columns, turn_id or "")
        return await self.read(tenant_id)

    async def change(
        self, tenant_id: str, name: str, value: str, turn_id: str, call: str
    ) -> tuple[Preferences, Preferences]:
        """Store a preference as `set` does; return all as they were before and after.

        A repeat of the call, after a crash, stores nothing more and returns the same again.
        """
        channels = (await self.read(tenant_id)).channels
        columns = read_preference(name, value, channels)
        row = await self._database.call(
            "select * from change_preferences($1,$2,$3,$4)", tenant_id, columns, turn_id, call
        )
        if row is None:
            return Preferences(), Preferences()
        return _preferences(row["before"], channels), _preferences(row["after"], channels)

    async def put_back(self, tenant_id: str, columns: Mapping[str, str], turn_id: str) -> Preferences:
        """Store columns as they were before."""
        await self._database.rows("select keep_preferences($1,$2,$3)", tenant_id, dict(columns), turn_id)
        return await self.read(tenant_id)

    async def needs_timezone(self, tenant_id: str) -> bool:
        """Return whether to ask for a person's timezone before storing a first schedule."""
        return not (await self.read(tenant_id)).timezone


def _preferences(columns: Mapping[str, Any], channels: Sequence[str]) -> Preferences:
    quiet = None
    if columns["quiet_from"]:
        quiet = QuietHours(time.fromisoformat(columns["quiet_from"]), time.fromisoformat(columns["quiet_until"]))
    return Preferences(
        columns["name"] or None,
        columns["language"] or None,
        columns["timezone"] or None,
        columns["preferred_channel"] or None,
        quiet,
        WhileRunning(columns["while_running"]),
        tuple(channels),
        tuple(columns["muted"]),
        columns["language_from"] or None,
        tuple(columns.get("switches") or ()),
    )


def read_preference(name: str, value: str, channels: tuple[str, ...]) -> Mapping[str, str]:
    """Return the columns of a preference; an empty value, `off` or `none` unsets it."""
    value = " ".join(value.split())
    if value.lower() in ("off", "none", "nothing", "-"):
        value = ""
    match name.strip().lower():
        case Preference.NAME:
            if len(value) > MAX_NAME:
                raise PreferenceRefused(gettext("A name has at most {most} characters.", most=MAX_NAME))
            return {"name": value}
        case Preference.LANGUAGE:
            return {"language": _language(value)}
        case Preference.TIMEZONE:
            return {"timezone": find_timezone(value) if value else ""}
        case Preference.CHANNEL:
            return {"preferred_channel": _channel(value, channels)}
        case Preference.QUIET:
            start, end = _quiet(value) if value else ("", "")
            return {"quiet_from": start, "quiet_until": end}
        case Preference.BUSY:
            if value and value.lower() not in list(WhileRunning):
                raise PreferenceRefused(gettext("Write one of {words}.", words=", ".join(WhileRunning)))
            return {"while_running": value.lower() or WhileRunning.STEER.value}
        case Preference.MUTE:
            return {"muted": _muted(value)}
        case switch if switch in switches():
            return {f"{SWITCH}{switch}": _on_or_off(value)}
    names = ", ".join((*Preference, *switches()))
    raise PreferenceRefused(gettext("There is no preference {name}; there are {names}.", name=repr(name), names=names))


def _on_or_off(value: str) -> str:
    if value.casefold() not in ON | OFF:
        raise PreferenceRefused(gettext("Write on or off."))
    return "on" if value.casefold() in ON else ""


def find_timezone(text: str) -> str:
    """Return the IANA name of a timezone that is written in full or by its city; raises `PreferenceRefused`."""
    names = _zones().get(_as_key(text), ())
    if len(names) == 1:
        return names[0]
    if names:
        raise PreferenceRefused(gettext("There are several: {names}. Which one is it?", names=", ".join(sorted(names))))
    raise PreferenceRefused(gettext("I know no such timezone: write a city's, such as Europe/Lisbon or Lisbon."))


def written(preferences: Preferences) -> str:
    """Return preferences as text, a line each, in the language that is among them: it may just have been set."""
    with speaking(preferences.language) if preferences.language else nullcontext():
        names = (*Preference, *switches())
        return "\n".join(f"{label_of(name)}: {value_in_words(preferences, name)}" for name in names)


def value_in_words(preferences: Preferences, name: str) -> str:
    """Return a preference as text for the person."""
    return _values(preferences)[name] or gettext("not set")


def _values(preferences: Preferences) -> dict[str, str | None]:
    quiet = preferences.quiet
    return {name: gettext("turned on") if name in preferences.on else gettext("turned off") for name in switches()} | {
        Preference.NAME: preferences.name,
        Preference.LANGUAGE: _shown_language(preferences),
        Preference.TIMEZONE: preferences.timezone,
        Preference.CHANNEL: preferences.channel,
        Preference.QUIET: f"{quiet.start:%H:%M}-{quiet.end:%H:%M}" if quiet else "",
        Preference.BUSY: f"{preferences.busy.value} ({gettext(_WHILE_BUSY[preferences.busy])})",
        Preference.MUTE: gettext("all but urgent") if "*" in preferences.muted else ", ".join(preferences.muted),
    }


def label_of(name: str) -> str:
    """Return the word that sets a preference, in the person's language."""
    return gettext(name)


def _shown_language(preferences: Preferences) -> str | None:
    language, source = preferences.language, preferences.language_from
    if not language or not source:
        return language
    if source == FROM_PROFILE:
        return gettext("{language} (from your profile)", language=language)
    if source in WORDS_TELL:
        return gettext("{language} (as you write)", language=language)
    return gettext("{language} (as {channel} says)", language=language, channel=channel_name(source))


@cache
def _zones() -> dict[str, tuple[str, ...]]:
    """Return the timezones by full name, and by city if they lie in a region, in the languages that we speak."""
    zones: dict[str, set[str]] = {}
    known = available_timezones()  # it reads the whole tree of files
    for zone in known:
        region, _, city = zone.partition("/")
        if region in ("posix", "right", "Etc", "SystemV") or zone in ("localtime", "posixrules", "Factory"):
            continue
        zones.setdefault(zone.casefold(), set()).add(zone)
        if city:
            zones.setdefault(zone.rpartition("/")[2].casefold(), set()).add(zone)
    others: dict[str, set[str]] = {}
    for language in LANGUAGES:  # in any language: people write a city as they know it
        for zone, words in Locale.parse(_CITIES_OF.get(language, language)).time_zones.items():
            name = _as_key(words.get("city", ""))
            if name and name not in zones and zone in known:
                others.setdefault(name, set()).add(zone)
    return {name: tuple(matching) for name, matching in (zones | others).items()}


def _as_key(name: str) -> str:
    """Return a name as it is looked up: without accents, which few type everywhere, in small letters."""
    plain = "".join(letter for letter in normalize("NFKD", name.strip()) if not combining(letter))
    return re.sub(r"[\s-]+", "_", plain).casefold()


def _language(value: str) -> str:
    tag = named_tag(value)
    if value and not tag:
        raise PreferenceRefused(gettext("Write the language's code, such as en, pt-PT or de."))
    return tag


def _channel(value: str, channels: tuple[str, ...]) -> str:
    wanted = {"text": "sms", "texts": "sms"}.get(value.casefold(), value.casefold())
    if wanted and wanted not in channels:
        raise PreferenceRefused(
            gettext("I cannot reach you there; I can on {channels}.", channels=", ".join(channels))
            if channels
            else gettext("I cannot reach you there.")
        )
    return wanted


def _muted(value: str) -> str:
    if value.casefold() in ("all", "everything", "*"):
        return "*"
    names = {name.strip() for name in re.split(r",| and ", value.casefold()) if name.strip()}
    if len(names) > MAX_MUTED or not all(re.fullmatch(r"[\w -]{1,40}", name) for name in names):
        raise PreferenceRefused(
            gettext("Write the kinds of messages to leave out, such as: weather, price. Or: all, or off.")
        )
    return ",".join(sorted(names))


_QUIET = re.compile(r"(?:from )?(?P<from>[0-9:.apm ]+?) ?(?:-|to|until|till|–) ?(?P<until>[0-9:.apm ]+)", re.IGNORECASE)
_TIME = re.compile(r"(?P<hour>[0-9]{1,2})(?:[:.](?P<minute>[0-9]{2}))? ?(?P<half>[ap]m)?", re.IGNORECASE)


def _quiet(value: str) -> tuple[str, str]:
    if match := _QUIET.fullmatch(value):
        start, end = _time(match["from"]), _time(match["until"])
        if start != end:
            return start, end
    raise PreferenceRefused(gettext("Write the quiet hours as 22:00-07:00."))


def _time(text: str) -> str:
    if match := _TIME.fullmatch(text.strip()):
        hour, minute, half = int(match["hour"]), int(match["minute"] or 0), (match["half"] or "").lower()
        if half and 1 <= hour <= 12:
            hour = hour % 12 + (12 if half == "pm" else 0)
        elif half:
            hour = 99
        if hour < 24 and minute < 60:
            return f"{hour:02}:{minute:02}"
    raise PreferenceRefused(gettext("Write the quiet hours as 22:00-07:00."))
