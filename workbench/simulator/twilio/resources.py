"""The resources as JSON, field for field as the published description has them (twilio-oai, 2010-04-01)."""

from datetime import UTC, datetime
from email.utils import format_datetime

from workbench.simulator.journal import Json
from workbench.simulator.twilio.state import Media, Message, PhoneNumber

API = "/2010-04-01"


def rfc2822(moment: float | None) -> str | None:
    """Return a moment as the 2010 API writes it."""
    return None if moment is None else format_datetime(datetime.fromtimestamp(int(moment), UTC))


def message_json(account: str, message: Message) -> dict[str, Json]:
    uri = f"{API}/Accounts/{account}/Messages/{message.sid}"
    # Sent through a Messaging Service: no sender yet, and no segments counted.
    waiting = message.status == "accepted"
    return {
        "account_sid": account,
        "api_version": "2010-04-01",
        "body": message.body,
        "date_created": rfc2822(message.created),
        "date_sent": rfc2822(message.sent),
        "date_updated": rfc2822(message.updated),
        "direction": message.direction,
        "error_code": message.error_code,
        "error_message": message.error_message,
        "from": None if waiting else message.sender,
        "messaging_service_sid": message.service_sid,
        "num_media": str(len(message.media)),
        "num_segments": "0" if waiting else str(message.segments.count),
        "price": message.price,
        "price_unit": "USD",
        "sid": message.sid,
        "status": message.status,
        "subresource_uris": {"media": f"{uri}/Media.json", "feedback": f"{uri}/Feedback.json"},
        "to": message.to,
        "uri": f"{uri}.json",
    }


def media_json(account: str, message: Message, media: Media) -> dict[str, Json]:
    return {
        "account_sid": account,
        "content_type": media.content_type,
        "date_created": rfc2822(message.created),
        "date_updated": rfc2822(message.updated),
        "parent_sid": message.sid,
        "sid": media.sid,
        "uri": f"{API}/Accounts/{account}/Messages/{message.sid}/Media/{media.sid}.json",
    }


def number_json(account: str, number: PhoneNumber) -> dict[str, Json]:
    settings = number.settings

    def given(name: str) -> str | None:
        return settings.get(name) or None

    return {
        "account_sid": account,
        "address_requirements": "none",
        "address_sid": None,
        "api_version": "2010-04-01",
        "beta": False,
        "bundle_sid": None,
        "capabilities": {"voice": True, "sms": True, "mms": True, "fax": False},
        "date_created": rfc2822(number.created),
        "date_updated": rfc2822(number.updated),
        "emergency_address_sid": None,
        "emergency_address_status": "unregistered",
        "emergency_status": "Inactive",
        "friendly_name": settings["FriendlyName"],
        "identity_sid": None,
        "origin": "twilio",
        "phone_number": number.number,
        "sid": number.sid,
        "sms_application_sid": given("SmsApplicationSid"),
        "sms_fallback_method": settings["SmsFallbackMethod"],
        "sms_fallback_url": settings.get("SmsFallbackUrl", ""),
        "sms_method": settings["SmsMethod"],
        "sms_url": settings.get("SmsUrl", ""),
        "status": "in-use",
        "status_callback": settings.get("StatusCallback", ""),
        "status_callback_method": settings.get("StatusCallbackMethod", "POST"),
        "trunk_sid": None,
        "type": "local",
        "uri": f"{API}/Accounts/{account}/IncomingPhoneNumbers/{number.sid}.json",
        "voice_application_sid": None,
        "voice_caller_id_lookup": False,
        "voice_fallback_method": settings.get("VoiceFallbackMethod", "POST"),
        "voice_fallback_url": settings.get("VoiceFallbackUrl", ""),
        "voice_method": settings.get("VoiceMethod", "POST"),
        "voice_receive_mode": "voice",
        "voice_url": settings.get("VoiceUrl", ""),
    }
