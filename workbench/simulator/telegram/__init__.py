"""Telegram's Bot API emulated, as strict as Telegram, in Telegram's own words.

If the documentation is silent, the behaviour follows Telegram's published server (github.com/tdlib/telegram-bot-api and
github.com/tdlib/td); comments say "server source" there.
"""

from workbench.simulator.telegram.provider import TelegramSimulator

__all__ = ["TelegramSimulator"]
