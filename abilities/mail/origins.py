"""The mails that files came from, with their claimed senders; a person's own mailbox proves no sender."""

from collections.abc import Sequence

from abilities.mail.opening import READ
from onevalet import MailRef, ToolExecutionContext, ToolFailed, stored_with

_MAX_SENDERS = 5


async def note_origin(context: ToolExecutionContext, file_id: str, ref: MailRef, sender: str) -> None:
    """Keep who sent a file, until the mail account is disconnected."""
    place, key = stored_with(ref.service, ref.account), _key(file_id)
    try:
        kept = await context.storage.get(place, key)
        known = list(kept.value) if kept is not None and isinstance(kept.value, list) else []
        if sender and sender not in known:
            await context.storage.put(place, key, [*known, sender][-_MAX_SENDERS:])
    except ToolFailed:  # this assistant keeps nothing, so that nothing is known of the file's sender
        return


async def senders_of(context: ToolExecutionContext, file_id: str) -> Sequence[str]:
    """Return the addresses from which a file came, as the mails say; none for a file that came in another way."""
    found = dict[str, None]()
    try:
        for account in await context.accounts.list(READ):
            kept = await context.storage.get(stored_with(account.service, account.name), _key(file_id))
            if kept is not None and isinstance(kept.value, list):
                found |= dict.fromkeys(map(str, kept.value))
    except ToolFailed:
        return ()
    return tuple(found)


def _key(file_id: str) -> str:
    return f"file {file_id}"
