"""The files that people send: their store, who fetches them from each provider, and who sees pictures."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from core.budgets.budgeted_model import BudgetedModel
from core.budgets.store import DailyBudgets
from core.clock import Clock
from core.db.database import Database
from core.files.access import Files as Files
from core.files.intake import FileIntake
from core.files.types import FileFetcher
from core.files.vision import Vision
from core.llm.litellm_client import LiteLLMClient
from onevalet.settings import Settings
from onevalet.wiring.file_store import open_file_store


@asynccontextmanager
async def open_files(settings: Settings, database: Database, clock: Clock) -> AsyncIterator[Files]:
    """Yield access to the files that people send."""
    async with AsyncExitStack() as stack:
        fetchers = _fetchers(settings, stack)
        store = await stack.enter_async_context(open_file_store(settings, database))
        yield Files(FileIntake(store, fetchers, clock))


def build_vision(
    settings: Settings, client: LiteLLMClient, database: Database, budgets: DailyBudgets | None
) -> tuple[Vision, LiteLLMClient | None]:
    """Return what sees pictures, and the client of a model of its own, which is to be closed."""
    named = settings.onevalet_vision_model
    if not named or named == settings.onevalet_model:
        seeing = client if named or client.sees() else None
        return Vision(client.sees, BudgetedModel(seeing, database, budgets) if seeing else None), None
    own = LiteLLMClient(
        named,
        keys=[key.get_secret_value() for key in settings.onevalet_model_keys] if _same_provider(settings) else (),
        direct=settings.onevalet_model_transport == "direct",
        vision_model=named,
    )
    return Vision(client.sees, BudgetedModel(own, database, budgets)), own


def _same_provider(settings: Settings) -> bool:
    return settings.onevalet_vision_model.split("/", 1)[0] == settings.onevalet_model.split("/", 1)[0]


def _fetchers(settings: Settings, stack: AsyncExitStack) -> dict[str, FileFetcher]:
    """Create what fetches files from the providers that are on."""
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
    return fetchers
