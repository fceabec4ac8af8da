"""Standing consents in words: on the card, in the list, in the notice of each use. Pure."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import cast
from zoneinfo import ZoneInfo

from core.consents.chat_words import WITHDRAW
from core.consents.types import Agreed, StandingConsent
from core.json_types import Json, JsonObject
from core.language.catalogue import gettext, in_a_row, labelled, listed, name_in_words
from core.language.times import near_moment_in_words, number_in_words
from core.messaging.visible_text import literal, plain_words, visible

_MAX_TOLD = 600
"""Characters of the arguments in the notice of a use."""


def bounds_in_words(bounds: JsonObject) -> dict[str, Json]:
    """Return each bound in words, by the parameter in words; a single entry stands for all empty parameters."""
    said: dict[str, Json] = {}
    rest = False
    for name, bound in bounds.items():
        words = _bound_in_words(cast(JsonObject, bound))
        rest = rest or not words
        if words:
            said[name_in_words(name)] = words
    return said | ({gettext("all else"): gettext("left out")} if rest else {})


def agreed_in_words(agreed: Agreed) -> str:
    """Describe the calls that a consent covers, on one line and without Markdown."""
    bounds = [labelled(name, str(words)) for name, words in bounds_in_words(agreed.bounds).items()]
    return plain_words(labelled(name_in_words(agreed.tool), in_a_row(bounds)))


def consents_text(consents: Sequence[StandingConsent], zone: ZoneInfo, now: datetime) -> str:
    """Return the list of a person's consents, a line each, and the words that end them."""
    if not consents:
        return gettext("There is nothing that I do without asking you.")
    lines = [f"- {_line(consent, zone, now)}" for consent in consents]
    how = gettext(
        "{word} {number} ends one of them, {word} alone ends all.",
        word=WITHDRAW.word().upper(),
        number=consents[0].number,
    )
    return "\n".join([gettext("What I do without asking you:"), *lines, "", how])


def withdrawn_text(numbers: Sequence[int]) -> str:
    """Return the sentence about withdrawn consents."""
    if len(numbers) == 1:
        return gettext("Consent {number} has ended. From now on I ask you first.", number=numbers[0])
    return gettext(
        "Consents {numbers} have ended. From now on I ask you first.", numbers=listed([str(n) for n in numbers])
    )


def use_text(consent: StandingConsent, use: str, summary: str, rendered: Sequence[tuple[str, str]]) -> str:
    """Return the notice of a use; `use` stands for its number."""
    head = gettext(
        "Without asking, by your consent {number} (use {use} of {most}): {action}",
        number=consent.number,
        use=use,
        most=consent.agreed.max_uses,
        action=literal(plain_words(summary)),
    )
    details = "\n".join(labelled(label, visible(text)) for label, text in rendered)
    cut = details if len(details) <= _MAX_TOLD else f"{details[:_MAX_TOLD]}…"
    quoted = [f"> {literal(line)}" for line in cut.splitlines()]
    how = gettext("{word} {number} ends this consent.", word=WITHDRAW.word().upper(), number=consent.number)
    return "\n".join([head, *quoted, how])


def changed_text(consent: StandingConsent) -> str:
    """Return the message to the person about a consent that ended because its tool has changed."""
    return gettext(
        "Your consent {number} has ended, since the ability “{tool}” has changed. From now on I ask you first.",
        number=consent.number,
        tool=name_in_words(consent.agreed.tool),
    )


def altered_text(consent: StandingConsent) -> str:
    return gettext("Your consent {number} has ended: its stored form is not what you approved.", number=consent.number)


def _line(consent: StandingConsent, zone: ZoneInfo, now: datetime) -> str:
    agreed = consent.agreed
    return gettext(
        "{number}. {action} (used {used} of {most} times, until {moment})",
        number=consent.number,
        action=literal(agreed_in_words(agreed)),
        used=consent.used,
        most=agreed.max_uses,
        moment=near_moment_in_words(agreed.expires_at, now, zone),
    )


def _bound_in_words(bound: Mapping[str, Json]) -> str:
    """Return a bound in words; empty for a value that stays empty."""
    match bound:
        case {"is": value}:
            return "" if value in (None, "", [], {}) else gettext("always {value}", value=_exactly(value))
        case {"one_of": list(values)}:
            return gettext("one of {values}", values=listed([_exactly(value) for value in values], "or"))
        case {"from": int() | float() as low, "to": int() | float() as high}:
            return gettext("from {low} to {high}", low=number_in_words(low), high=number_in_words(high))
        case {"text": int(most)}:
            return gettext("any text of at most {number} characters", number=most)
        case _:
            return ""


def _exactly(value: Json) -> str:
    """Return a value in a form that no other value has, and that the words around it cannot have."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    shown = visible(text).replace('"', "<U+0022>").replace("\n", "<U+000A>")
    return f'"{shown}"' if isinstance(value, str) else shown
