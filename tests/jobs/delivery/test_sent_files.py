"""Files on their way out, where they can be sent in no way."""

from datetime import UTC, datetime
from typing import cast

from core.files.store import FileStore
from core.messaging.channels import NotificationChannel
from core.messaging.messages import KEPT_FILE, Address, Media, OutboundKind, OutboundMessage
from jobs.delivery.rendering import SentFiles

ADDRESS = Address("sms", "+15550000000", "+15550000001")


class Carrier:
    """A channel that carries no files."""


def test_without_an_address_of_ours_a_file_that_is_not_carried_is_told_of() -> None:
    media = (Media(f"{KEPT_FILE}f1", "text/html", "a*b*.html", 9),)
    reply = OutboundMessage("out_1", OutboundKind.REPLY, "Here.", media=media)
    files = SentFiles(cast(FileStore, None), links=None)
    sent = files.prepare(
        "ann", reply, cast(NotificationChannel, Carrier()), ADDRESS, datetime(2026, 11, 23, tzinfo=UTC)
    )
    assert (sent.media, sent.files) == ((), ())
    assert sent.text == "Here.\n\nI have the file “ab.html” for you, but I cannot send it here."
