"""Files to Slack as emulated: three steps, of which one is seen, and what becomes of each that fails."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from core.errors import Ambiguous, RateLimited, Unavailable
from core.messaging.channels import Target, file_part
from core.messaging.files import OutgoingFile
from core.messaging.messages import Address
from notify.slack.send import SlackNotification
from tests.abilities.documents.samples import picture
from tests.notify.slack.conftest import SLACK, act, ada
from workbench.simulator.app import Simulator
from workbench.simulator.faults import FaultKind, Rule

DATA = b"a,b\n1,2\n"
SHARE = "slack.files.completeUploadExternal"


def to_ada(simulator: Simulator, data: bytes | None = DATA, thread: str = "") -> Target:
    async def read(file_id: str) -> bytes | None:
        return data

    return Target(Address("slack", SLACK.team_id, ada(simulator)["channel"], thread), "part_01", read_file=read)


def file_of(name: str = "sums.csv", size: int = len(DATA)) -> OutgoingFile:
    return OutgoingFile("f1", name, "text/csv", size, None, f"Instead: {name}", f"Gone: {name}")


def ours(simulator: Simulator) -> list[dict[str, Any]]:
    return [bubble for bubble in ada(simulator)["bubbles"] if bubble["direction"] == "out"]


async def test_a_file_is_shared_in_the_conversation_and_in_its_thread(
    simulator: Simulator, slack: SlackNotification
) -> None:
    asked = await act(simulator, "say", text="Send it")
    for thread in ("", asked["ts"]):
        await slack.send(file_part(file_of()), to_ada(simulator, thread=thread))
    first, second = ours(simulator)
    assert [first["thread_ts"], second["thread_ts"]] == ["", asked["ts"]]
    for shared in (first, second):
        (file,) = shared["files"]
        assert (file["name"], file["size"]) == ("sums.csv", len(DATA))


async def test_a_picture_is_uploaded_as_it_is(simulator: Simulator, slack: SlackNotification) -> None:
    png = picture("PNG")
    await slack.send(file_part(file_of("chart.png", len(png))), to_ada(simulator, png))
    (file,) = ours(simulator)[0]["files"]
    provider: Any = simulator.providers["slack"]
    assert (file["content_type"], provider.file(file["url"].rpartition("/")[2]).data) == ("image/png", png)


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        ("slack.files.getUploadURLExternal", FaultKind.SERVER_ERROR),
        ("slack.upload", FaultKind.SERVER_ERROR),
        ("slack.upload", FaultKind.RESET_BEFORE),
        ("slack.upload", FaultKind.RESET_AFTER),
    ],
)
async def test_promise_7_before_the_share_nothing_is_unknown(
    simulator: Simulator, slack: SlackNotification, step: str, kind: FaultKind
) -> None:
    simulator.wire.faults.add(Rule(step, kind))
    with pytest.raises(Unavailable):
        await slack.send(file_part(file_of()), to_ada(simulator))
    assert ours(simulator) == []
    await slack.send(file_part(file_of()), to_ada(simulator))
    assert len(ours(simulator)) == 1


async def test_promise_7_a_share_whose_answer_was_lost_is_found(simulator: Simulator, slack: SlackNotification) -> None:
    began = datetime.now(UTC)
    part, to = file_part(file_of()), to_ada(simulator)
    content = "base64:YSxiCjEsMgo="
    await act(simulator, "say", text="Mine", files=[{"name": "sums.csv", "content": content}])
    assert await slack.find(part, to, began) is None, "the person's own file of that name and size is not ours"
    simulator.wire.faults.add(Rule(SHARE, FaultKind.RESET_AFTER))
    with pytest.raises(Ambiguous):
        await slack.send(part, to)
    found = await slack.find(part, to, began)
    (shared,) = ours(simulator)
    assert found is not None
    assert shared["files"][0]["url"].endswith(found.provider_id)
    assert await slack.find(part, to, began + timedelta(minutes=5)) is None


async def test_slacks_wish_to_wait_is_obeyed(simulator: Simulator, slack: SlackNotification) -> None:
    simulator.wire.faults.add(Rule(SHARE, FaultKind.RATE_LIMIT, seconds=7))
    with pytest.raises(RateLimited) as limited:
        await slack.send(file_part(file_of()), to_ada(simulator))
    assert limited.value.retry_after == timedelta(seconds=7)


async def test_promise_14_a_refused_or_deleted_file_is_told_of(simulator: Simulator, slack: SlackNotification) -> None:
    receipt = await slack.send(file_part(file_of()), to_ada(simulator, None))
    assert (receipt.degraded, ours(simulator)[-1]["text"]) == (True, "Gone: sums.csv")
    await act(simulator, "set", scopes=["chat:write", "im:history"])
    receipt = await slack.send(file_part(file_of()), to_ada(simulator))
    assert (receipt.degraded, ours(simulator)[-1]["text"]) == (True, "Instead: sums.csv")


async def test_an_upload_goes_to_slack_alone(simulator: Simulator, slack: SlackNotification) -> None:
    for url in (
        "http://169.254.169.254/",
        "https://127.0.0.1:1/",
        "https://evil.example/slack.com",
        "https://slack.com.evil.example/",
    ):
        with pytest.raises(Unavailable, match="not Slack's"):
            await slack._client.upload(url, DATA)
