"""The word for groups, with its arguments in each language."""

import re
from collections.abc import Mapping

from core.language.catalogue import gettext_noop
from core.messaging.chat_words import Channels, ChatCommand

ON, OFF, ALLOW, FORBID = "on", "off", "allow", "forbid"
VERBS: Mapping[str, dict[str, str]] = {
    ON: {"en": "on", "de": "an", "es": "sí", "fr": "oui", "pt": "sim", "zh": "开"},
    OFF: {"en": "off", "de": "aus", "es": "no", "fr": "non", "pt": "não", "zh": "关"},
    ALLOW: {"en": "allow", "de": "erlauben", "es": "permitir", "fr": "autoriser", "pt": "permitir", "zh": "允许"},
    FORBID: {"en": "forbid", "de": "verbieten", "es": "prohibir", "fr": "interdire", "pt": "proibir", "zh": "禁止"},
}
"""The acts on a group: the first two in the group itself, the others by the installation's owner."""


def _any(*verbs: str) -> str:
    return f"(?:{'|'.join(re.escape(word) for verb in verbs for word in dict.fromkeys(VERBS[verb].values()))})"


GROUPS = ChatCommand(
    name="groups",
    words={
        "en": ("groups",),
        "de": ("gruppen",),
        "es": ("grupos",),
        "fr": ("groupes",),
        "pt": ("grupos",),
        "zh": ("群组",),
    },
    argument=rf" ({_any(ON, OFF)}|{_any(ALLOW, FORBID)} #?[0-9]{{1,4}})",
    channels=Channels(listed=frozenset({"slack", "telegram"})),
    help=gettext_noop("the groups in which I take part"),
    answer="abilities.groups.answers:about_groups",
    spoken=False,
)


def read_argument(argument: str) -> tuple[str, int]:
    """Return the requested action, empty for none, and the number of a group, 0 for none."""
    first, _, number = argument.strip().casefold().partition(" ")
    verb = next((verb for verb, words in VERBS.items() if first in words.values()), "")
    return verb, int(number.lstrip("#")) if number.lstrip("#").isdecimal() else 0
