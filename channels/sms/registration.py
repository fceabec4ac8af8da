"""A sender's registration for the United States as Twilio reports it, as a check of `doctor`."""

from channels.sms.texts import Account
from core.messaging.channels import Check
from providers.sms.client import TwilioApi
from providers.sms.errors import FAILURES

NAME = "SMS registration"
_TOLL_FREE = tuple(f"+1{code}" for code in (800, 833, 844, 855, 866, 877, 888))
_SERVICES = 50
"""Messaging Services that are searched for a number; with more services, TWILIO_FROM must name the right one."""
_RULE = (
    "texts to the US from a local number are blocked until its A2P 10DLC brand and campaign are approved "
    "(errors 30034, 30035), from a toll-free number until it is verified (30032)"
)
_REGISTER = "to text the US from local numbers, register brand and campaign: Messaging, Regulatory Compliance"
_VERIFY = "to text the US from it, ask for its verification: Phone Numbers, the number, Regulatory Information"


async def check_registration(api: TwilioApi, account: Account) -> Check:
    """Check the state of the registration; never raises.

    Only a refused registration is a fault: without recipients in the US, none is needed.
    """
    try:
        if account.is_service:
            return await _check_campaign(api, account.sender, "the service")
        if account.sender.startswith(_TOLL_FREE):
            return await _check_verification(api, account.sender)
        if account.sender.startswith("+1"):
            return await _check_local_number(api, account.sender)
    except FAILURES as error:
        return Check(NAME, ok=True, detail=f"not told ({type(error).__name__}); {_RULE}")
    return Check(NAME, ok=True, detail="the number is in no country of +1, where texts need one")


async def _check_local_number(api: TwilioApi, number: str) -> Check:
    """Check the campaign of the service that the number is in: a number has none by itself."""
    for service in await api.client.messaging.v1.services.list_async(limit=_SERVICES):
        members = await api.client.messaging.v1.services(service.sid).phone_numbers.list_async()
        if any(member.phone_number == number for member in members):
            return await _check_campaign(api, str(service.sid), f"the number's service {service.sid}")
    detail = "the number is in no Messaging Service, so it has no A2P 10DLC campaign"
    return Check(NAME, ok=True, detail=detail, fix=_REGISTER)


async def _check_campaign(api: TwilioApi, service: str, named: str) -> Check:
    campaigns = await api.client.messaging.v1.services(service).us_app_to_person.list_async(limit=1)
    status = str(campaigns[0].campaign_status) if campaigns else ""
    match status:
        case "":
            return Check(NAME, ok=True, detail=f"{named} has no A2P 10DLC campaign", fix=_REGISTER)
        case "VERIFIED":
            return Check(NAME, ok=True, detail=f"{named} has an A2P 10DLC campaign")
        case "FAILED" | "SUSPENDED":
            fix = "see why and mend it: Messaging, Regulatory Compliance, Campaigns"
            detail = f"the A2P 10DLC campaign of {named} is {status.lower()}: texts to the US are blocked"
            return Check(NAME, ok=False, detail=detail, fix=fix)
    detail = f"the A2P 10DLC campaign of {named} is not approved yet ({status.lower()}): texts to the US are blocked"
    return Check(NAME, ok=True, detail=detail)


async def _check_verification(api: TwilioApi, number: str) -> Check:
    numbers = await api.client.incoming_phone_numbers.list_async(phone_number=number, limit=1)
    asked = await api.client.messaging.v1.tollfree_verifications.list_async(
        tollfree_phone_number_sid=str(numbers[0].sid) if numbers else number, limit=1
    )
    status = str(asked[0].status) if asked else ""
    match status:
        case "":
            return Check(NAME, ok=True, detail="the toll-free number is not verified", fix=_VERIFY)
        case "TWILIO_APPROVED":
            return Check(NAME, ok=True, detail="the toll-free number is verified")
        case "TWILIO_REJECTED":
            fix = "see why and ask again: Phone Numbers, the number, Regulatory Information"
            return Check(NAME, ok=False, detail="the toll-free number's verification was refused", fix=fix)
    detail = f"the toll-free number is not verified yet ({status.lower()}): texts to the US are blocked"
    return Check(NAME, ok=True, detail=detail)
