"""Reports of mails that could not be delivered (RFC 3464): one counts by the id that its mail alone carried."""

from collections.abc import Sequence

import pytest

from core.messaging.inbound import Inbound
from core.messaging.messages import DeliveryStatus, IgnoredMessage, IgnoreReason, StatusUpdate
from providers.email.wire import PART_HEADER, message_id
from tests.channels.email.letters import stored, understood

OURS = message_id("part_1", "aaaabbbbccccdddd", "example.org")


def read(raw: bytes) -> Sequence[Inbound]:
    with pytest.MonkeyPatch.context() as patch:
        return understood(stored(raw), patch)


def bounce(
    *,
    status: str = "5.1.1",
    action: str = "failed",
    ref: str = "part_1",
    id: str = OURS,
    returned: str = "text/rfc822-headers",
) -> bytes:
    return (
        "From: MAILER-DAEMON@mx.example.org\nTo: valet@example.org\nAuto-Submitted: auto-replied\n"
        'Content-Type: multipart/report; report-type=delivery-status; boundary="b"\n\n'
        "--b\nContent-Type: text/plain\n\nSorry.\n"
        "--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx.example.org\n\n"
        f"Final-Recipient: rfc822; ada@example.com\nAction: {action}\nStatus: {status}\n\n"
        f"--b\nContent-Type: {returned}\n\nMessage-ID: {id}\n{PART_HEADER}: {ref}\n\n--b--\n"
    ).encode()


@pytest.mark.parametrize("raw", [bounce(), bounce().replace(b"\n", b"\r\n"), bounce(returned="message/rfc822")])
def test_promise_8_a_bounce_says_what_became_of_a_part(raw: bytes) -> None:
    (update,) = read(raw)
    assert update == StatusUpdate(
        "email", "valet@example.org", OURS, "part_1", DeliveryStatus.UNDELIVERED, "5.1.1", gone=True
    )
    (update,) = read(bounce(status="5.7.1"))
    assert isinstance(update, StatusUpdate)
    assert (update.status, update.gone) == (DeliveryStatus.UNDELIVERED, False)


@pytest.mark.parametrize(
    "raw",
    [
        bounce(action="delayed", status="4.4.1"),
        bounce(status="4.4.1"),
        bounce(ref=""),
        bounce(ref="part_2"),
        bounce(id="<other@example.org>"),
    ],
    ids=["delayed", "passing", "without the part", "another part", "not ours"],
)
def test_a_report_of_anything_else_changes_nothing(raw: bytes) -> None:
    (item,) = read(raw)
    assert isinstance(item, IgnoredMessage)
    assert (item.reason, item.sender) == (IgnoreReason.BOT, "")
