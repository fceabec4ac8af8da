"""A whole briefing: its parts read side by side. A failing part is replaced by a sentence and costs no other."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass

from abilities.briefing.parts import READERS, BriefingRequest, heading, note_refused
from abilities.briefing.sections import LONG, PARTS, SHORT, Part, Section, briefing_text
from abilities.calendar.opening import wall_now
from onevalet import (
    AccountMissing,
    StoreUnavailable,
    ToolExecutionContext,
    ToolFailed,
    ToolRetry,
    gettext,
)

CONNECT = "connect"
"""The word by which people connect an account; it is the same in every language."""
_SECONDS = 40.0


@dataclass(frozen=True, slots=True)
class Briefing:
    """A briefing in words. `missing`: the parts that no account can be read for, whether that is said or not."""

    text: str
    missing: frozenset[Part] = frozenset()


async def read_briefing(
    context: ToolExecutionContext, without: Collection[str] = (), place: str = "", known: Collection[str] = ()
) -> Briefing:
    """Read a briefing for a person. Of the parts in `known` it is not said again that they lack an account."""
    short = context.channel == "sms"
    wanted = BriefingRequest(context, SHORT if short else LONG, place)
    parts = [part for part in PARTS if part not in without]
    read = await asyncio.gather(*(_read(part, wanted) for part in parts))
    missing = frozenset(part for part, (_, lacking) in zip(parts, read, strict=True) if lacking)
    sections = [
        section
        for part, (section, lacking) in zip(parts, read, strict=True)
        if section is not None and not (lacking and part in known)
    ]
    day = wall_now(context, wanted.zone).date()
    return Briefing(briefing_text(day, sections or [_nothing()], short=short), missing)


async def _read(part: Part, wanted: BriefingRequest) -> tuple[Section | None, bool]:
    """Return a part, and whether it lacks an account."""
    try:
        async with asyncio.timeout(_SECONDS):
            return await READERS[part](wanted), False
    except AccountMissing as error:
        why = str(error) if error.account else gettext("You have connected no account for it.")
        problem = gettext("{problem} To connect one, write “{word}”.", problem=why, word=CONNECT)
        return _failed(part, problem), True
    except (ToolFailed, ToolRetry) as error:
        await note_refused(wanted.context, error)
        return _failed(part, str(error)), False
    except TimeoutError:
        return _failed(part, gettext("It took too long to answer.")), False
    except StoreUnavailable:
        raise
    except Exception:
        # If a part fails with any error, the others are still worth reading.
        wanted.context.log.exception("briefing_part_failed", part=part)
        return _failed(part, gettext("It could not be read this time.")), False


def _failed(part: Part, problem: str) -> Section:
    return Section(heading(part), problem=problem)


def _nothing() -> Section:
    return Section(gettext("Today"), gettext("there is nothing to tell"))
