"""Checks of each channel's settings, made before anything is started or announced."""

import re
from typing import TYPE_CHECKING

from core.errors import ConfigError

if TYPE_CHECKING:
    from onevalet.settings import Settings

_TOKENS = {
    "twilio_account_sid": (r"AC[0-9a-f]{32}", "AC and 32 hexadecimal digits: copy it from Twilio's console"),
    # A rotated token begins with xoxe.
    "slack_bot_token": (r"(xoxe\.)?xoxb-.+", "xoxb- and more: copy it from your Slack app, OAuth & Permissions"),
    "slack_app_token": (r"xapp-.+", "xapp- and more: copy it from your Slack app, Basic Information"),
    "telegram_bot_token": (r"[0-9]+:[A-Za-z0-9_-]{35,}", "digits, a colon and 35 characters: copy it from @BotFather"),
}
"""The format of each provider's tokens, by setting."""


def check_channels(settings: "Settings") -> None:
    """Raise an error for an incomplete group, naming the missing settings."""
    groups: dict[str, dict[str, object]] = {
        "SMS": {
            "TWILIO_ACCOUNT_SID": settings.twilio_account_sid,
            "TWILIO_AUTH_TOKEN": settings.twilio_auth_token,
            "TWILIO_FROM": settings.twilio_from,
        },
        "Slack": {"SLACK_BOT_TOKEN": settings.slack_bot_token},
        "Telegram": {"TELEGRAM_BOT_TOKEN": settings.telegram_bot_token},
        "Email": {"SMTP_HOST": settings.smtp_host, "SMTP_FROM": settings.smtp_from},
    }
    optional: dict[str, tuple[object, ...]] = {
        "Slack": (settings.slack_signing_secret, settings.slack_app_token),
        "Telegram": (settings.telegram_webhook_secret,),
        "Email": (settings.smtp_user, settings.smtp_password),
    }
    begun = {name for name, values in groups.items() if any((*values.values(), *optional.get(name, ())))}
    if not settings.slack_app_token:
        groups["Slack"]["SLACK_SIGNING_SECRET (or SLACK_APP_TOKEN for Socket Mode)"] = settings.slack_signing_secret
        groups["Slack"]["PUBLIC_URL"] = settings.public_url
    if settings.telegram_webhook_secret:
        groups["Telegram"]["PUBLIC_URL"] = settings.public_url
    groups["SMS"]["PUBLIC_URL"] = settings.public_url
    for channel, values in groups.items():
        missing = [name for name, value in values.items() if not value]
        if channel in begun and missing:
            raise ConfigError(f"{channel} is half configured: set {' and '.join(missing)}, or unset the others.")


def check_tokens(settings: "Settings") -> None:
    """Raise an error for a token that its provider cannot have issued; the token is not repeated."""
    for name, (shape, like) in _TOKENS.items():
        value = getattr(settings, name)
        text = value if isinstance(value, str) else value.get_secret_value() if value else ""
        if text and not re.fullmatch(shape, text):
            raise ConfigError(f"{name.upper()} cannot be used: it has the form {like}.")
