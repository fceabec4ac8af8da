"""The arguments of the API: the parameters of each call, and the checks of their shapes."""

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

import phonenumbers
from aiohttp import web

from workbench.simulator.twilio.errors import Refusal

# The names are those of the published description (twilio-oai, twilio_api_v2010); a test compares them.
CREATE_MESSAGE = frozenset(
    [
        "To",
        "StatusCallback",
        "ApplicationSid",
        "MaxPrice",
        "ProvideFeedback",
        "Attempt",
        "ValidityPeriod",
        "ForceDelivery",
        "ContentRetention",
        "AddressRetention",
        "SmartEncoded",
        "PersistentAction",
        "TrafficType",
        "ShortenUrls",
        "ScheduleType",
        "SendAt",
        "SendAsMms",
        "ContentVariables",
        "RiskCheck",
        "From",
        "FallbackFrom",
        "MessagingServiceSid",
        "Body",
        "MediaUrl",
        "ContentSid",
    ]
)
UPDATE_MESSAGE = frozenset({"Body", "Status"})
LIST_MESSAGES = frozenset({"To", "From", "DateSent", "DateSent<", "DateSent>", "PageSize", "Page", "PageToken"})
LIST_MEDIA = frozenset({"DateCreated", "DateCreated<", "DateCreated>", "PageSize", "Page", "PageToken"})
LIST_NUMBERS = frozenset({"Beta", "FriendlyName", "PhoneNumber", "Origin", "PageSize", "Page", "PageToken"})
UPDATE_NUMBER = frozenset(
    [
        "AccountSid",
        "ApiVersion",
        "FriendlyName",
        "SmsApplicationSid",
        "SmsFallbackMethod",
        "SmsFallbackUrl",
        "SmsMethod",
        "SmsUrl",
        "StatusCallback",
        "StatusCallbackMethod",
        "VoiceApplicationSid",
        "VoiceCallerIdLookup",
        "VoiceFallbackMethod",
        "VoiceFallbackUrl",
        "VoiceMethod",
        "VoiceUrl",
        "EmergencyStatus",
        "EmergencyAddressSid",
        "TrunkSid",
        "VoiceReceiveMode",
        "IdentitySid",
        "AddressSid",
        "BundleSid",
    ]
)
_LISTS = frozenset({"MediaUrl", "PersistentAction"})

_ENUMS = {
    "ContentRetention": {"retain", "discard"},
    "AddressRetention": {"retain", "obfuscate"},
    "TrafficType": {"free"},
    "ScheduleType": {"fixed"},
    "RiskCheck": {"enable", "disable"},
}
_BOOLEANS = ("ProvideFeedback", "ForceDelivery", "SmartEncoded", "ShortenUrls", "SendAsMms")


@dataclass(frozen=True, slots=True)
class Form:
    """The parameters of a call, checked against those that the call has."""

    values: dict[str, list[str]]

    def one(self, name: str) -> str:
        return self.values.get(name, [""])[0]

    def all(self, name: str) -> list[str]:
        return self.values.get(name, [])

    def has(self, name: str) -> bool:
        """Return whether it was sent, even empty."""
        return name in self.values


async def read_form(request: web.Request, allowed: frozenset[str]) -> Form:
    """Read a form body strictly; raises Refusal."""
    if request.content_type != "application/x-www-form-urlencoded":
        # Twilio reads forms only; anything else arrives there without parameters.
        return Form({})
    try:
        return checked((await request.read()).decode("utf-8"), allowed)
    except UnicodeDecodeError:
        raise Refusal(20001, "The body is not UTF-8") from None


def checked(encoded: str, allowed: frozenset[str]) -> Form:
    """Check a form or a query.

    Stricter than Twilio, which ignores unknown names: here a misspelt name is an error.
    """
    values: dict[str, list[str]] = {}
    for name, value in parse_qsl(encoded, keep_blank_values=True):
        if name not in allowed:
            raise Refusal(20001, f"Unknown parameter: {name}")
        values.setdefault(name, []).append(value)
    for name, given in values.items():
        if len(given) > 1 and name not in _LISTS:
            raise Refusal(20001, f"Parameter given more than once: {name}")
    return Form(values)


def is_e164(number: str) -> bool:
    """Return whether a number is E.164 with a length that its country has (docs: glossary/what-e164)."""
    if not re.fullmatch(r"\+[1-9][0-9]{6,14}", number):
        return False
    try:
        return phonenumbers.is_possible_number(phonenumbers.parse(number))
    except phonenumbers.NumberParseException:
        return False


def is_url(url: str, ours: str) -> bool:
    """Return whether Twilio can call a URL: absolute, http or https, not this machine unless it is `ours`."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    if parts.scheme not in ("http", "https") or not host or re.search(r"\s", url):
        return False
    # docs: errors/21609; a URL on localhost is the usual cause.
    return host not in ("localhost", "127.0.0.1", "::1") or bool(ours and url.startswith(ours))


def check_hooks(form: Form, ours: str) -> None:
    """Check the webhooks that an update sets: URLs (docs: errors/21402) and methods (errors/21403)."""
    for name in form.values:
        value = form.one(name)
        if (name.endswith("Url") or name == "StatusCallback") and value:
            if not is_url(value, ours):
                raise Refusal(21402, f"{name} is not a valid URL")
        elif name.endswith("Method") and value not in ("GET", "POST"):
            raise Refusal(21403, f"{name} is not a valid HTTP method")


def check_options(form: Form) -> None:
    """Check the optional parameters of a create call (docs: messaging/api/message-resource)."""
    for name, known in _ENUMS.items():
        if form.has(name) and form.one(name) not in known:
            raise Refusal(20001, f"Invalid value for {name}")
    for name in _BOOLEANS:
        if form.has(name) and form.one(name).lower() not in ("true", "false"):
            raise Refusal(20001, f"Invalid value for {name}")
    if form.has("ValidityPeriod") and not (
        form.one("ValidityPeriod").isdecimal() and 1 <= int(form.one("ValidityPeriod")) <= 36_000
    ):
        raise Refusal(21624)
    if form.has("Attempt") and not form.one("Attempt").isdecimal():
        raise Refusal(20001, "Invalid value for Attempt")
    if form.has("MaxPrice") and not re.fullmatch(r"[0-9]+(\.[0-9]+)?", form.one("MaxPrice")):
        raise Refusal(20001, "Invalid value for MaxPrice")
    if form.has("ContentSid"):
        # The emulated account has no content templates, so no such id exists.
        raise Refusal(21655)
    if form.has("SendAt") or form.has("ScheduleType"):
        if not form.has("MessagingServiceSid"):
            raise Refusal(35118)
        raise Refusal(20001, "Scheduling is not emulated")
