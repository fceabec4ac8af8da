"""Promise 7: mail about an event goes out once, wherever its process dies, or it is said that nobody knows."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from abilities.calendar.calendars import Calendars
from abilities.calendar.tools import CancelEvent, CreateEvent
from providers.email.mailbox import Mailbox
from providers.email.smtp import Submission
from tests.abilities.calendar.house import Stored
from tests.abilities.calendar.post import Post, open_post
from tests.abilities.mail.test_email_once import Died, dies
from tests.servers.dovecot import Dovecot
from tests.servers.radicale import Radicale

POINTS: dict[str, tuple[Any, str, int]] = {
    "written": (Calendars, "create", 1),
    "connected": (Submission, "address", 1),
    "leaving": (Stored, "put", 1),
    "accepted": (Submission, "send", 1),
    "noted": (Stored, "put", 2),
    "filed": (Mailbox, "append", 1),
}
UNKNOWN = {"leaving", "accepted"}
"""Where nobody can know whether it was accepted."""


@pytest.fixture
async def post(radicale: Radicale, dovecot: Dovecot) -> AsyncIterator[Post]:
    async with open_post(radicale, dovecot) as opened:
        yield opened


@pytest.mark.parametrize("point", POINTS)
async def test_promise_7_guests_are_invited_once_wherever_its_process_dies(post: Post, point: str) -> None:
    owner, name, call = POINTS[point]
    agent = await post.house.card(CreateEvent, title="Lunch", start="tomorrow noon", invite=[post.bob])
    with pytest.MonkeyPatch.context() as patch:
        dies(patch, owner, name, after=True, call=call)
        with pytest.raises(Died):
            await post.house.approved(agent)
    for _ in range(2):
        said = await post.house.approved(agent)
        assert ("It is unknown whether the email was sent" in said) is (point in UNKNOWN)
        assert "To take it back" not in said, "somebody may know of it"
    assert len(post.got(post.bob)) == len(post.exchange.taken) == (0 if point == "leaving" else 1)
    assert len(post.house.radicale.texts(post.calendar)) == 1


async def test_promise_7_guests_hear_of_an_event_that_is_gone_already(post: Post) -> None:
    post.meeting()
    agent = await post.house.card(CancelEvent, event="planning")
    with pytest.MonkeyPatch.context() as patch:
        dies(patch, Calendars, "cancel", after=True)
        with pytest.raises(Died):
            await post.house.approved(agent)
    assert post.house.radicale.texts(post.calendar) == []
    assert post.exchange.taken == []
    for _ in range(2):
        assert "1 person gets an email." in await post.house.approved(agent)
    [cancelled] = post.got(post.bob)
    assert "STATUS:CANCELLED" in cancelled.event
