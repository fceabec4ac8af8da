"""Mail sorted: marked, archived, moved and, once the person agrees, deleted."""

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from itertools import groupby
from typing import Any

from abilities.mail.group import GROUP
from abilities.mail.opening import CHANGE, READ, id_in, in_words, labelled, mailbox_of, stored
from abilities.mail.reading import folder_named
from abilities.mail.undoing import forget_old, mails_before, take_back_sorting, uids_in
from onevalet import (
    AgentResult,
    ApprovalRequest,
    FolderUse,
    InputField,
    Mailbox,
    MailRef,
    StandardAgent,
    ToolFailed,
    gettext,
    gettext_noop,
    ngettext,
    ngettext_noop,
    read_message,
    valet,
    with_note,
)

_MAX_MAILS = 50
_HEAD = 16 * 1024
_ARCHIVE = "Archive"


class SortAction(StrEnum):
    """The changes to mail that stays in the person's mailbox, or leaves it."""

    READ = "read"
    UNREAD = "unread"
    FLAG = "flag"
    UNFLAG = "unflag"
    ARCHIVE = "archive"
    MOVE = "move"
    DELETE = "delete"


_NAMES = (
    gettext_noop("mails"),
    gettext_noop("action"),
    gettext_noop("folder"),
    gettext_noop("sort mail"),
)
"""Names of the fields and the agent on cards and in questions."""
_SUMMARIES: Mapping[SortAction, tuple[str, str]] = {
    SortAction.READ: ngettext_noop("Mark {number} mail as read", "Mark {number} mails as read"),
    SortAction.UNREAD: ngettext_noop("Mark {number} mail as unread", "Mark {number} mails as unread"),
    SortAction.FLAG: ngettext_noop("Flag {number} mail", "Flag {number} mails"),
    SortAction.UNFLAG: ngettext_noop("Remove the flag of {number} mail", "Remove the flags of {number} mails"),
    SortAction.ARCHIVE: ngettext_noop("Archive {number} mail", "Archive {number} mails"),
    SortAction.MOVE: ngettext_noop("Move {number} mail", "Move {number} mails"),
    SortAction.DELETE: ngettext_noop("Delete {number} mail", "Delete {number} mails"),
}
_FOR_GOOD = ngettext_noop("Delete {number} mail for good", "Delete {number} mails for good")
_FLAGS = {
    SortAction.READ: ("\\Seen", True),
    SortAction.UNREAD: ("\\Seen", False),
    SortAction.FLAG: ("\\Flagged", True),
    SortAction.UNFLAG: ("\\Flagged", False),
}


def _are_mails(given: list[str]) -> str | None:
    if not given:
        return gettext("it is empty")
    if len(given) > _MAX_MAILS:
        return gettext("these are more than {number} mails", number=_MAX_MAILS)
    return None


