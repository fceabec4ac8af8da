"""`notify …` as an operator runs it, and a worker that does what it asks."""

import asyncio
import base64
import json
import os
from pathlib import Path

import pytest

from core.clock import Clock
from core.errors import ConfigError
from core.notifications.types import Urgency
from onevalet.cli.notify import add_address, delete_address, print_addresses, send_notification
from onevalet.settings import Settings, load_settings
from onevalet.wiring.channels import build_notification_channels, notification_channel_names
from onevalet.wiring.outbound import build_service
from tests.core.harness import RecordedWakeups, Store, opened
from tests.eventually import eventually


@pytest.fixture
def settings(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.chdir(tmp_path)  # no .env
    return load_settings(
        database_url=database_url,
        redis_url="redis://127.0.0.1:1/0",
        public_url="https://valet.example",
        onevalet_home=tmp_path,
        onevalet_secret_keys=base64.b64encode(os.urandom(32)).decode(),
    )


async def a_person(store: Store) -> None:
    await store.db.tenants.add(tenant_id="ann")


async def test_promise_10_a_refused_message_is_not_said_to_be_on_its_way(
    settings: Settings, database_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async with opened(database_url) as store:
        await a_person(store)
        await add_address(settings, "", "push", "anns-topic")
        for state, told in (("failed", "It could not be sent by push (HTTP 413)"), ("sent", "It was sent by push.")):
            sending = asyncio.create_task(send_notification(settings, "", f"hello {state}", Urgency.URGENT))
            await eventually(lambda: store.db.outbound.column("id", state="ready"), "what is sent")
            await store.db.outbound.change(
                {"state": state, "reason": "HTTP 413" if state == "failed" else ""}, state="ready"
            )
            assert await sending is (state == "sent")
            assert told in capsys.readouterr().out


async def test_addresses_are_kept_for_one_person_each_and_a_message_reaches_them(
    settings: Settings, database_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async with opened(database_url) as store:
        await a_person(store)
        assert not await send_notification(settings, "", "hello", Urgency.NORMAL)
        await add_address(settings, "", "push", "anns-topic")
        await add_address(settings, "", "email", "Ann@Example.ORG")
        assert "SMTP_HOST" in capsys.readouterr().out
        for channel, address in [("push", "a b"), ("email", "x@y"), ("email", "a@b.c\nBcc: d@e.f"), ("sms", "+1555")]:
            with pytest.raises(ConfigError):
                await add_address(settings, "", channel, address)
        await store.db.tenants.add(tenant_id="bob")
        with pytest.raises(ConfigError, match="another person's"):
            await add_address(settings, "bob", "push", "ntfy:anns-topic")
        assert await send_notification(settings, "ann", "hello again", Urgency.URGENT, patience=0.5)
        assert "It waits to be sent by push, and nothing has taken it yet." in capsys.readouterr().out
        # An unreachable address is tried again once it is added again.
        await store.db.identities.change({"state": "blocked"}, channel="push")
        await add_address(settings, "ann", "push", "anns-topic")
        await print_addresses(settings, "ann", as_json=True)
        shown = capsys.readouterr().out
        listed = json.loads(shown[shown.index("[") :])
        assert [(address["channel"], address["state"]) for address in listed] == [
            ("email", "active"),
            ("push", "active"),
        ]
        assert await store.column("select user_key || ' ' || state from identities order by 1") == [
            "Ann@example.org active", "anns-topic active",
        ]  # fmt: skip
        await delete_address(settings, "ann", "email", "Ann@example.org")
        with pytest.raises(ConfigError):
            await delete_address(settings, "ann", "email", "Ann@example.org")


async def test_half_an_email_group_is_an_error_and_a_whole_one_a_channel(settings: Settings, database_url: str) -> None:
    with pytest.raises(ConfigError, match="SMTP_FROM"):
        load_settings(smtp_host="mail.example.org")
    whole = settings.model_copy(update={"smtp_host": "mail.example.org", "smtp_from": "valet@example.org"})
    channels = build_notification_channels(whole)
    programs = {"mcp"}  # they read their own answers: nobody is notified there
    assert set(channels) - programs == notification_channel_names(whole) == {"terminal", "push", "email"}
    assert set(build_notification_channels(settings)) - programs == notification_channel_names(settings)
    async with opened(database_url) as store:
        service = build_service(store.database, channels, RecordedWakeups(), Clock(), settings.manners)
        assert await service.fall_back() == 0
    for channel in channels.values():
        await channel.close()
