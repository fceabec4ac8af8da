"""Telegram's side of the channel: webhook, commands and descriptions set, and the checks of `doctor`."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from telegram import BotCommand, MenuButtonCommands, WebhookInfo
from telegram.error import TelegramError

from channels.poll_lease import PollLease, check_lease
from channels.telegram.profile import Profile, profiles
from core.errors import ConfigError
from core.messaging.channels import Change, Check, changes_of
from providers.telegram.client import ALLOWED_UPDATES, TelegramApi
from providers.telegram.errors import FloodControl, describe

MAX_CONNECTIONS = 40
"""Number of updates that Telegram sends at once, its default."""
MAX_WAIT = 5
"""In seconds: setWebhook is taken once a second; a longer wait is the operator's to decide."""


async def setup_bot(api: TelegramApi, webhook: str, secret: str) -> tuple[Change, ...]:
    """Set the webhook (or remove it, when `webhook` is empty) and the profile; repeating it changes nothing.

    Pending updates are people's messages: they are never dropped. Raises `ConfigError` when Telegram refuses.
    """
    try:
        changes = [*await _setup_webhook(api, webhook, secret)]
        for profile in profiles():
            changes += await _setup_profile(api, profile)
        return (*changes, *await _setup_menu(api))
    except TelegramError as error:
        raise ConfigError(f"Telegram did not take the bot's settings: {describe(error)}.") from error


async def check_bot(api: TelegramApi, webhook: str, lease: PollLease | None) -> tuple[Check, ...]:
    """Check the token, the webhook, and polling; never raises."""
    try:
        name = await api.get_username()
        info = await api.bot.get_webhook_info()
    except TelegramError as error:
        fix = "check TELEGRAM_BOT_TOKEN (from @BotFather), and TELEGRAM_API_URL if set"
        return (Check.failed("Telegram bot", error, describe(error), fix),)
    checks = [Check("Telegram bot", ok=True, detail=f"@{name}")]
    if webhook:
        return (*checks, _check_webhook(info, webhook), _check_backlog(info))
    if info.url:
        fix = "it is taken away when `web` polls; to keep it, set TELEGRAM_WEBHOOK_SECRET and PUBLIC_URL"
        checks.append(Check("Telegram webhook", ok=False, detail=f"{info.url} stands in the way of polling", fix=fix))
    fix = "if it says Conflict or getUpdates: another program uses this token; stop it, or make a bot of its own"
    return (*checks, await check_lease(lease, "Telegram polling", does="polls", fix=fix))


def _check_webhook(info: WebhookInfo, webhook: str) -> Check:
    fix = "run `channels setup`, or see whether PUBLIC_URL is right"
    if info.url != webhook:
        return Check("Telegram webhook", ok=False, detail=info.url or "not set", fix=fix)
    if _is_refused(info):
        detail = "set with another secret: we refuse what Telegram sends"
        return Check("Telegram webhook", ok=False, detail=detail, fix="run `channels setup`")
    if set(info.allowed_updates or ()) != set(ALLOWED_UPDATES):
        missing = _kinds([kind for kind in ALLOWED_UPDATES if kind not in (info.allowed_updates or ())])
        detail = "set, but for other kinds of updates" + (f", without {missing}" if missing else "")
        return Check("Telegram webhook", ok=False, detail=detail, fix=fix)
    return Check("Telegram webhook", ok=True, detail=info.url)


def _check_backlog(info: WebhookInfo) -> Check:
    waiting = f"{info.pending_update_count} waiting at Telegram"
    if info.pending_update_count and info.last_error_message:
        fix = "see whether `web` runs and Telegram can reach PUBLIC_URL; nothing is lost for 24 hours"
        return Check("Telegram backlog", ok=False, detail=f"{waiting}; {info.last_error_message}", fix=fix)
    return Check("Telegram backlog", ok=True, detail=waiting)


def _is_refused(info: WebhookInfo) -> bool:
    """Return whether we answer Telegram 403: the only sign of an old secret, which Telegram never shows."""
    return bool(info.pending_update_count) and "403" in (info.last_error_message or "")


async def _setup_webhook(api: TelegramApi, webhook: str, secret: str) -> Sequence[Change]:
    info = await api.bot.get_webhook_info()
    if not webhook:
        if not info.url:
            return ()
        await _patiently(lambda: api.bot.delete_webhook(drop_pending_updates=False))
        return (Change("webhook", info.url, "(none: long polling)"),)
    before = (info.url, _kinds(info.allowed_updates or ()), str(info.max_connections or ""))
    after = (webhook, _kinds(ALLOWED_UPDATES), str(MAX_CONNECTIONS))
    changes = changes_of(("webhook", "allowed_updates", "max_connections"), before, after)
    if not changes and _is_refused(info):
        changes = (Change("secret_token", "another", "TELEGRAM_WEBHOOK_SECRET"),)
    if changes:
        await _patiently(
            lambda: api.bot.set_webhook(
                webhook,
                secret_token=secret,
                allowed_updates=ALLOWED_UPDATES,
                max_connections=MAX_CONNECTIONS,
                drop_pending_updates=False,
            )
        )
    return changes


async def _setup_profile(api: TelegramApi, wanted: Profile) -> Sequence[Change]:
    bot, code = api.bot, wanted.language or None
    where = f" ({code})" if code else ""
    changes = []
    listed = tuple((command.command, command.description) for command in await bot.get_my_commands(language_code=code))
    if listed != wanted.commands:
        menu = [BotCommand(name, words) for name, words in wanted.commands]
        await _patiently(lambda: bot.set_my_commands(menu, language_code=code))
        changes.append(Change(f"commands{where}", _names(listed), _names(wanted.commands)))
    description = (await bot.get_my_description(language_code=code)).description
    if description != wanted.description:
        await _patiently(lambda: bot.set_my_description(wanted.description, language_code=code))
        changes.append(Change(f"description{where}", description, wanted.description))
    short = (await bot.get_my_short_description(language_code=code)).short_description
    if short != wanted.short_description:
        await _patiently(lambda: bot.set_my_short_description(wanted.short_description, language_code=code))
        changes.append(Change(f"short_description{where}", short, wanted.short_description))
    return changes


async def _setup_menu(api: TelegramApi) -> Sequence[Change]:
    button = (await api.bot.get_chat_menu_button()).type
    if button == MenuButtonCommands().type:
        return ()
    await api.bot.set_chat_menu_button(menu_button=MenuButtonCommands())
    return (Change("menu button", button, MenuButtonCommands().type),)


async def _patiently(call: Callable[[], Awaitable[bool]]) -> None:
    try:
        await call()
    except FloodControl as error:
        if (error.seconds or 1) > MAX_WAIT:
            raise
        await asyncio.sleep(error.seconds or 1)
        await call()


def _kinds(kinds: Sequence[str]) -> str:
    return ", ".join(sorted(kinds))


def _names(commands: Sequence[tuple[str, str]]) -> str:
    return " ".join(f"/{name}" for name, _ in commands)
