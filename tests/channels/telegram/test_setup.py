"""Telegram's side set once and only once, and doctor's look at it."""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from channels.telegram.profile import Profile, profile_in, profiles
from channels.telegram.receive import TelegramChannel
from core.db.database import Database
from core.errors import ConfigError
from core.language.catalogue import LANGUAGES
from core.messaging.channels import Change, Check
from core.messaging.chat_reader import chat_words
from providers.telegram.client import ALLOWED_UPDATES
from tests.channels.memory_sink import MemorySink
from tests.channels.telegram.builders import NOWHERE, PATH, PUBLIC_URL, TOKEN, make_channel
from tests.eventually import eventually
from tests.workbench.simulator.telegram_harness import Harness
from workbench.simulator.faults import FaultKind, Rule

WEBHOOK = PUBLIC_URL + PATH
WRITES = ("setWebhook", "deleteWebhook", "setMyCommands", "setMyDescription", "setChatMenuButton")


@asynccontextmanager
async def channel_at(harness: Harness, **more: str) -> AsyncIterator[TelegramChannel]:
    channel = make_channel(MemorySink(), api_url=f"{harness.url}/telegram", **more)  # type: ignore[arg-type]
    yield channel
    await channel.stop()


def writes(harness: Harness) -> list[str]:
    """List the calls that change something at Telegram."""
    calls = [str(call) for call in harness.wire.journal.calls(provider="telegram")]
    return [name for call in calls for name in WRITES if f"/{name}" in call]


def named(checks: Sequence[Check], name: str) -> Check:
    return next(check for check in checks if check.what == name)


async def test_setup_sets_webhook_commands_descriptions_and_menu_once(harness: Harness) -> None:
    async with channel_at(harness) as channel:
        changes = await channel.setup()
        assert changes[0] == Change("webhook", "", WEBHOOK)
        assert {change.what for change in changes} >= {"commands", "description", "short_description"}
        info = await harness.bot.get_webhook_info()
        assert (info.url, info.max_connections) == (WEBHOOK, 40)
        assert set(info.allowed_updates) == set(ALLOWED_UPDATES)
        profile = profile_in("en")
        assert [(command.command, command.description) for command in await harness.bot.get_my_commands()] == [
            *profile.commands
        ]
        assert (await harness.bot.get_my_description()).description == profile.description
        before = len(writes(harness))
        assert await channel.setup() == ()
        assert len(writes(harness)) == before


async def test_promise_3_setup_drops_nothing_that_waits(harness: Harness) -> None:
    harness.wire.connect_gateway(NOWHERE, PUBLIC_URL)
    await harness.act("say", text="waits")
    async with channel_at(harness, secret="") as polling:
        await polling.setup()
        assert (await harness.bot.get_webhook_info()).pending_update_count == 1
    async with channel_at(harness) as channel:
        await channel.setup()
        assert (await harness.bot.get_webhook_info()).pending_update_count == 1
    assert "drop_pending_updates': 'true" not in str(harness.wire.journal.calls(provider="telegram")).lower()


async def test_setup_for_polling_takes_the_webhook_away(harness: Harness) -> None:
    await harness.bot.set_webhook("https://old.example.com/hook")
    async with channel_at(harness, secret="") as channel:
        assert Change("webhook", "https://old.example.com/hook", "(none: long polling)") in await channel.setup()
        assert not (await harness.bot.get_webhook_info()).url
        assert await channel.setup() == ()


async def test_a_webhook_set_with_another_secret_is_seen_and_replaced(harness: Harness) -> None:
    async with channel_at(harness) as channel:
        await channel.setup()
        harness.wire.connect_gateway(harness.hook.url.removesuffix(PATH), PUBLIC_URL)
        harness.hook.answers.extend(web.Response(status=403) for _ in range(50))
        await harness.act("say", text="refused")
        await eventually(lambda: harness.hook.updates)
        await eventually(lambda: "403" in str(harness.telegram.state()))
        check = named(await channel.check(), "Telegram webhook")
        assert not check.ok
        assert "secret" in check.detail
        assert [change.what for change in await channel.setup()] == ["secret_token"]


async def test_setup_waits_out_the_one_second_of_set_webhook(harness: Harness) -> None:
    harness.wire.faults.add(Rule("telegram.setWebhook", FaultKind.RATE_LIMIT, seconds=1))
    async with channel_at(harness) as channel:
        assert await channel.setup()
    assert (await harness.bot.get_webhook_info()).url == WEBHOOK


async def test_a_refusal_is_one_sentence_for_the_operator(harness: Harness) -> None:
    async with channel_at(harness, token=f"{TOKEN}x") as channel:
        with pytest.raises(ConfigError, match="Telegram refuses the bot token") as caught:
            await channel.setup()
        assert TOKEN not in str(caught.value)


async def test_doctor_explains(harness: Harness) -> None:
    async with channel_at(harness) as channel:
        checks = await channel.check()
        assert named(checks, "Telegram bot").detail == "@simulator_valet_bot"
        assert named(checks, "Telegram webhook").fix
        await channel.setup()
        assert all(check.ok for check in await channel.check())
    async with channel_at(harness, token=f"{TOKEN}x") as channel:
        (check,) = await channel.check()
        assert not check.ok
        assert "TELEGRAM_BOT_TOKEN" in check.fix


async def test_doctor_never_raises_when_telegram_cannot_be_reached() -> None:
    channel = make_channel(MemorySink())
    (check,) = await channel.check()
    assert not check.ok
    await channel.stop()


async def test_doctor_reports_a_missing_poller_and_a_webhook_in_the_way(harness: Harness, database_url: str) -> None:
    database = Database(database_url, patience=1)
    channel = make_channel(MemorySink(), secret="", api_url=f"{harness.url}/telegram", database=database)
    assert named(await channel.check(), "Telegram polling").detail == "no process polls"
    await harness.bot.set_webhook("https://old.example.com/hook")
    assert not named(await channel.check(), "Telegram webhook").ok
    await channel.stop()
    await database.close()


@pytest.mark.parametrize("profile", profiles(), ids=LANGUAGES)
def test_the_commands_are_within_telegrams_limits_and_known_to_the_core(profile: Profile) -> None:
    assert len(profile.description) <= 512
    assert len(profile.short_description) <= 120
    for name, words in profile.commands:
        assert len(words) <= 256
        assert re.fullmatch("[a-z0-9_]{1,32}", name)
        assert chat_words().find(name)


async def test_menu_and_descriptions_are_set_in_every_language(harness: Harness) -> None:
    async with channel_at(harness) as channel:
        await channel.setup()
    for profile in profiles():
        code = profile.language or None
        menu = await harness.bot.get_my_commands(language_code=code)
        assert tuple((command.command, command.description) for command in menu) == profile.commands
        assert (await harness.bot.get_my_description(language_code=code)).description == profile.description
        short = await harness.bot.get_my_short_description(language_code=code)
        assert short.short_description == profile.short_description
    assert len({profile.commands for profile in profiles()}) == len(LANGUAGES)
