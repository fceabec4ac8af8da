"""A mailbox in the settings is a way in, a way out that looks things up, and where files of mails are fetched."""

from contextlib import AsyncExitStack
from typing import Any

import pytest
from pydantic import SecretStr

from core.messaging.messages import Address, Media
from onevalet.settings import Settings
from onevalet.wiring.channels import build_channels, build_notification_channels, notification_channel_names
from onevalet.wiring.files import _fetchers
from tests.contract.harness import MemorySink

SMTP: dict[str, Any] = {
    "smtp_host": "mail.example.org",
    "smtp_from": "Valet <news@example.org>",
    "smtp_user": "valet",
    "smtp_password": SecretStr("canary-of-smtp"),
}
MAILBOX: dict[str, Any] = SMTP | {
    "onevalet_mail_address": "valet@example.org",
    "onevalet_mail_imap_url": SecretStr("imaps://valet:canary-of-imap@mail.example.org"),
    "onevalet_mail_authserv_id": "mx.example.org",
}


def settings(**given: Any) -> Settings:
    return Settings(_env_file=None, **given)


@pytest.mark.parametrize(("given", "ways_in", "can_find"), [(SMTP, [], False), (MAILBOX, ["email"], True)])
async def test_a_mailbox_is_a_way_in_and_smtp_alone_only_a_way_out(
    given: dict[str, Any], ways_in: list[str], can_find: bool
) -> None:
    channels = build_channels(settings(**given), MemorySink())
    assert [channel.name for channel in channels] == ways_in
    assert "email" in notification_channel_names(settings(**given))
    out = build_notification_channels(settings(**given))
    assert out["email"].can_find == can_find
    for channel in channels:
        await channel.stop()
    for way in out.values():
        await way.close()


async def test_files_of_mails_are_fetched_and_attached_where_there_is_a_mailbox() -> None:
    async with AsyncExitStack() as stack:
        assert set(_fetchers(settings(**SMTP), stack)) == set()
        assert set(_fetchers(settings(**MAILBOX), stack)) == {"email"}
    out: Any = build_notification_channels(settings(**MAILBOX))["email"]
    file = Media("kept:fil_1", "text/csv", "a.csv", 100)
    assert out.carries(file, Address("email", "valet@example.org", "ann@example.com"))
    assert not out.carries(file, Address("email", "smtp", "ann@example.com"))
    await out.close()


def test_both_passwords_are_secrets_that_no_log_shows() -> None:
    assert {"canary-of-smtp", "canary-of-imap"} <= set(settings(**MAILBOX).secrets())
    assert "canary" not in repr(settings(**MAILBOX))
