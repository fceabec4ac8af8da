"""The files that people send: their store, and who fetches them from each provider."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from core.clock import Clock
from core.db.database import Database
from core.files.access import Files
from core.files.intake import FileIntake
from core.files.types import FileFetcher, FileReader
from onevalet.settings import Settings
from onevalet.wiring.file_store import open_file_store


@asynccontextmanager
async def open_files(
    settings: Settings, database: Database, clock: Clock, reader: FileReader | None
) -> AsyncIterator[Files]:
    """Yield access to the files that people send; without a reader they are kept unread."""
    async with AsyncExitStack() as stack:
        fetchers = _fetchers(settings, stack)
        store = await stack.enter_async_context(open_file_store(settings, database))
        yield Files(FileIntake(store, fetchers, clock, reader))


def _fetchers(settings: Settings, stack: AsyncExitStack) -> dict[str, FileFetcher]:
    """Create the fetchers of files for the providers that are on."""
    fetchers: dict[str, FileFetcher] = {}
    if settings.sms_on and settings.twilio_auth_token:
        from channels.sms.media import TwilioMedia

        token = settings.twilio_auth_token.get_secret_value()
        sms = TwilioMedia(account_sid=settings.twilio_account_sid, auth_token=token, api_url=settings.twilio_api_url)
        stack.push_async_callback(sms.close)
        fetchers["sms"] = sms
    if settings.slack_on and settings.slack_bot_token:
        from channels.slack.media import SlackMedia

        slack = SlackMedia(bot_token=settings.slack_bot_token.get_secret_value(), api_url=settings.slack_api_url)
        stack.push_async_callback(slack.close)
        fetchers["slack"] = slack
    if settings.telegram_on and settings.telegram_bot_token:
        from channels.telegram.downloads import TelegramDownloads

        telegram = TelegramDownloads(
            bot_token=settings.telegram_bot_token.get_secret_value(), api_url=settings.telegram_api_url
        )
        stack.push_async_callback(telegram.close)
        fetchers["telegram"] = telegram
    if settings.mailbox_on:
        from channels.email.media import MailMedia
        from onevalet.wiring.channels import build_mailbox_login

        email = MailMedia(build_mailbox_login(settings))
        stack.push_async_callback(email.close)
        fetchers["email"] = email
    return fetchers
