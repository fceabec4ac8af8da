"""The notification channels without a way in: the mail server and the push servers, if they are set."""

from collections.abc import Sequence

from core.errors import DeliveryError
from core.messaging.channels import Check
from notify.push.send import REAL_NTFY_URL
from onevalet.settings import Settings
from onevalet.wiring.channels import build_email, build_push


async def check_mail(settings: Settings) -> Sequence[Check]:
    """Log in to the mail server; nothing is sent."""
    if not settings.email_on:
        return []
    where = f"{settings.smtp_host}:{settings.smtp_port}"
    try:
        await build_email(settings).log_in()
    except DeliveryError as error:
        fix = "correct SMTP_HOST, SMTP_PORT, SMTP_SECURITY, SMTP_USER and SMTP_PASSWORD"
        return [Check.failed("email", error, f"{where}: {error}", fix)]
    return [Check("email", True, f"{where} takes mail from us")]


async def check_push(settings: Settings) -> Sequence[Check]:
    """Ask the push servers for their health."""
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
                checks.append(Check.failed(f"push: {server}", error, f"{where}: {error}", fix))
            else:
                checks.append(Check(f"push: {server}", True, f"{where} answers"))
    finally:
        await push.close()
    return checks
