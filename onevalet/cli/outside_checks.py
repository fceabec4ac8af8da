"""Checks of what answers elsewhere: the model, the mail server, push servers, OAuth servers; each in bounded time."""

import asyncio

from core.errors import (
    ConfigError,
    DeliveryError,
    ModelAuthError,
    ModelError,
    ModelOutOfQuota,
    ModelRateLimited,
    ModelRejected,
    ModelTimeout,
    OneValetError,
)
from core.llm.types import ChatMessage, ModelRequest, Role
from core.messaging.channels import Check
from notify.push.send import REAL_NTFY_URL
from onevalet.cli.account_checks import check_services
from onevalet.cli.transcription_check import check_transcription
from onevalet.settings import Settings
from onevalet.wiring.channels import build_email, build_push
from onevalet.wiring.models import build_client, check_models

MODEL_SECONDS = 20.0
"""How long the model may take to answer one word."""
_QUESTION = "Answer with the one word: ready"


async def outside_checks(settings: Settings) -> list[Check]:
    """Ask each of them once, at the same time; never raise."""
    return [
        check
        for checks in await asyncio.gather(
            check_model(settings),
            check_transcription(settings),
            _check_mail(settings),
            _check_push(settings),
            check_services(settings),
        )
        for check in checks
    ]


async def check_model(settings: Settings, seconds: float = MODEL_SECONDS) -> list[Check]:
    """Have the model answer once; without a model of the settings, there is nobody to ask."""
    model = settings.onevalet_model
    if not model:
        return [Check("model", True, "the demo model", "set ONEVALET_MODEL and its key; `worker` needs one")]
    client = build_client(settings)
    request = ModelRequest((ChatMessage(Role.USER, _QUESTION),), timeout=seconds, max_output_tokens=1024)
    try:
        await client.warm_up()
        check_models(settings, client)
        async with asyncio.timeout(seconds):
            await client.answer(request)
    except TimeoutError:
        return [_failed(model, ModelTimeout(""), seconds)]
    except (ModelError, ConfigError) as error:
        return [_failed(model, error, seconds)]
    finally:
        await client.close()
    return [Check("model", True, f"{model} answers")]


def _failed(model: str, error: OneValetError, seconds: float) -> Check:
    match error:
        case ConfigError():
            what, fix = "cannot be asked", str(error)
        case ModelOutOfQuota():
            what, fix = "its account is used up", "top up the account at the provider, or give another key"
        case ModelAuthError():
            key = "ONEVALET_MODEL_KEYS or the provider's own variable, such as OPENAI_API_KEY"
            what, fix = (
                "the provider refuses the key, or this key may not use it",
                f"correct {key}, or the model's name",
            )
        case ModelTimeout():
            what = f"no answer within {seconds:g} s"
            fix = "see whether the provider, or the address in its variable such as OPENAI_API_BASE, can be reached"
        case ModelRateLimited():
            what, fix = "the provider limits us now", "wait and try again, or give another key"
        case ModelRejected():
            what, fix = "the provider refuses a plain question", "see whether this is a model for chat"
        case _:
            what, fix = "does not answer", "see whether the provider is away, or its address wrong (OPENAI_API_BASE)"
    return Check("model", False, f"{model}: {what}", fix)


def check_search(settings: Settings) -> list[Check]:
    """Check that the web can be searched; an incomplete setting was refused before."""
    if settings.onevalet_search:
        return [Check("web search", True, settings.onevalet_search)]
    how = "set ONEVALET_SEARCH to searxng, brave or tavily (docs/web.md)"
    return [Check("web search", True, "off: pages are read, nothing is searched", how)]


async def _check_mail(settings: Settings) -> list[Check]:
    if not settings.email_on:
        return []
    where = f"{settings.smtp_host}:{settings.smtp_port}"
    try:
        await build_email(settings).log_in()
    except DeliveryError as error:
        fix = "correct SMTP_HOST, SMTP_PORT, SMTP_SECURITY, SMTP_USER and SMTP_PASSWORD"
        return [Check("email", False, f"{where}: {error}", fix)]
    return [Check("email", True, f"{where} takes mail from us")]


async def _check_push(settings: Settings) -> list[Check]:
    is_set = settings.ntfy_url != REAL_NTFY_URL or settings.ntfy_token is not None
    wanted = (["ntfy"] if is_set else []) + (["apprise"] if settings.apprise_url else [])
    push, checks = build_push(settings), []
    try:
        for server in wanted:
            where = settings.ntfy_url if server == "ntfy" else settings.apprise_url
            try:
                await push.ask_health(server)
            except DeliveryError as error:
                fix = "correct NTFY_URL and NTFY_TOKEN" if server == "ntfy" else "correct APPRISE_URL"
                checks.append(Check(f"push: {server}", False, f"{where}: {error}", fix))
            else:
                checks.append(Check(f"push: {server}", True, f"{where} answers"))
    finally:
        await push.close()
    return checks
