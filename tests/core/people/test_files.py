"""Files of a turn: the person's own only, by their number, from their provider alone."""

from collections.abc import Sequence

import pytest

from channels.sms.media import TwilioMedia
from core.errors import ToolFailed
from core.messaging.messages import Address, InboundMessage, Media
from core.tools.files import Fetched, Files, SentFile
from tests.channels.sms.builders import SID, TOKEN
from tests.core.people.harness import PHONE, Harness

ANN, BOB = "+15550000001", "+15550000002"


class Recorded:
    """Hands out what it was asked for."""

    async def fetch(self, media: Sequence[Media]) -> Sequence[Fetched]:
        """Answer with the addresses."""
        return [SentFile("image/png", file.url.encode()) for file in media]


async def send(harness: Harness, sender: str, *urls: str) -> None:
    """Let somebody send pictures, and begin the turn over them."""
    media = tuple(Media(url, "image/png") for url in urls)
    await harness.store.inbox.accept(InboundMessage(Address(*PHONE, sender), sender, (f"M{sender}",), "", media))


async def test_a_tool_gets_the_files_of_its_turn_and_of_no_other(harness: Harness) -> None:
    await send(harness, ANN, "https://a/1", "https://a/2")
    await send(harness, BOB, "https://b/1")
    files = Files(harness.store.database, {"sms": Recorded()})
    turns = {}
    for _ in range(2):
        lease, turn = await harness.store.claim_turn()
        turns[turn.address.peer] = (lease.tenant_id, turn.turn_id)
    ann = files.for_turn(*turns[ANN], "sms")
    assert [file.url for file in await ann.list()] == ["https://a/1", "https://a/2"]
    assert (await ann.fetch(2)).body == b"https://a/2"
    for number in (0, 3):
        with pytest.raises(ToolFailed, match="2 came"):
            await ann.fetch(number)
    # Another's turn under one's own name holds nothing.
    assert await files.for_turn(turns[BOB][0], turns[ANN][1], "sms").list() == []
    with pytest.raises(ToolFailed, match="cannot be fetched"):
        await files.for_turn(*turns[ANN], "telegram").fetch(1)


async def test_what_does_not_lie_with_our_account_at_twilio_is_not_fetched(harness: Harness) -> None:
    await send(harness, ANN, "https://evil.example.com/2010-04-01/Accounts/AC/Messages/MM/Media/ME")
    lease, turn = await harness.store.claim_turn()
    async with TwilioMedia(account_sid=SID, auth_token=TOKEN) as media:
        files = Files(harness.store.database, {"sms": media}).for_turn(lease.tenant_id, turn.turn_id, "sms")
        with pytest.raises(ToolFailed, match="does not lie with our Twilio account"):
            await files.fetch(1)
