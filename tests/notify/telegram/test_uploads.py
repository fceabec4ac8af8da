"""Files to Telegram as emulated: how each goes, and what becomes of one that Telegram refuses."""

import struct

import pytest

from core.errors import Ambiguous, RateLimited, Unavailable
from core.messaging.channels import Target, file_part
from core.messaging.files import OutgoingFile
from core.messaging.messages import Address, Media
from notify.telegram.send import TelegramNotification
from tests.abilities.documents.samples import picture
from tests.notify.telegram.test_send import shown, target
from tests.workbench.simulator.telegram_harness import Harness
from workbench.simulator.faults import FaultKind, Rule

OPUS = b"OggS" + bytes(24) + b"OpusHead" + bytes(40)


def sent(data: bytes | None, name: str, kind: str) -> tuple[OutgoingFile, Target]:
    """Return a file, and where it goes; None: it was deleted."""
    file = OutgoingFile("f1", name, kind, len(data or b""), None, f"Instead: {name}", f"Gone: {name}")

    async def read(file_id: str) -> bytes | None:
        assert file_id == "f1"
        return data

    return file, Target(target().address, "part_01", read_file=read)


@pytest.mark.parametrize(
    ("data", "name", "content_type", "goes_as"),
    [
        (picture("PNG"), "chart.png", "image/png", "photo"),
        (picture("GIF"), "cat.gif", "image/gif", "document"),
        (OPUS, "hello.ogg", "audio/ogg", "voice"),
        (b"OggS" + bytes(200), "song.ogg", "audio/ogg", "document"),
        (b"a,b", "sums.csv", "text/csv", "document"),
    ],
)
async def test_a_file_goes_as_what_it_is(
    harness: Harness, telegram: TelegramNotification, data: bytes, name: str, content_type: str, goes_as: str
) -> None:
    file, to = sent(data, name, content_type)
    receipt = await telegram.send(file_part(file), to)
    (message,) = shown(harness)
    assert (message["media"]["kind"], message["media"]["name"]) == (goes_as, name)
    assert (message["media"]["size"], str(message["message_id"])) == (len(data), receipt.provider_id)


async def test_a_picture_that_is_no_photo_goes_as_a_document(harness: Harness, telegram: TelegramNotification) -> None:
    long = b"\x89PNG\r\n\x1a\n" + bytes(8) + struct.pack(">II", 9000, 9) + bytes(20)
    file, to = sent(long, "strip.png", "image/png")
    await telegram.send(file_part(file), to)
    (message,) = shown(harness)
    assert message["media"]["kind"] == "document"


async def test_promise_14_a_refused_or_deleted_file_is_told_of(
    harness: Harness, telegram: TelegramNotification
) -> None:
    for data, text in ((b"", "Instead: a.txt"), (None, "Gone: a.txt")):
        file, to = sent(data, "a.txt", "text/plain")
        receipt = await telegram.send(file_part(file), to)
        assert (receipt.degraded, shown(harness)[-1]["text"]) == (True, text)


@pytest.mark.parametrize(
    ("kind", "error"),
    [(FaultKind.RATE_LIMIT, RateLimited), (FaultKind.RESET_AFTER, Ambiguous), (FaultKind.PAGE, Unavailable)],
)
async def test_promise_7_what_became_of_an_upload_is_told_apart(
    harness: Harness, telegram: TelegramNotification, kind: FaultKind, error: type[Exception]
) -> None:
    harness.wire.faults.add(Rule("telegram.sendDocument", kind))
    file, to = sent(b"a,b", "sums.csv", "text/csv")
    with pytest.raises(error):
        await telegram.send(file_part(file), to)


def test_telegram_carries_up_to_fifty_megabytes(telegram: TelegramNotification) -> None:
    to = Address("telegram", "1", "2")
    limit = 50 * 1024 * 1024
    sizes = (1, limit, limit + 1, 0)
    assert [telegram.carries(Media("", "a/b", "c", size), to) for size in sizes] == [True, True, False, False]
