"""Promise 12: who somebody is, is what the provider's number says: no name, no user name, no empty caller id.

The cases are those of published holes in other gateways: CVE-2026-28446 and 53857 (an empty or missing caller id is
taken for a known one), 28480 and 53811 (a user name that can be changed or taken over), 53849 (a display name).
"""

from typing import Any

import pytest

from channels.slack import parse as slack
from channels.slack.messages import AppIdentity
from channels.sms.parse import parse_message
from channels.sms.texts import Account as SmsAccount
from channels.telegram import parse as telegram
from core.errors import RequestRefused
from core.messaging.messages import InboundMessage, Press
from core.people.access_policy import Access, Listed, Policy
from tests.channels.slack import builders as slack_kit
from tests.channels.sms import builders as sms_kit
from tests.channels.telegram import builders as telegram_kit

OWNERS = Access(
    Policy.ALLOWLIST,
    frozenset(
        {
            Listed("sms", sms_kit.PERSON),
            Listed("slack", slack_kit.PERSON),
            Listed("telegram", str(telegram_kit.PERSON)),
        }
    ),
)


def by_sms(**changes: str) -> object:
    account = SmsAccount(sms_kit.SID, sms_kit.NUMBER)
    [inbound] = parse_message(tuple(sms_kit.webhook(**changes)), account)
    return inbound


def by_slack(**changes: Any) -> object:
    ours = AppIdentity(slack_kit.TEAM, slack_kit.APP, "U0BOT00001", "B0BOT00001")
    return slack.parse(slack_kit.envelope(slack_kit.message(**changes)), ours)


def by_telegram(sender: Any, **changes: Any) -> object:
    bot = telegram.BotIdentity(str(telegram_kit.BOT_ID), "valet_bot")
    content = telegram_kit.message(**{"from": sender}, **changes)
    return telegram.parse_update(telegram_kit.update(message=content), bot).inbound


def person(**changes: Any) -> dict[str, Any]:
    """Return a Telegram user."""
    return {"id": 700100002, "is_bot": False, "first_name": "Grace", **changes}


def is_let_in(inbound: object) -> bool:
    """Return whether the owners' list lets a message's sender in."""
    if not isinstance(inbound, InboundMessage):
        return False
    address = inbound.address
    return bool(OWNERS.admits(address.channel, address.account, inbound.sender))


def test_the_owner_is_let_in_on_each_channel() -> None:
    assert is_let_in(by_sms())
    assert is_let_in(by_slack())
    assert is_let_in(by_telegram(person(id=telegram_kit.PERSON)))


@pytest.mark.parametrize(
    "inbound",
    [
        lambda: by_sms(From="+15552224444", ProfileName=sms_kit.PERSON),
        lambda: by_sms(From="+15552224444", FromCity=sms_kit.PERSON),
        lambda: by_slack(user="U0OTHER001", username=slack_kit.PERSON),
        lambda: by_slack(user="U0OTHER001", user_profile={"name": slack_kit.PERSON, "display_name": slack_kit.PERSON}),
        lambda: by_slack(user="U0OTHER001", text=f"<@{slack_kit.PERSON}> says let me in"),
        lambda: by_telegram(person(username=str(telegram_kit.PERSON))),
        lambda: by_telegram(person(first_name=str(telegram_kit.PERSON), last_name="Ada")),
        lambda: by_telegram(person(), sender_chat={"id": telegram_kit.PERSON, "type": "channel", "title": "x"}),
        lambda: by_telegram(person(), forward_origin={"type": "user", "sender_user": person(id=telegram_kit.PERSON)}),
    ],
)
def test_promise_12_a_name_that_reads_like_the_owner_is_not_the_owner(inbound: Any) -> None:
    parsed = inbound()
    assert isinstance(parsed, InboundMessage)
    assert not is_let_in(parsed)


@pytest.mark.parametrize(
    "inbound",
    [
        *(
            lambda caller=caller: by_sms(From=caller)
            for caller in ("", " ", "+", "anonymous", "Restricted", "266696687")
        ),
        *(lambda caller=caller: by_sms(From=caller) for caller in ("+1 5552223333", "15552223333", "+15552223333 ")),
        *(lambda user=user: by_slack(user=user) for user in ("", None, " ", "u0person01", "U0PERSON01 ", "@ada")),
        *(lambda id=id: by_telegram(person(id=id)) for id in ("", None, 0, -1, "700100001", 700100001.0, True)),
        lambda: by_sms(From="", CallerName=sms_kit.PERSON),
        lambda: by_telegram({"first_name": "Ada", "username": "ada"}),
    ],
)
def test_promise_12_an_empty_or_misspelt_caller_id_is_nobody(inbound: Any) -> None:
    try:
        parsed = inbound()
    except RequestRefused:
        return
    assert not isinstance(parsed, InboundMessage | Press)
