"""The words that people say about where they are."""

from core.language.catalogue import gettext_noop
from core.messaging.chat_words import UNLISTED, Channels, ChatCommand

PLACES = ChatCommand(
    name="places",
    words={
        "en": ("places", "my places"),
        "es": ("mis lugares",),
        "de": ("meine orte",),
        "fr": ("mes lieux",),
        "pt": ("meus lugares",),
        "zh": ("我的地点",),
    },
    help=gettext_noop("where I know you to be"),
    channels=Channels(unlisted=frozenset({"sms"})),  # its list is long enough
    answer="abilities.places.answers:list_places",
)
WHERE_AM_I = ChatCommand(
    name="whereami",
    words={
        "en": ("where am i",),
        "es": ("dónde estoy",),
        "de": ("wo bin ich",),
        "fr": ("où suis-je",),
        "pt": ("onde estou",),
        "zh": ("我在哪里",),
    },
    help=gettext_noop("tell me where you are"),
    channels=UNLISTED,
    typed="where am I",
    loosely=True,
    answer="abilities.places.answers:where_am_i",
)
"""The list of places tells about both of these."""
FORGET_MY_PLACE = ChatCommand(
    name="forgetmyplace",
    words={
        "en": ("forget my place", "forget my places"),
        "es": ("olvida dónde estoy",),
        "de": ("vergiss meinen ort",),
        "fr": ("oublie où je suis",),
        "pt": ("esqueça onde estou",),
        "zh": ("忘记我的位置",),
    },
    help=gettext_noop("have me delete where you are"),
    channels=UNLISTED,
    typed="forget my place",
    answer="abilities.places.answers:forget",
)
WORDS = (PLACES, WHERE_AM_I, FORGET_MY_PLACE)
