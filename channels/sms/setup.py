"""Twilio's side of the SMS channel: its webhooks set, and the checks of `doctor`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from channels.sms.registration import check_registration
from channels.sms.texts import Account
from core.errors import ConfigError
from core.messaging.channels import Change, Check, changes_of
from providers.sms.client import TwilioApi
from providers.sms.errors import FAILURES, describe

if TYPE_CHECKING:
    from twilio.rest.api.v2010.account.incoming_phone_number import IncomingPhoneNumberInstance
    from twilio.rest.messaging.v1.service import ServiceInstance

RETRIES = "#ct=1500&rt=2000&rc=5&rp=ct,rt,5xx"
"""Six attempts within Twilio's 15 s. By default it tries once more, and only when it could not connect.
Source: twilio.com/docs/usage/webhooks/webhooks-connection-overrides. The signature leaves it out."""

_ALERTS = 100
_RECENT = timedelta(minutes=15)
"""Age up to which a failed call is reported as a fault; an older call as advice."""


@dataclass(frozen=True, slots=True)
class Webhooks:
    """Our public URLs for incoming texts and for delivery statuses."""

    message_url: str
    status_url: str


async def setup_sender(api: TwilioApi, account: Account, webhooks: Webhooks) -> Sequence[Change]:
    """Point the number or the Messaging Service at us; repeating it changes nothing.

    Raises `ConfigError` when Twilio refuses or has no such sender.
    """
    try:
        if account.is_service:
            return await _setup_service(api, account, webhooks)
        return await _setup_number(api, account, webhooks)
    except FAILURES as error:
        raise ConfigError(f"Twilio did not take the SMS webhooks: {describe(error)}.") from error


async def check_sender(api: TwilioApi, account: Account, webhooks: Webhooks) -> Sequence[Check]:
    """Check credentials, sender, webhook and registration; never raises."""
    try:
        owner = await api.client.api.accounts(account.sid).fetch_async()
    except FAILURES as error:
        fix = "check TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN (the primary token), and TWILIO_API_URL if set"
        return (Check.failed("Twilio account", error, describe(error), fix),)
    active = owner.status == "active"
    checks = [Check("Twilio account", active, str(owner.status), "" if active else "see the Twilio console")]
    try:
        url = await _webhook_url(api, account)
    except (*FAILURES, ConfigError) as error:
        detail = str(error) if isinstance(error, ConfigError) else describe(error)
        fix = "set TWILIO_FROM to a number or Messaging Service of this account"
        return (*checks, Check.failed("SMS sender", error, detail, fix))
    checks.append(Check("SMS sender", ok=True, detail="found"))
    checks.append(_judge_webhook(url, webhooks))
    checks += await _check_calls(api, webhooks)
    checks.append(await check_registration(api, account))
    return tuple(checks)


async def _check_calls(api: TwilioApi, webhooks: Webhooks) -> Sequence[Check]:
    """Read Twilio's debugger for failed calls to us. Not every key may read it; then nothing is reported."""
    since = datetime.now(UTC) - timedelta(days=1)
    try:
        alerts = await api.client.monitor.v1.alerts.list_async(log_level="error", start_date=since, limit=_ALERTS)
    except FAILURES:
        return ()
    ours = [alert for alert in alerts if (alert.request_url or "").startswith(webhooks.message_url)]
    if not ours:
        return (Check("SMS webhook's calls", ok=True, detail="Twilio reports none that failed in 24 hours"),)
    last = max((alert.date_generated for alert in ours if alert.date_generated), default=since)
    codes = ", ".join(sorted({str(alert.error_code) for alert in ours}))
    detail = f"{len(ours)} failed in 24 hours by Twilio's debugger, the last at {last:%H:%M} UTC (errors {codes})"
    fix = "see whether `web` runs and Twilio can reach PUBLIC_URL; what was missed is fetched from its list"
    return (Check("SMS webhook's calls", ok=last < datetime.now(UTC) - _RECENT, detail=detail, fix=fix),)


def _judge_webhook(url: str, webhooks: Webhooks) -> Check:
    wanted = webhooks.message_url + RETRIES
    fix = "run `channels setup`, or see whether PUBLIC_URL is right"
    if url == wanted:
        return Check("SMS webhook", ok=True, detail=url)
    if url.partition("#")[0] == webhooks.message_url:
        return Check("SMS webhook", ok=False, detail="set, but without our retries", fix=fix)
    return Check("SMS webhook", ok=False, detail=url or "not set", fix=fix)


async def _webhook_url(api: TwilioApi, account: Account) -> str:
    if account.is_service:
        service = await _service(api, account)
        return "" if service.use_inbound_webhook_on_number else service.inbound_request_url or ""
    number = await _number(api, account)
    return number.sms_application_sid or number.sms_url or ""


async def _setup_number(api: TwilioApi, account: Account, webhooks: Webhooks) -> Sequence[Change]:
    """Set the number's webhook for texts.

    Its StatusCallback is left alone: it reports calls, and each text that we send names its own.
    """
    number = await _number(api, account)
    # An application, if set, stands over the URL (docs: incomingphonenumber-resource).
    before = (number.sms_url or "", number.sms_method or "", number.sms_application_sid or "")
    after = (webhooks.message_url + RETRIES, "POST", "")
    changes = changes_of(("SmsUrl", "SmsMethod", "SmsApplicationSid"), before, after)
    if changes:
        # Sent only to take an application away: the published description has no empty SID.
        cleared = {"sms_application_sid": ""} if before[2] else {}
        await number.update_async(sms_url=after[0], sms_method=after[1], **cleared)
    return changes


async def _setup_service(api: TwilioApi, account: Account, webhooks: Webhooks) -> Sequence[Change]:
    service = await _service(api, account)
    before = (
        service.inbound_request_url or "",
        service.inbound_method or "",
        service.status_callback or "",
        "number" if service.use_inbound_webhook_on_number else "service",
    )
    after = (webhooks.message_url + RETRIES, "POST", webhooks.status_url, "service")
    changes = changes_of(("InboundRequestUrl", "InboundMethod", "StatusCallback", "webhook of"), before, after)
    if changes:
        await service.update_async(
            inbound_request_url=after[0],
            inbound_method="POST",
            status_callback=after[2],
            use_inbound_webhook_on_number=False,
        )
    return changes


async def _number(api: TwilioApi, account: Account) -> "IncomingPhoneNumberInstance":
    numbers = await api.client.incoming_phone_numbers.list_async(phone_number=account.sender)
    for number in numbers:
        if number.phone_number == account.sender:
            return number
    raise ConfigError("TWILIO_FROM is not a number of this Twilio account.")


async def _service(api: TwilioApi, account: Account) -> "ServiceInstance":
    return await api.client.messaging.v1.services(account.sender).fetch_async()
