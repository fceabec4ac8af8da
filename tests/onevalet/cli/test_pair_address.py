"""`pair --address` over a database: whom it lets in, and what it refuses."""

from pathlib import Path

import pytest

from core.errors import ConfigError
from core.inbox.inbox import Inbox
from core.people.access_policy import Access, PersonRole
from onevalet.cli.pair import pair
from onevalet.settings import Settings
from tests.core.harness import message, opened


async def test_pair_address_lets_in_and_says_whom(
    database_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(_env_file=None, database_url=database_url, onevalet_home=tmp_path)
    async with opened(database_url) as store:
        assert not await pair(settings, "", PersonRole.MEMBER, address="sms:+15550000001")
        assert "Nothing came in by sms yet" in capsys.readouterr().err
        inbox = Inbox(store.database, store.wakeups, store.make_id, Access())
        await inbox.accept(message("hello", "+15550000002", "SM1"))
        assert await pair(settings, "", PersonRole.OWNER, address="sms:+15550000001")
        assert "sms +15550000001 is in, as owner" in capsys.readouterr().out
        await inbox.accept(message("hello", "+15550000001", "SM2"))
        assert await store.db.inbound.column("text") == ["hello"]
    with pytest.raises(ConfigError, match="names nobody"):
        await pair(settings, "", PersonRole.MEMBER, address="telegram:@ada")
    for code, address in (("", ""), ("ABCD-EFGH", "sms:+15550000001")):
        with pytest.raises(ConfigError, match="Give a code, or an address"):
            await pair(settings, code, PersonRole.MEMBER, address=address)


TWILIO = {
    "twilio_account_sid": "AC" + "0" * 32,
    "twilio_auth_token": "0" * 32,
    "twilio_from": "+15550009999",
    "public_url": "https://valet.example",
}
TELEGRAM = {"telegram_bot_token": "123456:" + "A" * 35}
MAILBOX = {
    "onevalet_mail_address": "valet@example.org",
    "onevalet_mail_imap_url": "imaps://mail.example.org",
    "smtp_host": "mail.example.org",
    "smtp_from": "valet@example.org",
    "smtp_user": "valet",
    "smtp_password": "secret-word",
}


@pytest.mark.parametrize(
    ("given", "address", "account"),
    [
        (TWILIO, "sms:+15550000001", "+15550009999"),
        (TELEGRAM, "telegram:4242", "123456"),
        (MAILBOX, "email:ann@example.org", "valet@example.org"),
        ({}, "slack:T0123ABC:U0456DEF", "T0123ABC"),
    ],
)
async def test_an_address_is_let_in_before_anything_came(
    database_url: str, tmp_path: Path, given: dict[str, str], address: str, account: str
) -> None:
    settings = Settings.model_validate({"database_url": database_url, "onevalet_home": tmp_path, **given})
    async with opened(database_url) as store:
        assert await pair(settings, "", PersonRole.MEMBER, address=address)
        assert await store.db.identities.column("account") == [account]
