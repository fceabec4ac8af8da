"""The channels of a process, from the settings. Only those that are on are imported: each SDK takes a second."""

from typing import TYPE_CHECKING

from pydantic import SecretStr

from core.clock import Clock
from core.db.database import Database
from core.messaging.channels import Channel, InboundSink, NotificationChannel
from onevalet.settings import Settings

if TYPE_CHECKING:
    from notify.email.send import EmailNotification
    from notify.push.send import PushNotification
    from providers.email.client import MailboxLogin


def build_channels(settings: Settings, sink: InboundSink, database: Database | None = None) -> list[Channel]:
    """Create the ways in that are on. `database` holds the lease of those that poll, which cannot start without it."""
    channels: list[Channel] = []
    clock = Clock(settings.onevalet_clock)
    if settings.sms_on and settings.twilio_auth_token:
        from channels.sms.receive import SmsChannel

        channels.append(
            SmsChannel(
                account_sid=settings.twilio_account_sid,
                auth_token=settings.twilio_auth_token.get_secret_value(),
                sender=settings.twilio_from,
                public_url=settings.public_url,
                api_url=settings.twilio_api_url,
                carrier_answers=settings.twilio_opt_out == "twilio",
                sink=sink,
            )
        )
    if settings.slack_on and settings.slack_bot_token:
        from channels.slack.receive import SlackChannel

        channels.append(
            SlackChannel(
                bot_token=settings.slack_bot_token.get_secret_value(),
                signing_secret=_plain(settings.slack_signing_secret),
                app_token=_plain(settings.slack_app_token),
                api_url=settings.slack_api_url,
                public_url=settings.public_url,
                sink=sink,
            )
        )
    if settings.telegram_on and settings.telegram_bot_token:
        from channels.telegram.receive import TelegramChannel

        channels.append(
            TelegramChannel(
                bot_token=settings.telegram_bot_token.get_secret_value(),
                webhook_secret=_plain(settings.telegram_webhook_secret),
                api_url=settings.telegram_api_url,
                public_url=settings.public_url,
                sink=sink,
                database=database,
                clock=clock,
            )
        )
    if settings.mailbox_on:
        from channels.email.receive import EmailChannel

        channels.append(
            EmailChannel(
                login=build_mailbox_login(settings),
                authserv_id=settings.onevalet_mail_authserv_id or "",
                sink=sink,
                database=database,
                clock=clock,
            )
        )
    return channels


def build_notification_channels(settings: Settings) -> dict[str, NotificationChannel]:
    """Create the ways out that are on, by name; those to the terminal and to programs always are."""
    from notify.programs.send import ClientNotification
    from notify.terminal.send import TerminalNotification

    ways: list[NotificationChannel] = [TerminalNotification(), ClientNotification()]
    if settings.sms_on and settings.twilio_auth_token:
        from notify.sms.send import SmsNotification

        ways.append(
            SmsNotification(
                account_sid=settings.twilio_account_sid,
                auth_token=settings.twilio_auth_token.get_secret_value(),
                sender=settings.twilio_from,
                public_url=settings.public_url,
                api_url=settings.twilio_api_url,
                budget=settings.sms_budget,
                plain_letters=settings.onevalet_sms_plain_letters == "on",
            ).with_mms(settings.onevalet_mms_countries)
        )
    if settings.slack_on and settings.slack_bot_token:
        from notify.slack.send import SlackNotification

        ways.append(
            SlackNotification(bot_token=settings.slack_bot_token.get_secret_value(), api_url=settings.slack_api_url)
        )
    if settings.telegram_on and settings.telegram_bot_token:
        from notify.telegram.send import TelegramNotification

        ways.append(
            TelegramNotification(
                bot_token=settings.telegram_bot_token.get_secret_value(), api_url=settings.telegram_api_url
            )
        )
    ways.append(build_push(settings))
    if settings.email_on:
        ways.append(build_email(settings))
    if settings.onevalet_channels:
        from onevalet.wiring.own_channels import own_ways_out

        ways.extend(own_ways_out(settings))
    return {channel.name: channel for channel in ways}


def notification_channel_names(settings: Settings) -> set[str]:
    """Return the names of the ways out that are on, without creating them."""
    on = {"sms": settings.sms_on, "slack": settings.slack_on, "telegram": settings.telegram_on}
    own: set[str] = set()
    if settings.onevalet_channels:
        from onevalet.wiring.own_channels import own_names

        own = own_names(settings)
    return {"terminal", "push", *own, *(name for name, is_on in (on | {"email": settings.email_on}).items() if is_on)}


def own_account(settings: Settings, channel: str) -> str:
    """Return our account on a channel; empty if the channel is off, or if only its provider knows it."""
    match channel:
        case "sms" if settings.sms_on:
            return settings.twilio_from
        case "telegram" if settings.telegram_on:
            return _plain(settings.telegram_bot_token).partition(":")[0]
        case "email" if settings.mailbox_on:
            return settings.onevalet_mail_address
    return ""


def build_push(settings: Settings) -> "PushNotification":
    """Create the way out to the push servers."""
    from notify.push.send import PushNotification

    return PushNotification(
        ntfy_url=settings.ntfy_url, ntfy_token=_plain(settings.ntfy_token), apprise_url=settings.apprise_url
    )


def build_email(settings: Settings) -> "EmailNotification":
    """Create the way out to the mail server."""
    from notify.email.send import EmailNotification, Security, SmtpServer

    server = SmtpServer(
        settings.smtp_host,
        settings.smtp_from,
        settings.smtp_port,
        settings.smtp_user,
        _plain(settings.smtp_password),
        Security(settings.smtp_security),
    )
    mailbox = None
    if settings.mailbox_on:
        from providers.email.client import MailboxClient

        mailbox = MailboxClient(build_mailbox_login(settings))
    return EmailNotification(server, Clock(settings.onevalet_clock), mailbox)


def build_mailbox_login(settings: Settings) -> "MailboxLogin":
    """Return the login of the assistant's own mailbox."""
    from providers.email.client import MailboxLogin

    return MailboxLogin(
        settings.onevalet_mail_address,
        settings.mailbox_url,
        settings.mailbox_user,
        _plain(settings.mailbox_password),
    )


def _plain(secret: SecretStr | None) -> str:
    return secret.get_secret_value() if secret else ""
