"""Mail that was sorted is put back by "undo": marks, archive, folders, trash."""

from collections.abc import Callable
from typing import Any

import pytest

from abilities.mail.sorting import SortAction
from abilities.mail.tools import SortMailAgent, take_back_sorting
from abilities.mail.undoing import SORTED
from core.tools.undo import UndoOffers
from onevalet import ToolFailed
from onevalet.testing import MemoryAccounts, MemoryStorage, make_context
from providers.email.mailbox import Mailbox, open_mailbox
from providers.email.types import MailQuery, MailRef
from tests.agents.services import no_loop
from tests.clocks import StandingClock
from tests.servers.dovecot import PASSWORD, Dovecot

NAMES = ("Lunch", "Offer", "Bill")


class Sorting:
    """A person with three mails, of which the second was read, and calls that sort them."""

    def __init__(self, dovecot: Dovecot) -> None:
        self.dovecot, self.address = dovecot, dovecot.new()
        self.storage = MemoryStorage()
        self.accounts = MemoryAccounts(self.address, PASSWORD, imap=f"imap://127.0.0.1:{dovecot.imap}")
        self.calls = 0
        for name in NAMES:
            raw = f"From: bob@example.org\r\nSubject: {name}\r\nMessage-ID: <{name}@example.org>\r\n\r\nHello\r\n"
            dovecot.deliver(self.address, raw.encode(), flags="S" if name == "Offer" else "")

    async def look(self) -> dict[str, list[tuple[str, bool, bool]]]:
        """Return the mails of each folder: name, whether it is unread, whether it is flagged."""
        seen = {}
        async with self.open() as box:
            for folder in ("INBOX", "Archive", "Trash"):
                mails = await box.fetch(folder, await box.search(folder, MailQuery()))
                named = {mail.data.partition(b"Subject: ")[2].partition(b"\r")[0].decode(): mail for mail in mails}
                seen[folder] = [(name, named[name].unread, named[name].flagged) for name in NAMES if name in named]
        return seen

    def open(self) -> Any:
        return open_mailbox(self.accounts.opened, self.dovecot.http())

    async def sort(self, action: str, folder: str = "", *, again: bool = False) -> UndoOffers:
        """Let a call sort all mails of the inbox; `again`: the same call, begun once more after a crash."""
        self.calls += not again
        if not again:
            async with self.open() as box:
                validity = await box.open_folder("INBOX")
                uids = await box.search("INBOX", MailQuery())
            self.refs = [str(MailRef("email", "primary", "INBOX", validity, uid)) for uid in uids]
        undo = UndoOffers()
        agent = SortMailAgent(
            self.context(undo=undo),
            no_loop,
            values={"mails": self.refs, "action": SortAction(action), "folder": folder},
        )
        await agent.on_running("")
        return undo

    async def undo(self, offers: UndoOffers) -> str:
        (offer,) = offers.offered
        assert offer.tool == take_back_sorting.name
        return str(await take_back_sorting(context=self.context(), **offer.arguments))  # type: ignore[arg-type]

    def context(self, **more: Any) -> Any:
        given = {"accounts": self.accounts, "http": self.dovecot.http(), "storage": self.storage} | more
        return make_context(idempotency_key=f"turn.{self.calls}.0", clock=StandingClock(), **given)


@pytest.fixture
def sorting(dovecot: Dovecot) -> Sorting:
    return Sorting(dovecot)


@pytest.mark.parametrize("action", ["read", "unread", "flag", "archive", "move", "delete"])
async def test_undo_puts_mails_back_as_each_of_them_was(sorting: Sorting, action: str) -> None:
    before = await sorting.look()
    offers = await sorting.sort(action, "Trash" if action == "move" else "")
    assert await sorting.look() != before
    told = await sorting.undo(offers)
    assert await sorting.look() == before
    changed = {"read": 2, "unread": 1}.get(action, 3)
    assert told == f"Undone: {changed} mail{'s are as they were' if changed > 1 else ' is as it was'}."


@pytest.mark.parametrize("dies", ["after the change", "after the note"])
@pytest.mark.parametrize("action", ["read", "archive"])
async def test_promise_5_a_call_that_runs_again_offers_the_same(
    sorting: Sorting, action: str, dies: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = await sorting.look()
    if dies == "after the note":
        with monkeypatch.context() as patch:
            patch.setattr(Mailbox, "flag" if action == "read" else "move", _dying)
            with pytest.raises(KeyboardInterrupt):
                await sorting.sort(action)
        await sorting.sort(action, again=True)
    else:
        await sorting.sort(action)
    offers = await sorting.sort(action, again=True)
    assert await sorting.look() != before
    await sorting.undo(offers)
    assert await sorting.look() == before


async def test_what_was_moved_on_since_is_left_and_said(sorting: Sorting) -> None:
    offers = await sorting.sort("archive")
    async with sorting.open() as box:
        await box.move("Archive", await box.search("Archive", MailQuery()), "Trash")
    moved = await sorting.look()
    with pytest.raises(ToolFailed, match="no longer where I put them"):
        await sorting.undo(offers)
    assert await sorting.look() == moved


async def test_nothing_changed_offers_nothing_and_notes_go(sorting: Sorting) -> None:
    await sorting.sort("flag")
    assert (await sorting.sort("flag")).offered == ()
    for kept in await sorting.storage.list(SORTED):
        await sorting.storage.put(SORTED, kept.key, {"at": "2020-01-01T00:00:00+00:00", "mails": {}})
    await sorting.sort("unflag")
    assert [kept.key for kept in await sorting.storage.list(SORTED)] == ["turn.3.0.0"]


async def _dying(*_: object, **__: object) -> Callable[[], None]:
    raise KeyboardInterrupt
