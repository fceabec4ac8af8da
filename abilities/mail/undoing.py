"""The undo of sorting: the former flags and folder of each mail."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from abilities.mail.opening import CHANGE, mailbox_of
from onevalet import Mailbox, MailQuery, MailRef, ToolExecutionContext, ToolFailed, gettext, ngettext, tool

SORTED = "sorted_mail"
"""The collection in which a call notes mails before it changes them: after a crash it runs again on changed mails."""
_KEPT = timedelta(hours=1)
_HEAD = 16 * 1024
_MESSAGE_ID = re.compile(rb"^message-id:\s{0,5}<([!-;=?-~]{1,250})>", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class MailBefore:
    """A mail before the call. `message_id` is empty if it has none."""

    message_id: str
    flags: frozenset[str]


async def mails_before(
    context: ToolExecutionContext, box: Mailbox, mails: Sequence[MailRef], part: int
) -> dict[int, MailBefore]:
    """Return the state of a folder's mails before this call, by their UIDs, the same if it is repeated.

    `part` counts the folders of a call. Missing mails are left out.
    """
    key = f"{context.idempotency_key}.{part}"
    kept = await context.storage.get(SORTED, key)
    if kept is None or not isinstance(kept.value, dict):
        found = await box.fetch(mails[0].folder, [ref.uid for ref in mails], _HEAD)
        noted: Any = {str(mail.uid): [_message_id(mail.data), *sorted(mail.flags)] for mail in found}
        kept = await context.storage.put(SORTED, key, {"at": context.clock.now().isoformat(), "mails": noted})
    stored: Any = kept.value
    return {int(uid): MailBefore(id, frozenset(flags)) for uid, (id, *flags) in stored["mails"].items()}


async def uids_in(box: Mailbox, folder: str, before: Sequence[MailBefore]) -> Sequence[int]:
    """Return the UIDs of moved mails that the server did not report; ambiguous mails are left out."""
    found = [await box.search(folder, MailQuery(message_id=mail.message_id)) for mail in before if mail.message_id]
    return [uids[0] for uids in found if len(uids) == 1]


async def forget_old(context: ToolExecutionContext) -> None:
    """Delete the notes of calls that can no longer run again."""
    for kept in await context.storage.list(SORTED):
        at = kept.value.get("at") if isinstance(kept.value, dict) else None
        if isinstance(at, str) and datetime.fromisoformat(at) < context.clock.now() - _KEPT:
            await context.storage.delete(SORTED, kept.key)


@tool(name="take_back_sorting", effect="idempotent", inverse=True, timeout=90)
async def take_back_sorting(changes: list[dict[str, Any]], context: ToolExecutionContext) -> str:
    """Put mails back as they were, those that are still where and how the call left them.

    Args:
        changes: The mails of each folder, with the flag or the folder that they had.
    """
    count = 0
    for change in changes:
        mails = [MailRef.parse(text) for text in change["mails"]]
        async with mailbox_of(context, CHANGE, mails[0]) as box:
            count += await _put_back(box, mails, change)
    if not count:
        raise ToolFailed(gettext("Those mails are no longer where I put them, so I leave them alone."))
    return ngettext("Undone: {number} mail is as it was.", "Undone: {number} mails are as they were.", count)


async def _put_back(box: Mailbox, mails: Sequence[MailRef], change: dict[str, Any]) -> int:
    folder = mails[0].folder
    uids = [mail.uid for mail in await box.fetch(folder, [ref.uid for ref in mails], 1)]
    if uids and "flag" in change:
        await box.flag(folder, uids, change["flag"], on=change["on"])
    elif uids:
        await box.move(folder, uids, change["folder"])
    return len(uids)


def _message_id(head: bytes) -> str:
    found = _MESSAGE_ID.search(head.partition(b"\r\n\r\n")[0])
    return found[1].decode("ascii") if found else ""
