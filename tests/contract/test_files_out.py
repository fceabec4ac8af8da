"""Files that tools return, on every channel: seen once, in order, by their person alone."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from core.errors import ToolFailed
from core.files.types import FileResult
from core.llm.types import ModelAnswer, ModelRequest
from core.tools.tool import tool
from tests.abilities.documents import samples
from tests.contract.canaries import marked
from tests.contract.files_out import UPLOADS, Outlet, open_outlet
from tests.core.builders import FakeModel, says, wants
from tests.patience import PATIENCE
from workbench.simulator.base import OpenedFile
from workbench.simulator.faults import FaultKind

TABLE = b"day,sum\nMonday,12\n"
_FOLDED = str.maketrans("“”", '""')
"""SMS has straight quotes only."""


@pytest.fixture
async def outlet(channel: str, database_url: str, tmp_path: Path) -> AsyncIterator[Outlet]:
    async with open_outlet(channel, database_url, tmp_path / "files") as opened:
        yield opened


async def asks(outlet: Outlet, text: str = "Send it") -> None:
    await outlet.system.delivery.channel.said(marked(text))


async def test_promise_4_files_follow_the_text_as_they_are(outlet: Outlet) -> None:
    png = samples.picture("PNG")
    outlet.system.more.append(outlet.maker(chart__png=png, sums__csv=TABLE))
    await asks(outlet)
    got = await outlet.works(wants(("make_files", {})), says("Here they are."))
    assert got[0] == "Here they are."
    picture, table = [file for file in got[1:] if isinstance(file, OpenedFile)]
    assert (picture.content_type, picture.data) == ("image/png", png)
    assert (table.content_type, table.data) == ("text/csv", TABLE)
    assert len(got) == 3


async def test_a_result_may_hold_files(outlet: Outlet) -> None:
    @tool(name="export", effect="read")
    def export() -> list[object]:
        """Export a table."""
        return ["The table of the week:", FileResult("sums.csv", TABLE)]

    outlet.system.more.append(export)
    await asks(outlet)
    text, file = await outlet.works(wants(("export", {})), says("Here."))
    assert text == "Here."
    assert isinstance(file, OpenedFile)
    assert file.data == TABLE
    (told,) = outlet.system.model.told()
    assert told.startswith("The table of the week:\nThe file sums.csv (f")


async def test_promise_5_a_turn_that_resumes_makes_and_sends_a_file_once(outlet: Outlet) -> None:
    outlet.system.more.append(outlet.maker(sums__csv=TABLE))
    await asks(outlet)

    def dies(request: ModelRequest) -> ModelAnswer:
        raise asyncio.CancelledError

    outlet.system.model = FakeModel([wants(("make_files", {})), dies])
    with pytest.raises(asyncio.CancelledError):
        await outlet.system.turn()
    got = await outlet.works(says("Here."))
    assert outlet.made == ["sums.csv"]
    assert [type(one) for one in got] == [str, OpenedFile]
    rows = outlet.system.delivery.store
    assert "Monday" not in str(await rows.column("select result from steps"))
    (kept,) = await rows.column("select id from files")
    assert f'"files": ["{kept}"]' in str(await rows.column("select result from steps where name = 'make_files'"))


@pytest.mark.exempt(telegram="bots cannot read their history: it is sent again, and counted")
async def test_promise_7_a_file_whose_answer_was_lost_is_found_not_sent_again(channel: str, outlet: Outlet) -> None:
    outlet.system.more.append(outlet.maker(sums__csv=TABLE))
    await asks(outlet)
    harness = outlet.system.delivery.channel
    # Over SMS, the text before it goes to the same place.
    harness.misbehave(FaultKind.RESET_AFTER, endpoint=UPLOADS[channel], times=2 if channel == "sms" else 1)
    await outlet.works(wants(("make_files", {})), says("Here."))
    for _ in range(4):
        await outlet.deliver_later()
    assert [type(one) for one in outlet.got()] == [str, OpenedFile]
    outcomes = await outlet.system.delivery.store.db.deliveries.column("outcome", order="part, attempt")
    assert outcomes[-1] == ("found" if channel == "slack" else "ambiguous"), "Twilio's callback tells before we ask"


async def test_promise_7_a_file_that_was_not_taken_is_sent_again_once(channel: str, outlet: Outlet) -> None:
    outlet.system.more.append(outlet.maker(sums__csv=TABLE))
    await asks(outlet)
    harness = outlet.system.delivery.channel
    first = {"slack": "slack.upload", "sms": "twilio.messages.create"}.get(channel, UPLOADS[channel])
    harness.misbehave(FaultKind.RATE_LIMIT, endpoint=first, seconds=1)
    await outlet.works(wants(("make_files", {})), says("Here."))
    for _ in range(3):
        await outlet.deliver_later()
    assert [type(one) for one in outlet.got()] == [str, OpenedFile]


async def test_promise_8_who_said_stop_gets_no_file(outlet: Outlet) -> None:
    outlet.system.more.append(outlet.maker(sums__csv=TABLE))
    await asks(outlet)
    outlet.system.model = FakeModel([wants(("make_files", {})), says("Here.")])
    await outlet.system.turn()
    await outlet.system.delivery.store.db.identities.change({"state": "stopped"})
    await outlet.deliver_later()
    assert outlet.got() == []


async def test_promise_11_nobody_sends_another_persons_file(outlet: Outlet) -> None:
    outlet.system.more.append(outlet.maker(sums__csv=TABLE))
    await asks(outlet)
    await outlet.works(wants(("make_files", {})), says("Here."))
    (file_id,) = await outlet.system.delivery.store.db.files.column("id")
    await outlet.system.delivery.channel.said(marked("hello"), "grace")
    await outlet.works(says("Hello."))
    (other,) = await outlet.system.delivery.store.column(
        "select tenant_id from tenants where tenant_id not in (select tenant_id from files)"
    )
    with pytest.raises(ToolFailed, match="no such file"):
        await outlet.files.for_turn(str(other), "turn").send(str(file_id))


async def test_what_is_not_carried_is_a_link_that_dies_with_its_file(channel: str, outlet: Outlet) -> None:
    page = b"<script>alert(1)</script>"
    outlet.system.more.append(outlet.maker(report__html=page))
    await asks(outlet)
    got = await outlet.works(wants(("make_files", {})), says("Here."))
    rows = outlet.system.delivery.store
    (tenant,), (file_id,) = await rows.column("select tenant_id from files"), await rows.column("select id from files")
    link = outlet.links.make(str(tenant), str(file_id), outlet.system.clock.now())
    if channel == "sms":
        (text,) = got
        assert 'The file "report.html", to be opened within 7 days: ' in str(text)
        assert link in str(text)
    status, body, headers = await outlet.fetch(link)
    assert (status, body) == (200, page)
    assert headers["Content-Type"] == "application/octet-stream"
    assert headers["Content-Disposition"].startswith('attachment; filename="report.html"')
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert headers["Cache-Control"] == "private, no-store"
    assert (await outlet.fetch(link, "HEAD"))[0] == 200
    wrong = [
        link[:-1] + ("0" if link[-1] != "0" else "1"),
        link + "/",
        link + "?a=b",
        link.replace(str(file_id), "f" * 11),
    ]
    for one in wrong:
        assert (await outlet.fetch(one))[:2] == (404, b"refused\n"), one
    outlet.system.clock.move(timedelta(days=8))
    assert (await outlet.fetch(link))[:2] == (404, b"refused\n")
    outlet.system.clock.move(-timedelta(days=8))
    await rows.database.rows("select redact($1,$2)", tenant, ["alert"])
    assert (await outlet.fetch(link))[:2] == (404, b"refused\n")


async def test_a_file_that_was_deleted_before_it_is_sent_is_told_of(outlet: Outlet) -> None:
    outlet.system.more.append(outlet.maker(sums__csv=TABLE))
    await asks(outlet)
    outlet.system.model = FakeModel([wants(("make_files", {})), says("Here.")])
    await outlet.system.turn()
    await outlet.system.delivery.store.db.files.delete()
    await outlet.deliver_later()
    assert not [file for file in outlet.got() if isinstance(file, OpenedFile)]
    async with asyncio.timeout(PATIENCE):  # Twilio fetches files once it has taken the message, and says so later
        while "has been deleted" not in str(outlet.got()[-1]):
            await outlet.deliver_later()
    assert str(outlet.got()[-1]).translate(_FOLDED) == 'The file "sums.csv" has been deleted.'


@pytest.mark.exempt(slack="takes the file itself", telegram="takes the file itself")
async def test_a_file_that_twilio_could_not_fetch_follows_as_a_link_once(outlet: Outlet, tmp_path: Path) -> None:
    outlet.system.more.append(outlet.maker(sums__csv=TABLE))
    await asks(outlet)
    outlet.system.model = FakeModel([wants(("make_files", {})), says("Here.")])
    await outlet.system.turn()
    (tmp_path / "files").rename(tmp_path / "away")
    async with asyncio.timeout(PATIENCE):
        while len(outlet.got()) < 3:
            await outlet.deliver_later()
    await outlet.deliver_later()
    (tmp_path / "away").rename(tmp_path / "files")
    file, link = outlet.got()[1:]
    assert not isinstance(file, OpenedFile)
    assert isinstance(link, str)
    assert link.translate(_FOLDED).startswith('The file "sums.csv", to be opened within ')
    assert (await outlet.fetch(link.split()[-1]))[:2] == (200, TABLE)
