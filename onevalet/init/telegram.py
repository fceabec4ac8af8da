"""Telegram: the bot created at @BotFather, its token proved, the webhook set, and a call to it awaited."""

import asyncio
import secrets
from collections.abc import Callable

import segno
from telegram.error import TelegramError

from channels.telegram.receive import SECRET_HEADER, WEBHOOK_PATH
from channels.telegram.setup import setup_bot
from core.errors import ConfigError
from onevalet.channel_settings import check_tokens
from onevalet.init.dialogue import Dialogue, Option, Wrong
from onevalet.init.doorway import Doorway
from onevalet.init.draft import Draft
from providers.telegram.client import TelegramApi
from providers.telegram.errors import describe

NAMES = ("TELEGRAM_BOT_TOKEN", "TELEGRAM_WEBHOOK_SECRET")
HOW = "telegram"
"""The name of the question how updates come."""
_STEPS = """\
  1. Open https://t.me/BotFather in Telegram, for instance with this code:
{code}
  2. Send it /newbot, then a name, then a username that ends in bot.
  3. It answers with the bot's token: digits, a colon, and 35 characters. Copy it."""
_WAYS = (
    Option("polling", "OneValet asks Telegram: needs no public address"),
    Option("webhook", "Telegram calls OneValet: faster, needs a public https address"),
)


def set_up_telegram(talk: Dialogue, draft: Draft, doorway: Doorway, ask_address: Callable[[], str]) -> None:
    """Ask until the bot answers and is set up, then save."""
    talk.say(_STEPS.format(code=code("https://t.me/BotFather")))
    api_url = draft.settings({}).telegram_api_url
    known = draft.value("TELEGRAM_BOT_TOKEN")
    token, name = talk.ask_until(
        "TELEGRAM_BOT_TOKEN",
        "Token",
        lambda answer: _prove(draft, answer, api_url),
        default=known,
        secret=True,
    )
    talk.say(f"  It is the token of @{name}.")
    has_secret = draft.has("TELEGRAM_WEBHOOK_SECRET") or talk.is_given("TELEGRAM_WEBHOOK_SECRET")
    way = talk.choose(HOW, "How do messages come?", _WAYS, "webhook" if has_secret else "polling")
    url = secret = ""
    if way == "webhook":
        url = ask_address()
        made = draft.value("TELEGRAM_WEBHOOK_SECRET") or secrets.token_urlsafe(32)
        secret = (talk.given("TELEGRAM_WEBHOOK_SECRET") and talk.ask("TELEGRAM_WEBHOOK_SECRET", "")) or made
    try:
        changes = asyncio.run(_set_up(token, api_url, url + WEBHOOK_PATH if url else "", secret))
    except ConfigError as error:
        raise Wrong(str(error)) from error
    talk.say(f"  Set at Telegram: {', '.join(changes) or 'nothing, all was set'}.")
    values = {"TELEGRAM_BOT_TOKEN": token, "TELEGRAM_WEBHOOK_SECRET": secret}
    draft.save(values | ({"PUBLIC_URL": url} if url else {}))
    talk.say(f"  Your bot is https://t.me/{name}:")
    talk.say(code(f"https://t.me/{name}"))
    if way == "webhook":
        _hear(talk, doorway, token, api_url, secret)


def code(url: str) -> str:
    """Return a QR code as lines of text, two rows of modules in each, with colours of its own."""
    rows = [[bool(module) for module in row] for row in segno.make(url, error="m").matrix_iter(border=2)]
    rows += [[False] * len(rows[0])] * (len(rows) % 2)
    shapes = {(False, False): "█", (False, True): "▀", (True, False): "▄", (True, True): " "}
    pairs = zip(rows[::2], rows[1::2], strict=True)
    lines = ("".join(shapes[above, below] for above, below in zip(*pair, strict=True)) for pair in pairs)
    return "\n".join(f"     \x1b[97;40m{line}\x1b[0m" for line in lines)


def _prove(draft: Draft, token: str, api_url: str) -> str:
    """Return the bot's name; raise `Wrong` for a token that Telegram does not know."""
    try:
        check_tokens(draft.settings({"TELEGRAM_BOT_TOKEN": token}))
        return asyncio.run(_ask_name(token, api_url))
    except ConfigError as error:
        raise Wrong(str(error)) from error
    except TelegramError as error:
        raise Wrong(f"Telegram does not take it: {describe(error)}.") from error


async def _ask_name(token: str, api_url: str) -> str:
    api = TelegramApi(bot_token=token, api_url=api_url)
    try:
        return await api.get_username()
    finally:
        await api.close()


async def _set_up(token: str, api_url: str, webhook: str, secret: str) -> list[str]:
    api = TelegramApi(bot_token=token, api_url=api_url)
    try:
        return [change.what for change in await setup_bot(api, webhook, secret)]
    finally:
        await api.close()


def _hear(talk: Dialogue, doorway: Doorway, token: str, api_url: str, secret: str) -> None:
    """Wait for a call from Telegram, caused by the person's message, or report its last error."""
    while True:
        talk.pause("  Write anything to it now, then press Enter here … ")
        if doorway.wait_for(WEBHOOK_PATH, lambda request: request.headers.get(SECRET_HEADER.lower()) == secret):
            talk.say("  Telegram reached this machine. It will bring that message again when OneValet runs.")
            return
        talk.say(f"  {asyncio.run(_last_error(token, api_url))}")
        if not talk.confirm("  Try again?", default=False):
            return


async def _last_error(token: str, api_url: str) -> str:
    """Return Telegram's report about its last call to the webhook."""
    api = TelegramApi(bot_token=token, api_url=api_url)
    try:
        info = await api.bot.get_webhook_info()
    except TelegramError as error:
        return f"Telegram does not say whether it reached this machine: {describe(error)}."
    finally:
        await api.close()
    if info.last_error_message:
        return f"Telegram could not hand a message over: {info.last_error_message}."
    waiting = info.pending_update_count
    return f"Telegram reports no failure, and {waiting} waiting: nothing was written, or another process took it."
