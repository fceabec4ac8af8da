"""`deliveries`: lists what failed without its text, sends it again, or leaves it."""

import json
from pathlib import Path

import pytest

from core.errors import ConfigError
from core.messaging.calls import PartEnd
from core.messaging.messages import DeliveryStatus, StatusUpdate
from core.messaging.states import CallOutcome, SendState
from onevalet.cli.deliveries import print_deliveries, settle
from onevalet.settings import Settings
from tests.core.harness import ACCOUNT, CHANNEL, opened

REJECTED = PartEnd(SendState.FAILED, CallOutcome.REJECTED, error_code="30003", reason="the phone is off")


async def test_a_failed_message_is_listed_resent_and_left(
    database_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(_env_file=None, database_url=database_url, onevalet_home=tmp_path)
    async with opened(database_url) as store:
        failed = []
        for text in ("your cab", "your train"):
            await store.enqueue(text)
            claim = await store.claim_sending(text)
            await store.send(claim, end=REJECTED)
            failed.append(claim.outbound_id)
        await print_deliveries(settings, as_json=False)
        listed = capsys.readouterr().out
        assert "the phone is off 30003" in listed
        assert "your cab" not in listed
        await settle(settings, failed[0], resend=True)
        await settle(settings, failed[1], resend=False)
        assert capsys.readouterr().out == "It is on its way again.\nIt is not sent again.\n"
        for message, problem in ((failed[0], "was decided about before"), ("out_none", "is not there")):
            with pytest.raises(ConfigError, match=problem):
                await settle(settings, message, resend=True)
        await print_deliveries(settings, as_json=True)
        assert json.loads(capsys.readouterr().out) == []
        assert await store.column("select viewer || ' ' || what from console_actions order by at, id") == [
            "operator resend",
            "operator drop",
            "operator resend",
        ]


async def test_a_message_that_was_taken_and_lost_is_listed_and_left(
    database_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(_env_file=None, database_url=database_url, onevalet_home=tmp_path)
    async with opened(database_url) as store:
        await store.enqueue("your cab")
        claim = await store.claim_sending("your cab")
        await store.send(claim)
        ref = str(await store.db.outbound_parts.one("ref"))
        await store.inbox.accept(StatusUpdate(CHANNEL, ACCOUNT, "SM0", ref, DeliveryStatus.FAILED, "30007"))
        await print_deliveries(settings, as_json=False)
        assert "undelivered" in (listed := capsys.readouterr().out)
        assert "its provider took it, and reported that it did not arrive 30007" in listed
        await settle(settings, claim.outbound_id, resend=False)
        await print_deliveries(settings, as_json=True)
        assert json.loads(capsys.readouterr().out.partition("\n")[2]) == []
