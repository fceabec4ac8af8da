"""From a line typed in the terminal to an InboundMessage; pure."""

from core.language.written import language_written
from core.messaging.chat_reader import chat_words
from core.messaging.messages import Address, InboundMessage

ACCOUNT = "local"


def parse_line(line: str, *, person: str, key: str) -> InboundMessage:
    """Read a line; `/new` and the like are commands. `person` is the identity's user key."""
    command = None
    if line.startswith("/") and (words := line[1:].split(maxsplit=1)):
        command = chat_words().slash(words[0], words[1] if len(words) > 1 else "")
    return InboundMessage(
        address=Address("terminal", ACCOUNT, peer=person),
        sender=person,
        keys=(key,),
        text=line,
        command=command,
        sender_language=language_written(line) or None,
        provider_id=key,
    )
