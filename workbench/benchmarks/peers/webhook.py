"""A peer's receiver of webhooks, run in its own environment: it takes a message, hands it to a handler, stores nothing.

python webhook.py NAME PORT PROVIDERS SECRET TOKEN
"""

import asyncio
import sys

from aiohttp import web

heard = 0


async def slack_bolt(_providers: str, secret: str, token: str):
    """Return an application of slack-bolt's."""
    from slack_bolt.async_app import AsyncApp
    from slack_bolt.authorization import AuthorizeResult

    async def authorize(**_):
        return AuthorizeResult(enterprise_id=None, team_id="T0BENCH00", bot_token=token, bot_user_id="U0BENCHBOT")

    app = AsyncApp(signing_secret=secret, authorize=authorize)

    @app.event("message")
    async def message(event) -> None:
        note(event["text"])

    return app.web_app("/webhooks/slack")


async def python_telegram_bot(providers: str, secret: str, token: str):
    """Return an application around python-telegram-bot's."""
    from telegram import Update
    from telegram.ext import Application, MessageHandler, filters

    async def message(update, context) -> None:
        note(update.message.text)

    bot = Application.builder().token(token).base_url(f"{providers}/bot").updater(None).build()
    bot.add_handler(MessageHandler(filters.TEXT, message))
    await bot.initialize()

    async def receive(request: web.Request) -> web.Response:
        if request.headers.get("X-Telegram-Bot-Api-Secret-Token") != secret:
            return web.Response(status=403)
        await bot.process_update(Update.de_json(await request.json(), bot.bot))
        return web.Response()

    app = web.Application()
    app.router.add_post("/webhooks/telegram", receive)
    return app


async def aiogram(_providers: str, secret: str, token: str):
    """Return an application of aiogram's."""
    from aiogram import Bot, Dispatcher
    from aiogram.webhook.aiohttp_server import SimpleRequestHandler

    dispatcher = Dispatcher()

    @dispatcher.message()
    async def message(message) -> None:
        note(message.text)

    app = web.Application()
    SimpleRequestHandler(dispatcher, Bot(token), secret_token=secret).register(app, "/webhooks/telegram")
    return app


def note(text: str) -> None:
    """Count a message."""
    global heard
    heard += bool(text)


async def main() -> None:
    """Serve until killed."""
    name, port, *rest = sys.argv[1:]
    makers = {"slack-bolt": slack_bolt, "python-telegram-bot": python_telegram_bot, "aiogram": aiogram}
    app = await makers[name](*rest)

    async def count(_: web.Request) -> web.Response:
        return web.Response(text=str(heard))

    app.router.add_get("/heard", count)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", int(port)).start()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    import uvloop

    uvloop.run(main())
