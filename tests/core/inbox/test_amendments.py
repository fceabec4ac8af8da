"""Messages that are changed or deleted after they were sent, as the inbox stores them and turns see them."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core.journal.types import Lease
from core.loop.control import TurnMessage
from core.loop.steering import spoken
from core.messaging.channels import Received
from core.messaging.inbound import Amendment
from core.messaging.messages import Command, InboundMessage, Media, OutboundKind, OutboundMessage
from core.messaging.pointed import EDITED, Whose
from core.turns.stored import BegunTurn
from tests.core.harness import Store, TwiceDatabase, message, opened

ANN, BEN = "+15550000001", "+15550000002"
HOUR = timedelta(hours=1)
DECIDES_NOTHING = "An edited message decides nothing. Send it as a new message if you mean it."


def sent(text: str, key: str = "SM1", sender: str = ANN, *media: Media) -> InboundMessage:
    """Return a message that was sent a minute ago."""
    return replace(message(text, sender, key), sent_at=datetime.now(UTC) - timedelta(minutes=1), media=media)


def edit(text: str, number: int = 1, *, after: float = 0, **changes: object) -> Amendment:
    """Return a change of the message `SM1`: its first, second and so on."""
    now = sent(text, **changes)  # type: ignore[arg-type]
    at = datetime.now(UTC) + timedelta(seconds=after)
    return Amendment(now.address, now.sender, (f"edit:{now.keys[0]}:{number}",), now.keys, now, at, now.sent_at)


def deletion(key: str = "SM1", number: int = 1) -> Amendment:
    gone = sent("", key)
    return Amendment(gone.address, ANN, (f"gone:{key}:{number}",), (key,), None, datetime.now(UTC), gone.sent_at)


async def fates(store: Store) -> list[tuple[object, object, object]]:
    """Return the text, the state and the reason of all messages, in order."""
    rows = await store.admin.fetch("select text, state, reason from inbound order by seq")
    return [(row["text"], row["state"], row["reason"]) for row in rows]


async def reasons(store: Store) -> dict[object, object]:
    """Return the reasons of what is no message, by key."""
    return {row["key"]: row["reason"] for row in await store.admin.fetch("select key, reason from ignored_messages")}


async def seen(store: Store, held: Lease | None = None) -> list[list[str]]:
    """Return what the turn that can begin now shows the model of each message, and finish it."""
    lease = held or await store.turns.claim(None, "w1")
    assert lease is not None
    turn = await store.turns.begin(lease)
    assert turn is not None
    shown = [[one.text for one in spoken(said)] for said in turn.request.inbound]
    await store.finish(lease, turn, "Done.")
    return shown


async def reached(turn: BegunTurn) -> list[TurnMessage]:
    """Return what reaches a running turn now; the first look is what it began with."""
    assert turn.request.work.control is not None
    await turn.request.work.control.absorb()
    return list(await turn.request.work.control.absorb())


async def test_before_its_turn_the_words_of_a_message_are_replaced(store: Store) -> None:
    for text, key in (("Pay Sam 50", "SM1"), ("and call him", "SM2")):
        await store.inbox.accept(sent(text, key))
    received = await store.inbox.accept(edit("Pay Sam 60"))
    assert not received.duplicate
    assert await fates(store) == [
        ("Pay Sam 60", "waiting", ""), ("and call him", "waiting", ""), ("", "ignored", "edited_before"),
    ]  # fmt: skip
    lease, turn = await store.claim_turn()
    first, second = turn.request.inbound
    assert ([one.text for one in spoken(first)], first.powerless, second.powerless) == (["Pay Sam 60"], True, False)
    await store.finish(lease, turn, "Done.")
    assert await store.turns.claim(None, "w1") is None


async def test_an_edit_after_the_turn_is_a_message_that_names_the_old_words(store: Store) -> None:
    await store.inbox.accept(sent("Pay Sam 50"))
    await seen(store)
    await store.inbox.accept(edit("Pay Sam 60"))
    [[note, text]] = await seen(store)
    assert text == "Pay Sam 60"
    assert "> Pay Sam 50" in note
    assert [fate[0] for fate in await fates(store)] == ["Pay Sam 50", "Pay Sam 60"]
    await store.inbox.accept(edit("Pay Sam 70", 2))
    [[note, text]] = await seen(store)
    assert (text, "> Pay Sam 60" in note, "50" in note) == ("Pay Sam 70", True, False)


async def test_edits_that_wait_together_are_one_correction(store: Store) -> None:
    await store.inbox.accept(sent("Pay Sam 50"))
    await seen(store)
    await store.inbox.accept(edit("Pay Sam 60", 1))
    await store.inbox.accept(edit("Pay Sam 70", 2, after=1))
    [[note, text]] = await seen(store)
    assert (text, "> Pay Sam 50" in note, "60" in note) == ("Pay Sam 70", True, False)


async def test_edits_that_wait_behind_another_turn_are_one_correction(store: Store) -> None:
    await store.inbox.accept(sent("Pay Sam 50"))
    await seen(store)
    await store.inbox.accept(sent("hello", "SM0"))
    lease, turn = await store.claim_turn()
    await store.inbox.accept(edit("Pay Sam 60", 1))
    await store.inbox.accept(edit("Pay Sam 70", 2, after=1))
    assert await store.finish(lease, turn, "Hi.")
    [[note, text]] = await seen(store, lease)
    assert (text, "> Pay Sam 50" in note, "60" in note) == ("Pay Sam 70", True, False)


async def test_a_repeated_change_adds_nothing(store: Store) -> None:
    await store.inbox.accept(sent("Pay Sam 50"))
    await seen(store)
    first = await store.inbox.accept(edit("Pay Sam 60"))
    again = await store.inbox.accept(edit("Pay Sam 60"))
    assert (first.duplicate, again.duplicate) == (False, True)
    assert len(await fates(store)) == 2
    await seen(store)
    assert (await store.inbox.accept(edit("Pay Sam 60"))).duplicate
    assert len(await fates(store)) == 2


async def test_an_older_change_that_comes_late_changes_nothing(store: Store) -> None:
    await store.inbox.accept(sent("one"))
    await store.inbox.accept(edit("three", 3, after=-1))
    await store.inbox.accept(edit("two", 2, after=-5))
    assert await fates(store) == [
        ("three", "waiting", ""), ("", "ignored", "edited_before"), ("", "ignored", "edited_older"),
    ]  # fmt: skip
    assert await seen(store) == [["three"]]
    await store.inbox.accept(edit("four", 4))
    await store.inbox.accept(edit("half", 5, after=-3))
    assert (await fates(store))[-1] == ("", "ignored", "edited_older")


async def test_an_edit_that_comes_before_its_message_stands_for_it(store: Store) -> None:
    received = await store.inbox.accept(edit("Pay Sam 60"))
    late = await store.inbox.accept(sent("Pay Sam 50"))
    assert (late.id, late.duplicate) == (received.id, True)
    lease, turn = await store.claim_turn()
    (said,) = turn.request.inbound
    assert ([one.text for one in spoken(said)], said.powerless) == (["Pay Sam 60"], True)
    assert (await store.inbox.accept(edit("Pay Sam 60"))).duplicate
    await store.finish(lease, turn, "Done.")


async def test_a_message_that_comes_in_beside_its_edit_loses_no_words(store: Store) -> None:
    taken: list[Received] = []
    inbox = store.inbox
    amendments = inbox._amendments

    async def first_the_message(changed: InboundMessage) -> Received:
        if not taken:
            taken.append(await inbox.accept(sent("Pay Sam 50")))
        return await inbox._receive(changed)

    inbox._amendments = replace(amendments, receive=first_the_message)
    await inbox.accept(edit("Pay Sam 60"))
    assert await seen(store) == [["Pay Sam 60"]]
    assert taken[0].id is not None


async def test_a_late_edit_of_an_unknown_message_is_only_recorded(store: Store) -> None:
    old = replace(edit("Pay Sam 60"), sent_at=datetime.now(UTC) - 2 * HOUR)
    await store.inbox.accept(old)
    assert (await fates(store), await reasons(store)) == ([], {"edit:SM1:1": "edited_late"})


async def test_nobody_changes_the_message_of_somebody_else(store: Store) -> None:
    await store.inbox.accept(sent("Pay Sam 50"))
    theirs = replace(sent("Pay Eve 50", sender=BEN), address=sent("").address)
    await store.inbox.accept(replace(edit("", sender=BEN), address=theirs.address, message=theirs))
    assert await fates(store) == [("Pay Sam 50", "waiting", "")]
    assert await reasons(store) == {"edit:SM1:1": "edited"}


@pytest.mark.parametrize("text", ["OK 7K", "ok", "No.", "NEW", "stop", "undo", "withdraw 1", "EDIT 7K make it 3pm"])
async def test_an_edit_to_a_decision_or_a_chat_word_does_nothing(store: Store, text: str) -> None:
    await store.inbox.accept(sent("Pay Sam 50"))
    await store.inbox.accept(edit(text))
    assert await fates(store) == [("Pay Sam 50", "waiting", ""), ("", "ignored", "edited_to_word")]
    assert await seen(store) == [["Pay Sam 50"]]
    assert (await store.db.outbound.column("text", order="seq"))[0] == DECIDES_NOTHING


@pytest.mark.parametrize("text", ["OK 7K", "NEW"])
async def test_promise_9_a_message_known_only_as_edited_decides_nothing(store: Store, text: str) -> None:
    await store.inbox.accept(replace(sent(text), points=(EDITED,)))
    await store.inbox.accept(edit(text))
    assert await fates(store) == [(text, "waiting", "")]
    assert await store.db.inbound.column("command") == [None]


async def test_an_edited_chat_word_counts_as_it_was_sent(store: Store) -> None:
    await store.inbox.accept(replace(sent("NEW"), command=Command("new")))
    await store.inbox.accept(edit("News of today?"))
    assert (await fates(store))[1] == ("", "ignored", "edited_decision")
    lease, turn = await store.claim_turn()
    assert turn.command == Command("new")
    await store.finish(lease, turn, "A new talk.")
    assert await store.turns.claim(None, "w1") is None


async def test_an_edit_later_than_an_hour_after_the_turn_is_ignored(store: Store) -> None:
    await store.inbox.accept(sent("Pay Sam 50"))
    await seen(store)
    await store.admin.execute("update turns set finished_at = finished_at - interval '61 minutes'")
    await store.inbox.accept(edit("Pay Sam 60"))
    assert (await fates(store))[1] == ("", "ignored", "edited_late")
    assert await store.db.outbound.count() == 1


async def test_an_edit_without_substance_is_no_message(store: Store) -> None:
    await store.inbox.accept(sent("Pay Sam 50"))
    await seen(store)
    await store.inbox.accept(edit("Pay Sam 50!"))
    assert (len(await fates(store)), await reasons(store)) == (1, {"edit:SM1:1": "edited_same"})


async def test_an_edit_joins_the_running_turn_and_survives_a_take_over(store: Store) -> None:
    await store.inbox.accept(sent("Pay Sam 50"))
    _, turn = await store.claim_turn("w1")
    received = await store.inbox.accept(edit("Pay Sam 60"))
    assert (await fates(store))[1] == ("Pay Sam 60", "waiting", "")
    (news,) = await reached(turn)
    assert (news.id, news.text, news.powerless) == (received.id, "Pay Sam 60", True)
    assert [point.whose for point in news.points] == [Whose.CHANGED]
    await store.expire()
    lease, again = await store.claim_turn("w2")
    assert await reached(again) == [news]
    await store.finish(lease, again, "Sixty then.", absorbed=(news.id,))
    assert {fate[1] for fate in await fates(store)} == {"done"}


async def test_what_waits_behind_a_running_turn_is_replaced_in_its_place(store: Store) -> None:
    await store.inbox.accept(sent("hello", "SM0"))
    lease, turn = await store.claim_turn()
    for text, key in (("Pay Sam 50", "SM1"), ("and call him", "SM2")):
        await store.inbox.accept(sent(text, key))
    for number, text in enumerate(("Pay Sam 60", "Pay Sam 70"), 1):
        await store.inbox.accept(edit(text, number))
    assert await store.finish(lease, turn, "Hi.")
    again = await store.turns.begin(lease)
    assert again is not None
    first, second = again.request.inbound
    assert ([one.text for one in spoken(first)], first.powerless) == (["Pay Sam 70"], True)
    assert ([one.text for one in spoken(second)], second.powerless) == (["and call him"], False)
    assert len(first.ids) == 3
    await store.finish(lease, again, "Done.")
    assert {fate[1] for fate in await fates(store)} == {"done"}


async def test_promise_6_a_message_deleted_before_its_turn_is_not_answered(store: Store) -> None:
    for text, key in (("Pay Sam 50", "SM1"), ("and call him", "SM2")):
        await store.inbox.accept(sent(text, key))
    received = await store.inbox.accept(deletion())
    assert not received.duplicate
    assert await fates(store) == [("", "ignored", "deleted"), ("and call him", "waiting", "")]
    assert (await store.inbox.accept(deletion())).duplicate
    await store.inbox.accept(edit("Pay Sam 60"))
    assert await seen(store) == [["and call him"]]


async def test_the_only_message_deleted_leaves_nothing_to_run(store: Store) -> None:
    await store.inbox.accept(sent("Pay Sam 50"))
    await store.inbox.accept(deletion())
    lease = await store.turns.claim(None, "w1")
    assert lease is not None
    assert await store.turns.begin(lease) is None
    assert await store.turns.claim(None, "w1") is None


async def test_a_deletion_after_the_turn_began_changes_nothing(store: Store) -> None:
    await store.inbox.accept(sent("Pay Sam 50"))
    lease, turn = await store.claim_turn()
    await store.inbox.accept(deletion())
    assert (await fates(store), (await reasons(store))["gone:SM1:1"]) == ([("Pay Sam 50", "taken", "")], "deleted_late")
    await store.finish(lease, turn, "Done.")
    await store.inbox.accept(deletion(number=2))
    assert await fates(store) == [("Pay Sam 50", "done", "")]


async def test_a_message_deleted_while_a_turn_takes_it_in_was_taken_in(store: Store) -> None:
    await store.inbox.accept(sent("hello", "SM0"))
    lease, turn = await store.claim_turn()
    await store.inbox.accept(sent("Pay Sam 50"))
    (news,) = await reached(turn)
    await store.inbox.accept(deletion())
    await store.finish(lease, turn, "Paid.", absorbed=(news.id,))
    assert [fate[1] for fate in await fates(store)] == ["done", "done"]


async def test_a_deletion_that_comes_before_its_message_keeps_it_out(store: Store) -> None:
    await store.inbox.accept(deletion())
    received = await store.inbox.accept(sent("Pay Sam 50"))
    assert received.duplicate
    assert await fates(store) == []


async def test_a_deletion_without_an_author_finds_the_message_by_its_place(store: Store) -> None:
    await store.inbox.accept(sent("Pay Sam 50"))
    await store.inbox.accept(replace(deletion(), sender=""))
    assert await fates(store) == [("", "ignored", "deleted")]


async def test_a_changed_file_is_news(store: Store) -> None:
    one, two = (Media(f"https://files.example/{name}", "image/png", f"{name}.png", 9) for name in "ab")
    await store.inbox.accept(sent("Look", "SM1", ANN, one))
    await seen(store)
    changed = edit("Look")
    assert changed.message is not None
    await store.inbox.accept(replace(changed, message=replace(changed.message, media=(two,))))
    assert (await fates(store))[1][1] == "waiting"


async def changed_by_all(store: Store) -> Iterable[tuple[object, ...]]:
    await store.inbox.accept(sent("Pay Sam 50"))
    await store.inbox.accept(edit("Pay Sam 60"))
    await seen(store)
    await store.inbox.accept(edit("Pay Sam 70", 2))
    await store.inbox.accept(edit("OK 7K", 3))
    await seen(store)
    await store.inbox.accept(sent("Call Sam", "SM2"))
    await store.inbox.accept(deletion("SM2"))
    return await fates(store)


async def test_changes_whose_answers_are_lost_are_the_same_as_others(database_url: str) -> None:
    async with opened(database_url) as store:
        expected = await changed_by_all(store)
        texts = await store.db.outbound.column("text", order="seq")
        await store.admin.execute("truncate tenants, directory, ignored_messages, inbox_keys cascade")
    async with opened(database_url, TwiceDatabase(database_url)) as store:
        assert await changed_by_all(store) == expected
        assert await store.db.outbound.column("text", order="seq") == texts


async def test_what_a_turn_asked_too_late_for_an_edit_is_void(store: Store) -> None:
    await store.inbox.accept(sent("Pay Sam 50"))
    lease, turn = await store.claim_turn()
    await store.inbox.accept(edit("Pay Sam 60"))
    card = OutboundMessage(store.make_id("out"), OutboundKind.CARD, "Pay?")
    assert await store.finish(lease, turn, state="waiting", outbound=[card], waiting_step=0)
    assert await store.db.turns.column("state") == ["done"]
    assert await store.db.turns.column("reason") == ["amended"]
