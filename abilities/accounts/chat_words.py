"""The words that people say about their accounts elsewhere."""

from core.language.catalogue import gettext_noop
from core.messaging.chat_words import UNLISTED, ChatCommand

CONNECT = ChatCommand(
    name="connect",
    words={"en": ("connect",)},
    argument=r" ([a-z0-9]{1,20}(?: as [^\s/].{0,60})?)",
    help=gettext_noop("connect your mail, calendar or contacts"),
    answer="abilities.accounts.answers:connect",
)
ACCOUNTS = ChatCommand(
    name="accounts",
    words={"en": ("accounts",)},
    help=gettext_noop("what is connected, and how to end it"),
    answer="abilities.accounts.answers:list_accounts",
)
DISCONNECT = ChatCommand(
    name="disconnect",
    words={"en": ("disconnect",)},
    argument=r" ([^\s/].{0,200})",
    help=gettext_noop("end a connection"),
    channels=UNLISTED,
    answer="abilities.accounts.answers:disconnect",
)
"""The list of accounts tells about it."""
WORDS = (CONNECT, ACCOUNTS, DISCONNECT)
