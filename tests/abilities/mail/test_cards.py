"""What mail agents do is on their cards: from which account a mail goes, and whether deleted mails are kept."""

from pathlib import Path
from typing import Any

import pytest

from abilities.mail.sorting import SortAction
from abilities.mail.tools import SendEmailAgent, SortMailAgent
from core.json_types import JsonObject
from core.tools.undo import UndoOffers
from onevalet import ToolFailed
from providers.email.mailbox import open_mailbox
from providers.email.types import MailQuery, MailRef
from tests.abilities.mail.test_email import Connected, agent
from tests.abilities.mail.test_email_undo import Sorting
from tests.agents.services import Mails, mail_server, no_loop
from tests.servers.dovecot import Dovecot

OTHERS: dict[str, Any] = {
    "recipient": ["bo@example.com"],
    "cc": ["bo@example.com"],
    "bcc": ["bo@example.com"],
    "subject": "Dinner?",
    "body": "At six.",
    "account": "work",
}
"""What each field is instead."""
IN_A_TALK = {"files", "answers", "forwards"}
"""Fields that name what lies elsewhere: their cards and mails are in tests/abilities/mail/contract/test_mail.py."""


def two_accounts(mails: Mails, preferred: str = "home") -> Connected:
    own: JsonObject = mails.credentials | {"user": "", "password": ""}
    return Connected({name: own | {"from": f"ann@{name}.example"} for name in ("home", "work")}, preferred)


async def asked(kept: Connected, key: str = "turn.0.0", **call: Any) -> SendEmailAgent:
    """Return the agent as its card is made of it."""
    return agent(kept, key, **call | dict(await agent(kept, **call).fill_in()))


def said(made: SendEmailAgent | SortMailAgent) -> str:
    """Return the words of a card: without what is empty, as people see it."""
    request = made.approval_request()
    return "\n".join(
        [request.action_summary, *(f"{name}: {value}" for name, value in request.details.items() if value)]
    )


async def card_and_wire(mails: Mails, kept: Connected, number: int, call: dict[str, Any]) -> tuple[str, list[str]]:
    """Let a call be approved; return its card, and the mail without what tells it from any other."""
    made = await asked(kept, f"turn.{number}.0", **call)
    await made.on_running("")
    envelope, message = mails.envelopes[-1], mails.taken[-1]
    headers = [f"{name}: {value}" for name, value in message.items() if name not in ("Date", "Message-ID")]
    return said(made), [str(envelope.mail_from), *sorted(envelope.rcpt_tos), *sorted(headers), message.get_content()]


async def test_promise_9_a_mail_differs_exactly_where_its_card_does(tmp_path: Path) -> None:
    assert {*OTHERS, *IN_A_TALK} == set(SendEmailAgent.valet.inputs), "each field is varied"
    async with mail_server("none", tmp_path) as mails:
        told = {"": await card_and_wire(mails, two_accounts(mails), 0, {})}
        for number, (name, value) in enumerate(OTHERS.items(), 1):
            told[name] = await card_and_wire(mails, two_accounts(mails), number, {name: value})
        told["preference"] = await card_and_wire(mails, two_accounts(mails, "work"), 9, {})
    assert told["preference"] == told["account"]
    del told["preference"]
    cards, wires = ({repr(one[at]) for one in told.values()} for at in (0, 1))
    assert len(cards) == len(wires) == len(told)


async def test_promise_9_the_account_of_the_card_sends_whatever_is_preferred(tmp_path: Path) -> None:
    async with mail_server("none", tmp_path) as mails:
        kept = two_accounts(mails)
        made = await asked(kept)
        assert "account: home" in said(made)
        assert await made.ask_first() == {}
        kept.preferred = "work"
        await made.on_running("")
        assert [envelope.mail_from for envelope in mails.envelopes] == ["ann@home.example"]


async def test_promise_9_nothing_is_sent_once_another_account_could_send_it_too(tmp_path: Path) -> None:
    async with mail_server("none", tmp_path) as mails:
        both = two_accounts(mails, "work").stored
        kept = Connected({"home": both["home"]})
        made = await asked(kept)
        assert "account" not in said(made), "there is no other"
        kept.stored["work"], kept.preferred = both["work"], "work"
        with pytest.raises(ToolFailed, match=r"^Nothing was sent: another email account was connected in the meantime"):
            await made.on_running("")
        assert mails.taken == []
        # Once it is on its way, a repeat ends it as it began.
        kept.stored.pop("work")
        await made.on_running("")
        kept.stored["work"] = both["work"]
        await made.on_running("")
        assert len(mails.taken) == 1


async def deleting(sorting: Sorting, folder: str, undo: UndoOffers | None = None) -> SortMailAgent:
    """Return the agent that deletes all mails of a folder, as its card is made of it."""
    sorting.calls += 1
    async with open_mailbox(sorting.accounts.opened, sorting.dovecot.http()) as box:
        validity = await box.open_folder(folder)
        refs = [
            str(MailRef("email", "primary", folder, validity, uid)) for uid in await box.search(folder, MailQuery())
        ]
    context = sorting.context(undo=undo or UndoOffers())
    call = {"mails": refs, "action": SortAction.DELETE, "folder": ""}
    made = SortMailAgent(context, no_loop, values=call)
    return SortMailAgent(context, no_loop, values=call | dict(await made.fill_in()))


async def test_promise_9_a_card_says_whether_mails_are_deleted_for_good(dovecot: Dovecot) -> None:
    sorting, undo = Sorting(dovecot), UndoOffers()
    kept = await deleting(sorting, "INBOX")
    assert said(kept).startswith("Delete 3 mails\n")
    await kept.on_running("")
    assert [name for name, *_ in (await sorting.look())["Trash"]] == ["Lunch", "Offer", "Bill"]
    final = await deleting(sorting, "Trash", undo)
    assert said(final).startswith("Delete 3 mails for good\n")
    await final.on_running("")
    assert [*(await sorting.look()).values()] == [[], [], []]
    assert [(offer.title, offer.tool) for offer in undo.offered] == [("Delete 3 mails for good", "")]


async def test_promise_9_what_was_to_be_kept_is_not_deleted_for_good(dovecot: Dovecot) -> None:
    sorting = Sorting(dovecot)
    made = await deleting(sorting, "INBOX")
    async with open_mailbox(sorting.accounts.opened, sorting.dovecot.http()) as box:
        await box.move("INBOX", await box.search("INBOX", MailQuery()), "Trash")
        validity = await box.open_folder("Trash")
        uids = await box.search("Trash", MailQuery())
    there = [str(MailRef("email", "primary", "Trash", validity, uid)) for uid in uids]
    consented = SortMailAgent(made.context, no_loop, values={"mails": there, "action": SortAction.DELETE, "folder": ""})
    with pytest.raises(ToolFailed, match=r"^Not deleted: there is no trash folder any more"):
        await consented.on_running("")
    assert len((await sorting.look())["Trash"]) == 3
