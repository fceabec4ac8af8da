"""An ability takes what answers a message of its own: its sender is not greeted, and nothing is kept as theirs."""

from collections.abc import Iterator
from datetime import datetime

import pytest

from core.db.database import Database
from core.inbox import answers
from core.inbox.inbox import Inbox
from core.json_types import JsonObject
from core.messaging.channels import Received
from core.messaging.messages import InboundMessage
from core.people.access_policy import Access
from tests.core.harness import Store, message

ANN, BOB = "+15550000001", "+15550000002"


class Waiting:
    """An ability that waits for answers of one sender."""

    def __init__(self, sender: str) -> None:
        self.sender = sender
        self.taken: list[str] = []

    async def take(
        self, database: Database, message: InboundMessage, arrival: JsonObject, now: datetime
    ) -> Received | None:
        if arrival["user_key"] != self.sender:
            return None
        self.taken.append(message.text)
        return Received("taken")


@pytest.fixture
def waiting() -> Iterator[tuple[Waiting, Waiting]]:
    """Yield two abilities that wait, and ask those of the installation again at the end."""
    before = answers.takers_of_answers()
    found = Waiting(ANN), Waiting(BOB)
    answers.use_answers(each.take for each in found)
    yield found
    answers.use_answers(before)


async def test_an_answer_is_taken_by_the_ability_that_waits_for_it(
    store: Store, waiting: tuple[Waiting, Waiting]
) -> None:
    inbox = Inbox(store.database, store.wakeups, store.make_id, Access())
    for sender in (ANN, BOB):
        assert (await inbox.accept(message(f"yes, {sender}", sender, store.make_id("SM")))).id == "taken"
    assert [each.taken for each in waiting] == [[f"yes, {ANN}"], [f"yes, {BOB}"]]
    assert await store.db.outbound.column("text") == [], "nobody is greeted"
    assert await store.db.inbound.count() == 0


async def test_what_no_ability_waits_for_is_a_strangers(store: Store, waiting: tuple[Waiting, Waiting]) -> None:
    inbox = Inbox(store.database, store.wakeups, store.make_id, Access())
    await inbox.accept(message("hello", "+15550000003", "SM3"))
    assert [each.taken for each in waiting] == [[], []]
    [greeting] = await store.db.outbound.column("text")
    assert greeting
