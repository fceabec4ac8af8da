"""SMS: the account at Twilio proved, a number of it chosen, its webhook set and, by a text, reached."""

import asyncio
from collections.abc import Callable
from urllib.parse import parse_qsl

from channels.sms.setup import Webhooks, setup_sender
from channels.sms.texts import Account
from channels.sms.verify import is_signed
from core.errors import ConfigError
from onevalet.channel_settings import check_tokens
from onevalet.init.dialogue import Dialogue, Option, Wrong
from onevalet.init.doorway import Doorway, Seen
from onevalet.init.draft import Draft
from providers.sms.client import TwilioApi
from providers.sms.errors import FAILURES, describe
from providers.sms.wire import MESSAGE_PATH, STATUS_PATH

NAMES = ("TWILIO_ACCOUNT_SID", "TWILIO_AUTH_TOKEN", "TWILIO_FROM")
_STEPS = """\
  1. Open https://console.twilio.com. Under Account Info are the Account SID and the Auth Token.
  2. Phone Numbers, Buy a number: one with SMS, in the country of the people who will text it.
  3. For texts to the US: Messaging, Regulatory Compliance, register a brand and a campaign (A2P 10DLC), or verify a
     toll-free number. Until that is approved, carriers block what is sent there; what comes in works at once."""


def set_up_sms(talk: Dialogue, draft: Draft, doorway: Doorway, ask_address: Callable[[], str]) -> None:
    """Ask until Twilio knows account and number, set the webhook, then save."""
    talk.say(_STEPS)
    api_url = draft.settings({}).twilio_api_url
    sid = talk.ask_until(
        "TWILIO_ACCOUNT_SID", "Account SID", lambda answer: _shaped(draft, answer), default=draft.value(NAMES[0])
    )[1]
    token, numbers = talk.ask_until(
        "TWILIO_AUTH_TOKEN",
        "Auth Token",
        lambda answer: _prove_account(sid, answer, api_url),
        default=draft.value("TWILIO_AUTH_TOKEN"),
        secret=True,
    )
    talk.say(f"  Twilio knows the account; its numbers: {', '.join(numbers) or 'none yet'}.")
    sender = _choose_sender(talk, draft, numbers)
    url = ask_address()
    try:
        changes = asyncio.run(_set_up(sid, token, sender, url, api_url))
    except ConfigError as error:
        raise Wrong(str(error)) from error
    talk.say(f"  Set at Twilio: {', '.join(changes) or 'nothing, all was set'}.")
    draft.save(dict(zip(NAMES, (sid, token, sender), strict=True)) | {"PUBLIC_URL": url})
    _hear(talk, doorway, token, url, sender)


def _choose_sender(talk: Dialogue, draft: Draft, numbers: list[str]) -> str:
    known = draft.value("TWILIO_FROM")
    if talk.interactive and numbers and not talk.is_given("TWILIO_FROM"):
        options = [*(Option(number, number) for number in numbers), Option("other", "A Messaging Service (MG…)")]
        picked = talk.choose("from", "Which number?", options, known if known in numbers else numbers[0])
        if picked != "other":
            return picked

    def shaped(answer: str) -> str:
        is_service = answer.startswith("MG") and len(answer) == 34
        if not is_service and answer not in numbers:
            raise Wrong(f"{answer} is neither a number of this account nor a Messaging Service (MG and 32 digits).")
        return answer

    return talk.ask_until("TWILIO_FROM", "Number, or SID of a Messaging Service", shaped, default=known)[1]


def _shaped(draft: Draft, sid: str) -> str:
    try:
        check_tokens(draft.settings({"TWILIO_ACCOUNT_SID": sid}))
    except ConfigError as error:
        raise Wrong(str(error)) from error
    return sid


def _prove_account(sid: str, token: str, api_url: str) -> list[str]:
    """Return the account's numbers; raise `Wrong` if Twilio refuses the login."""
    try:
        return asyncio.run(_look_at(sid, token, api_url))
    except FAILURES as error:
        raise Wrong(
            f"Twilio does not let us in ({describe(error)}): is it the primary Auth Token of this Account SID?"
        ) from error


async def _look_at(sid: str, token: str, api_url: str) -> list[str]:
    api = TwilioApi(account_sid=sid, auth_token=token, api_url=api_url)
    try:
        account = await api.client.api.accounts(sid).fetch_async()
        if account.status != "active":
            raise Wrong(f"The account is {account.status}: see https://console.twilio.com.")
        return [str(number.phone_number) for number in await api.client.incoming_phone_numbers.list_async(limit=20)]
    finally:
        await api.close()


async def _set_up(sid: str, token: str, sender: str, url: str, api_url: str) -> list[str]:
    api = TwilioApi(account_sid=sid, auth_token=token, api_url=api_url)
    try:
        changes = await setup_sender(api, Account(sid, sender), Webhooks(url + MESSAGE_PATH, url + STATUS_PATH))
        return [change.what for change in changes]
    finally:
        await api.close()


def _hear(talk: Dialogue, doorway: Doorway, token: str, url: str, sender: str) -> None:
    """Wait for a call from Twilio, caused by a text of the person."""
    if not talk.interactive or not doorway.is_open:
        return

    def is_twilios(request: Seen) -> bool:
        pairs = parse_qsl(request.body.decode(errors="replace"), keep_blank_values=True)
        return is_signed(token, url + MESSAGE_PATH, pairs, request.headers.get("x-twilio-signature"))

    where = "it" if sender.startswith("MG") else sender
    while True:
        talk.pause(f"  Text anything to {where} now, then press Enter here … ")
        if doorway.wait_for(MESSAGE_PATH, is_twilios):
            talk.say("  Twilio reached this machine, and its signature is right.")
            return
        if doorway.came_to(MESSAGE_PATH):
            talk.say("  Something called, but not signed by this account: are Auth Token and PUBLIC_URL right?")
        if not talk.confirm("  No text has come in. Try again?", default=False):
            return
