"""The words by which a person chooses how a long answer comes; they count while one is held."""

from core.language.catalogue import gettext_noop
from core.messaging.chat_words import A_NUMBER, NOWHERE, Channels, ChatCommand

_BY_TEXT = Channels(alone=frozenset({"sms"}), listed=NOWHERE, menu=NOWHERE)

SEND = ChatCommand(
    name="send",
    words={
        "en": ("send",),
        "es": ("enviar",),
        "de": ("senden",),
        "fr": ("envoyer",),
        "pt": ("enviar",),
        "zh": ("发送",),
    },
    help=gettext_noop("all of a long answer"),
    channels=_BY_TEXT,
    answer="abilities.cost.answers:send",
    spoken=False,
)
SHORT = ChatCommand(
    name="short",
    words={
        "en": ("short",),
        "es": ("corto",),
        "de": ("kurz",),
        "fr": ("court",),
        "pt": ("curto",),
        "zh": ("简短",),
    },
    help=gettext_noop("a long answer, shortened"),
    channels=_BY_TEXT,
    answer="abilities.cost.answers:shorten",
    spoken=False,
)
READ = ChatCommand(
    name="read",
    words={"en": ("read",), "es": ("leer",), "de": ("lesen",), "fr": ("lire",), "pt": ("ler",), "zh": ("阅读",)},
    help=gettext_noop("a link to a long answer"),
    channels=_BY_TEXT,
    answer="abilities.cost.answers:read",
    spoken=False,
)
CHAT = ChatCommand(
    name="chat",
    words={
        "en": ("chat",),
        "es": ("otro chat",),
        "de": ("anderswo",),
        "fr": ("ailleurs",),
        "pt": ("outra conversa",),
        "zh": ("聊天",),
    },
    help=gettext_noop("a long answer in another chat"),
    channels=_BY_TEXT,
    answer="abilities.cost.answers:elsewhere",
    spoken=False,
)
ASK_ABOVE = ChatCommand(
    name="askabove",
    words={
        "en": ("ask above",),
        "es": ("pregunta a partir de",),
        "de": ("frage ab",),
        "fr": ("demande au-delà de",),
        "pt": ("pergunte acima de",),
        "zh": ("询问超过",),
    },
    argument=A_NUMBER,
    help=gettext_noop("ask me before longer answers"),
    channels=Channels(alone=NOWHERE, listed=NOWHERE, menu=NOWHERE),
    example="ask above 4",
    answer="abilities.cost.answers:ask_above",
    spoken=False,
)
WORDS = (SEND, SHORT, READ, CHAT, ASK_ABOVE)