@valet(name="SortMailAgent", effect="idempotent", timeout=90, group=GROUP)
class SortMailAgent(StandardAgent):
    """Mark mails as read, unread or flagged, archive them, move them to a folder, or delete them."""

    mails = InputField(
        gettext_noop("Which mails?"), description="Ids of the mails", type=list[str], validator=_are_mails
    )
    action = InputField(gettext_noop("What should be done with them?"), type=SortAction)
    folder = InputField(gettext_noop("To which folder?"), description="Only to move mails", required=False, default="")
    for_good = InputField("", description="Leave it out.", type=bool, required=False, default=False)

    async def fill_in(self) -> Mapping[str, Any]:
        """Name each mail by its sender and subject, so that people recognize it, and say if it would not be kept."""
        given: list[str] = self.mails
        if not given or _are_mails(given) is not None:
            return {}
        refs = [MailRef.parse(id_in(text)) for text in given]
        names: dict[MailRef, str] = {}
        for_good = False
        for _, group in groupby(sorted(refs, key=_folder_key), key=_folder_key):
            mails = list(group)
            async with mailbox_of(self.context, READ, mails[0]) as box:
                for ref in mails:
                    message = await read_message((await stored(box, ref, _HEAD)).data)
                    names[ref] = labelled(in_words(message), str(ref))
                if self.action is SortAction.DELETE:
                    for_good |= await self._trash(box, mails[0].folder) is None
        return {"mails": [names[ref] for ref in refs], "for_good": for_good}

    async def ask_first(self) -> Mapping[str, str]:
        if self.action is SortAction.MOVE and not self.folder:
            return {"folder": gettext("To which folder?")}
        return {}

    def needs_approval(self) -> bool:
        return self.action is SortAction.DELETE

    def approval_request(self) -> ApprovalRequest:
        request = super().approval_request()
        details = {name: value for name, value in request.details.items() if name != "for_good"}
        return replace(request, action_summary=self._summary(), details=details, in_words=("for_good",))

    async def on_running(self, msg: str) -> AgentResult:
        refs = [MailRef.parse(id_in(text)) for text in self.mails]
        moved: list[str] = []
        changes: list[dict[str, Any]] = []
        for part, (_, group) in enumerate(groupby(sorted(refs, key=_folder_key), key=_folder_key)):
            mails = list(group)
            async with mailbox_of(self.context, CHANGE, mails[0]) as box:
                change = await self._sort(box, mails, part)
            moved += change["mails"] if "folder" in change else []
            changes += [change] if change["mails"] else []
        if changes:
            self.context.undo.offer(self._summary(), take_back_sorting.name, {"changes": [*changes]})
        await forget_old(self.context)
        done = gettext("Done: {action}.", action=self._summary())
        told = with_note(done, f"Their ids are now: {', '.join(moved)}") if moved else done
        return self.make_result(raw_message=told)

    async def _sort(self, box: Mailbox, mails: list[MailRef], part: int) -> dict[str, Any]:
        """Sort mails of a folder; return the change that reverses it, with their new ids as far as they are known."""
        folder, uids = mails[0].folder, [ref.uid for ref in mails]
        before = await mails_before(self.context, box, mails, part)
        if self.action in _FLAGS:
            flag, on = _FLAGS[self.action]
            await box.flag(folder, uids, flag, on=on)
            changed = [str(ref) for ref in mails if ref.uid in before and (flag.lower() in before[ref.uid].flags) != on]
            return {"mails": changed, "flag": flag, "on": not on}
        target = await self._target(box, folder)
        if target is None:
            await self._delete(box, folder, uids)
            return {"mails": []}
        if target == folder:
            return {"mails": []}
        there = await box.move(folder, uids, target)
        if len(there) < len(before):
            there = await uids_in(box, target, [*before.values()])
        validity = await box.open_folder(target)
        now = [str(replace(mails[0], folder=target, validity=validity, uid=uid)) for uid in there]
        return {"mails": now, "folder": folder}

    async def _delete(self, box: Mailbox, folder: str, uids: list[int]) -> None:
        """Delete mails for good, if the card said so. Raises `ToolFailed`."""
        if not self.for_good:
            raise ToolFailed(
                gettext(
                    "Not deleted: there is no trash folder any more, and you did not agree to delete them for good."
                ),
                note="Call again, so that the person is asked whether to delete them for good.",
            )
        await box.delete(folder, uids)
        self.context.undo.final(self._summary(), gettext("I keep no copy of mail that is deleted for good."))

    async def _target(self, box: Mailbox, folder: str) -> str | None:
        """Return the target folder; None if the mails are deleted for good."""
        if self.action is SortAction.MOVE:
            return await folder_named(box, self.folder)
        if self.action is SortAction.DELETE:
            return await self._trash(box, folder)
        archive = await box.folder_for(FolderUse.ARCHIVE) or await box.folder_for(FolderUse.ALL)
        if archive is None:
            await box.create_folder(_ARCHIVE)
        return archive or _ARCHIVE

    @staticmethod
    async def _trash(box: Mailbox, folder: str) -> str | None:
        """Return the folder in which deleted mails are kept; None if there is none, or they are in it already."""
        trash = await box.folder_for(FolderUse.TRASH)
        return None if trash == folder else trash

    def _summary(self) -> str:
        is_final = self.for_good and self.action is SortAction.DELETE
        one, many = _FOR_GOOD if is_final else _SUMMARIES[self.action]
        return ngettext(one, many, len(self.mails))


def _folder_key(ref: MailRef) -> tuple[str, str, str, int]:
    return ref.service, ref.account, ref.folder, ref.validity
