"""The sentences about groups."""

from collections.abc import Callable, Mapping, Sequence

from core.json_types import JsonObject
from core.language.catalogue import LANGUAGES, gettext, gettext_noop, speaking
from core.messaging.visible_text import literal

ON = gettext_noop(
    "I now take part in this group: mention me, or reply to me. I answer a member's private matters in their own "
    "chat. To end it, write “groups off” to me."
)
OFF = gettext_noop("I no longer take part in this group.")
MAY_NOT = gettext_noop("Only somebody who runs this group can turn me on here.")
WAITING = gettext_noop("I will take part here once the owner of my installation allows it; I have asked them.")
UNKNOWN = gettext_noop("I answer only people who know me. To get to know me, write to me in a direct chat.")
NOBODY = gettext_noop("I cannot tell who writes in the name of the group or of a channel. Write under your own name.")
_FROM = gettext_noop("You asked me in the group “{group}”: {words}")
_STATES: Mapping[str, str] = {
    "asked": gettext_noop("was asked for"),
    "waiting": gettext_noop("waits for you"),
    "on": gettext_noop("I take part"),
    "off": gettext_noop("I take no part"),
    "left": gettext_noop("I was removed"),
}
_CHANNELS: Mapping[str, str] = {"telegram": "Telegram", "slack": "Slack"}


def in_all(say: Callable[[], str]) -> JsonObject:
    """Return a sentence in every language: a group's own is known only where it is said."""
    texts: JsonObject = {}
    for language in LANGUAGES:
        with speaking(language):
            texts[language] = say()
    return texts


def from_group() -> str:
    """Return the line before the answer to words from a group, with places for both."""
    return gettext(_FROM, group="{group}", words="{words}")


def asked(name: str) -> str:
    """Return the group's reply once a member's words went to the member's own chat."""
    return gettext("I have asked {name}.", name=literal(name))


def nowhere(name: str) -> str:
    """Return the group's reply if a member has no chat with us."""
    return gettext("{name}, write to me in a direct chat: I answer private matters only there.", name=literal(name))


def wanted(title: str, channel: str) -> str:
    """Return the notice to the owner of a group that asks for us."""
    return gettext(
        "The group “{group}” on {channel} wants me to take part. Write “groups” to see and allow it.",
        group=literal(title),
        channel=_CHANNELS.get(channel, channel),
    )


def overview(groups: Sequence[JsonObject]) -> str:
    """Return the groups of an installation as a numbered list."""
    if not groups:
        return gettext("No group has asked for me. In a group, somebody who runs it writes “groups on” to me.")
    lines = [
        f"{number}. {literal(str(group['title']))} ({_CHANNELS.get(str(group['channel']), '')}): "
        + gettext(_STATES[str(group["state"])])
        for number, group in enumerate(groups, 1)
    ]
    return "\n".join([*lines, "", gettext("Allow one by “groups allow 1”, end it by “groups forbid 1”.")])


def how_to() -> str:
    """Return the reply to somebody who does not own the installation."""
    return gettext(
        "Add me to a group; somebody who runs it then writes “groups on” to me there, and the owner of my installation "
        "allows it."
    )


def no_such() -> str:
    """Return the answer to a number that no group has."""
    return gettext("There is no group with that number. Write “groups” to see them.")


def settled(group: JsonObject) -> str:
    """Return the answer to the owner's word about a group."""
    title = literal(str(group["title"]))
    match str(group["state"]):
        case "on":
            return gettext("I now take part in the group “{group}”.", group=title)
        case "off":
            return gettext("I no longer take part in the group “{group}”.", group=title)
        case "left":
            return gettext("I was removed from the group “{group}”. Add me there again first.", group=title)
    return gettext("The group “{group}” is allowed; somebody who runs it must want it, too.", group=title)
