"""The answers to the words about where a person is."""

from collections.abc import Sequence
from zoneinfo import ZoneInfo

from abilities.places.chat_words import FORGET_MY_PLACE, WHERE_AM_I
from abilities.places.links import VALID
from abilities.places.places import Places
from abilities.places.types import How, SeenPlace
from core.language.catalogue import gettext, gettext_noop, in_a_row, listed, ngettext
from core.language.times import near_moment_in_words, number_in_words
from core.messaging.chat_words import CommandAnswer
from core.messaging.others_words import others_words
from core.messaging.visible_text import literal
from core.turns.words.asked import Asked

_CAME = {
    How.SENT: gettext_noop("sent {moment}"),
    How.NAMED: gettext_noop("sent {moment}"),
    How.LIVE: gettext_noop("shared live, last {moment}"),
    How.LINK: gettext_noop("reported by your phone {moment}"),
    How.SAID: gettext_noop("as you said {moment}"),
}


async def list_places(asked: Asked) -> CommandAnswer:
    """List where the person was, and their saved places."""
    places = asked.service(Places)
    seen, saved = await places.seen(), await places.saved()
    lines = [gettext("I do not know where you are. To tell me, write “{word}”.", word=WHERE_AM_I.word())]
    if seen:
        forget = gettext("To have that deleted now, write “{word}”.", word=FORGET_MY_PLACE.word())
        shown = [f"- {_line(place, places, asked)}" for place in seen]
        lines = [gettext("Where you were in the last 24 hours:"), *shown, "", forget]
    if saved:
        lines.append(gettext("Saved: {names}.", names=listed([literal(place.name) for place in saved])))
    return CommandAnswer("\n".join(lines))


async def where_am_i(asked: Asked) -> CommandAnswer:
    """Say where the person was last, and how they can tell where they are now."""
    places = asked.service(Places)
    place = await places.latest()
    known = [gettext("You were here last: {place}", place=_line(place, places, asked))] if place else []
    return CommandAnswer("\n".join([*known, *await _ways(asked, places)]))


async def forget(asked: Asked) -> CommandAnswer:
    """Delete where the person was."""
    gone, shared = await asked.service(Places).forget()
    if not gone:
        return CommandAnswer(gettext("I do not know where you are, so there is nothing to delete."))
    said = ngettext("Deleted: {number} place.", "Deleted: {number} places.", gone)
    if shared:
        kept = gettext("A live location that you still share is no longer kept: share it again if you want that.")
        said = f"{said} {kept}"
    return CommandAnswer(said)


async def _ways(asked: Asked, places: Places) -> Sequence[str]:
    """Return the ways in which the person can tell where they are."""
    place, now = asked.request.place, places.clock.now()
    ways = []
    if place.channel in places.takes_places:
        ways.append(gettext("To tell me where you are, send me your location here, or share it live."))
    if places.links and (link := await places.links.make(places.tenant_id, place.conversation_id, now)):
        minutes = round(VALID.total_seconds() / 60)
        ways.append(
            gettext(
                "To have your phone tell me where you are, open this link there within {minutes} minutes: {link}",
                minutes=minutes,
                link=link,
            )
        )
    elif not ways:
        ways.append(gettext("I cannot ask your phone at the moment: name the town in which you are instead."))
    return ways


def _line(place: SeenPlace, places: Places, asked: Asked) -> str:
    """Return a place in words: its coordinates, and when and how exactly it was known."""
    moment = near_moment_in_words(place.at, places.clock.now(), ZoneInfo(asked.request.tenant.timezone))
    parts = [f"{place.latitude:.5f}, {place.longitude:.5f}"]
    if place.name:
        parts.append(others_words(place.name))
    if place.accuracy is not None:
        parts.append(gettext("within {metres} m", metres=number_in_words(round(place.accuracy))))
    return in_a_row([*parts, gettext(_CAME[place.how], moment=moment)])
