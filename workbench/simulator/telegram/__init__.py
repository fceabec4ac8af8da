"""Telegram's Bot API emulated, as strict as Telegram, in Telegram's own words.

Where the documentation is silent, the behaviour follows what Telegram publishes of its own server
(github.com/tdlib/telegram-bot-api and github.com/tdlib/td); comments say "server source" there.
"""

from workbench.simulator.telegram.provider import TelegramSimulator

__all__ = ["TelegramSimulator"]
