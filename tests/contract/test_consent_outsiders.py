"""What systems like this one had CVEs for, from outside: other accounts, and requests that say more than they may.

Each case ends with the same act by the right person, done the right way, which decides: so what was refused was
refused for what it was.
"""

import time
from collections.abc import AsyncIterator

import pytest

from core.json_types import Json, JsonObject
from tests.approvals.signed_posts import Post, SignedPosts
from tests.contract.approving import MAIL, Approving, open_asked
from tests.contract.canaries import OTHER_SECRET, PEOPLE, SERVICE, TWILIO
from tests.contract.channel_harnesses import HARNESSES
from tests.contract.harness import PUBLIC_URL, WORLD, exempt
from tests.core.builders import says

ADA, GRACE, _ = PEOPLE[:3]
OTHER_NUMBER, OTHER_BOT, OTHER_TEAM = "+14155557710", 7_000_000_002, "T0OTHER001"
REFUSED = range(400, 500)

type Attempt = tuple[str, Post, "range | int"]
"""What is tried, the request, and the status or statuses that it must get."""


@pytest.fixture
async def system(channel: str, database_url: str) -> AsyncIterator[Approving]:
    """Yield a system in which Ada was asked to approve a mail, and Grace is somebody else."""
    async with open_asked(HARNESSES[channel], database_url) as system:
        yield system


async def test_cve_28469_what_comes_by_another_account_decides_nothing(system: Approving, posts: SignedPosts) -> None:
    tries = {"sms": other_numbers, "slack": other_workspaces, "telegram": other_bots}[system.delivery.channel.name]
    await all_fail(system, posts, tries(posts, await system.code(), await token(system)))


async def test_cve_32898_text_around_an_action_decides_nothing(system: Approving, posts: SignedPosts) -> None:
    tries = {"sms": more_fields, "slack": more_in_a_payload, "telegram": more_in_an_update}[
        system.delivery.channel.name
    ]
    await all_fail(system, posts, tries(posts, await system.code(), await token(system)))


async def all_fail(system: Approving, posts: SignedPosts, tries: list[Attempt]) -> None:
    """Try each, look that nothing came of it, and then let the person approve."""
    stands = system.card()
    for name, post, status in tries:
        system.model.script = [says("I see.")] * 3
        got = await posts.send(post, 0)
        assert got in (status if isinstance(status, range) else [status]), name
        await system.work()
        assert (await system.states(), system.sent) == (["pending"], []), name
        assert stands in system.delivery.channel.bubbles(), f"{name}: the card stands as it was shown"
        assert not any("Approved" in bubble.text for bubble in system.delivery.channel.bubbles()), name
    made = await system.delivery.store.column("select what from approval_audit where what not in ('requested', 'sent')")
    assert set(made) <= {"refused"}
    system.model.script = [says("Sent.")]
    assert await posts.send(rightly(system, posts, await system.code(), await token(system)), 0) == 200
    await system.work()
    assert (await system.states(), system.sent) == (["approved"], [MAIL])


def rightly(system: Approving, posts: SignedPosts, code: str, token: str) -> Post:
    """Make the very same act by the person who was asked, on the account where they were."""
    if system.delivery.channel.name == "sms":
        return posts.text(ADA, f"OK {code}")
    return (posts.tap if system.delivery.channel.name == "telegram" else posts.press)(ADA, f"approve.{token}")


def other_numbers(posts: SignedPosts, code: str, _token: str) -> list[Attempt]:
    """Another number or service of ours, another account's request, and a number that is not quite the person's."""
    yes = posts.text(ADA, f"OK {code}")
    theirs = SignedPosts(WORLD, posts.webs, posts.http, posts.channels, public_url="https://another.example")
    senders = (f"whatsapp:{ADA.phone}", f"rcs:{ADA.phone}", f" {ADA.phone}", f"{ADA.phone}#1", f"{ADA.phone},x", "Ada")
    return [
        ("another number of ours", posts.with_fields(yes, ("To", OTHER_NUMBER)), 200),
        ("a service of ours", posts.with_fields(yes, ("To", SERVICE), ("MessagingServiceSid", SERVICE)), 200),
        ("another account", posts.with_fields(yes, ("AccountSid", f"AC{'f' * 32}")), REFUSED),
        ("a part of our account", posts.with_fields(yes, ("AccountSid", f"{TWILIO.account_sid}0")), REFUSED),
        ("signed for another gateway", theirs.text(ADA, f"OK {code}"), REFUSED),
        *[(f"from {sender}", posts.with_fields(yes, ("From", sender)), range(200, 500)) for sender in senders],
    ]


def other_workspaces(posts: SignedPosts, code: str, token: str) -> list[Attempt]:
    """Another team, another app, a whole organisation; the same user id everywhere."""
    data = f"approve.{token}"
    submitted = posts.submit(ADA, f"edit.{token}", {"to": "eve@example.com"})
    theirs: JsonObject = {"id": OTHER_TEAM, "domain": "other"}
    enterprise: JsonObject = {"team": None, "is_enterprise_install": True, "user": {"team_id": OTHER_TEAM}}
    elsewhere: JsonObject = {"container": {"channel_id": "C0TEAMROOM"}, "channel": {"id": "C0TEAMROOM"}}
    app, yes = "A0OTHER001", f"OK {code}"
    return [
        ("another team", posts.press(ADA, data, team=OTHER_TEAM), 200),
        ("another team's form", posts.with_values(submitted, {"team": theirs, "user": {"team_id": OTHER_TEAM}}), 200),
        ("a whole organisation", posts.with_values(posts.press(ADA, data), enterprise), 200),
        ("another app", posts.with_values(posts.press(ADA, data), {"api_app_id": app}), 200),
        ("another team's words", posts.with_values(posts.post(ADA, yes), {"team_id": OTHER_TEAM}), 200),
        ("another app's words", posts.with_values(posts.post(ADA, yes), {"api_app_id": app}), 200),
        ("a shared channel", posts.with_values(posts.press(ADA, data), elsewhere), 200),
    ]


def other_bots(posts: SignedPosts, code: str, token: str) -> list[Attempt]:
    """Another bot's secret, another bot's message, and other chats, all with the same numeric user id."""
    data = f"approve.{token}"
    theirs = SignedPosts(WORLD, posts.webs, posts.http, posts.channels, OTHER_SECRET, PUBLIC_URL)
    bot: JsonObject = {"id": OTHER_BOT, "is_bot": True, "first_name": "Valet"}
    group: JsonObject = {"id": -100_123, "type": "supergroup", "title": "Friends"}
    direct: JsonObject = {"id": GRACE.telegram_user, "type": "private", "first_name": "Grace"}
    inline: JsonObject = {"callback_query": {"message": None, "inline_message_id": "1"}}
    return [
        ("another bot's secret", theirs.tap(ADA, data), REFUSED),
        ("another bot's words", theirs.write(ADA, f"OK {code}"), REFUSED),
        ("another bot's message", tapped(posts, data, message={"from": bot}), 200),
        ("a group", tapped(posts, data, message={"chat": group}), 200),
        ("another person's chat", tapped(posts, data, message={"chat": direct}), 200),
        ("an inline message", posts.with_values(posts.tap(ADA, data), inline), 200),
        ("words in a group", written(posts, f"OK {code}", chat=group), 200),
    ]


def more_fields(posts: SignedPosts, code: str, token: str) -> list[Attempt]:
    """What a text may carry beside its words, and what Twilio's names do not have."""
    hello, yes = posts.text(ADA, "hello"), posts.text(GRACE, f"OK {code}")
    pressed = (("ButtonPayload", f"approve.{token}"), ("ButtonText", f"OK {code}"))
    claims = (("Approved", "true"), ("Approver", ADA.phone), ("ApprovalId", code), ("Author", ADA.phone))
    posing = (("ProfileName", ADA.name), ("WaId", ADA.phone.lstrip("+")), ("ProfilePhone", ADA.phone))
    return [
        ("labels", posts.with_fields(hello, *claims), 200),
        ("a button's payload", posts.with_fields(hello, *pressed), 200),
        ("metadata", posts.with_fields(hello, ("ChannelMetadata", f'{{"approve": "{code}"}}')), 200),
        ("somebody else who poses", posts.with_fields(yes, *posing, *claims), 200),
        ("two bodies", posts.with_fields(hello, ("Body", "hello"), ("Body", f"OK {code}")), REFUSED),
        ("a second body by case", posts.with_fields(hello, ("body", f"OK {code}")), REFUSED),
        ("two senders", posts.with_fields(yes, ("From", GRACE.phone), ("From", ADA.phone)), REFUSED),
        ("a name that is none", posts.with_fields(yes, ("from[]", ADA.phone)), REFUSED),
        ("a name beside the body", posts.with_fields(hello, ("Decision", "approve")), REFUSED),
    ]


def more_in_a_payload(posts: SignedPosts, code: str, token: str) -> list[Attempt]:
    """Labels, metadata and a second action in Slack's payloads, and another who says to be the approver."""
    data = f"approve.{token}"
    event: JsonObject = {"event_type": "approval", "event_payload": {"decision": "approve", "token": data}}
    claims: JsonObject = {
        "approved": True,
        "approver": {"id": ADA.slack_user},
        "metadata": event,
        "private_metadata": data,
        "message": {"metadata": event, "user": ADA.slack_user},
        "authorizations": [{"user_id": ADA.slack_user}],
    }
    posing: JsonObject = {"user": {"username": "ada", "name": ADA.name, "real_id": ADA.slack_user}}
    button: JsonObject = {"type": "button", "block_id": "b", "action_ts": f"{time.time():.6f}", "value": data}
    second: list[Json] = [
        {**button, "action_id": "choice_3", "value": f"details.{token}"},
        {**button, "action_id": "choice_0"},
    ]
    blocks: list[Json] = [{"type": "section", "text": {"type": "plain_text", "text": f"OK {code}"}}]
    written: JsonObject = {"event": {"metadata": event, "blocks": blocks, "approved_tools": ["send_mail"]}}
    edited: JsonObject = {"event": {"subtype": "message_changed", "message": {"text": f"OK {code}", "user": "U0X"}}}

    at = f"{time.time():.6f}"
    by_ada: JsonObject = {
        "user": ADA.slack_user,
        "text": f"OK {code}",
        "ts": at,
        "edited": {"user": ADA.slack_user, "ts": at},
    }
    to_a_yes: JsonObject = {"event": {"subtype": "message_changed", "message": by_ada}}

    def form(values: JsonObject) -> Post:
        return posts.with_values(posts.submit(GRACE, f"edit.{token}", {"to": "eve@example.com"}), values)

    return [
        ("somebody else who poses", posts.with_values(posts.press(GRACE, data), {**claims, **posing}), 200),
        ("their form", form({**claims, **posing}), 200),
        ("a second action", posts.with_values(posts.press(ADA, data), {"actions": second}), 200),
        ("a press that says so beside", posts.with_values(posts.press(ADA, f"details.{token}"), claims), 200),
        ("a message's metadata", posts.with_values(posts.post(ADA, "hello"), written), 200),
        ("an edit of a message", posts.with_values(posts.post(ADA, "hello"), edited), 200),
        ("her own edit of a message", posts.with_values(posts.post(ADA, "hello"), to_a_yes), 200),
        ("a form that is not ours", form({"user": {"id": ADA.slack_user}, "view": {"callback_id": "other"}}), 200),
    ]


def more_in_an_update(posts: SignedPosts, code: str, token: str) -> list[Attempt]:
    """Labels and other kinds of words in Telegram's updates, and another who says to be the approver."""
    data = f"approve.{token}"
    ada: JsonObject = {"id": ADA.telegram_user, "is_bot": False, "first_name": "Ada"}
    claims: JsonObject = {"approved": True, "approver": ada, "user_id": ADA.telegram_user, "sender_user": ada}
    posing: JsonObject = {"callback_query": {**claims, "from": {"username": ADA.telegram_username}}, **claims}
    keyboard: JsonObject = {"inline_keyboard": [[{"text": "Approve", "callback_data": data}]]}
    beside: JsonObject = {
        "approved_tools": ["send_mail"],
        "reply_markup": keyboard,
        "caption": f"OK {code}",
        "quote": {"text": f"OK {code}", "position": 0},
        "web_app_data": {"data": data, "button_text": "Approve"},
        "sender_chat": {"id": ADA.telegram_user, "type": "private"},
    }
    theirs = posts.with_values(posts.write(GRACE, f"OK {code}"), {"message": claims})
    both: JsonObject = {"callback_query": {"id": "1", "from": ada, "data": data}}
    return [
        ("somebody else who poses", posts.with_values(posts.tap(GRACE, data), posing), 200),
        ("labels and data beside words", written(posts, "hello", **beside), 200),
        ("somebody else's words", theirs, 200),
        ("an edited message", as_edited(posts, f"OK {code}"), 200),
        ("two kinds in one update", posts.with_values(posts.write(ADA, "hello"), both), REFUSED),
        ("a press that says so beside", posts.with_values(posts.tap(ADA, f"details.{token}"), claims), 200),
    ]


async def token(system: Approving) -> str:
    """Return what the card's buttons carry; a person who looks at them knows it."""
    return str(await system.delivery.store.db.approvals.one("token"))


def tapped(posts: SignedPosts, data: str, **values: Json) -> Post:
    """Let Ada tap, with other values in the press."""
    return posts.with_values(posts.tap(ADA, data), {"callback_query": values})


def written(posts: SignedPosts, words: str, **values: Json) -> Post:
    """Let Ada write, with other values in the message."""
    return posts.with_values(posts.write(ADA, words), {"message": values})


def as_edited(posts: SignedPosts, words: str) -> Post:
    """Let Ada edit what she wrote before."""
    post = posts.with_values(posts.write(ADA, words), {"message": {"edit_date": int(time.time())}})
    return Post(post.path, post.body.replace(b'"message":', b'"edited_message":', 1), post.headers)


@exempt(sms="texts come from one person each", slack="nothing is said in a channel unless somebody mentions the app")
async def test_promise_8_a_group_that_blocks_us_does_not_block_direct_chats(
    system: Approving, posts: SignedPosts
) -> None:
    group: JsonObject = {"id": -100_124, "type": "supergroup", "title": "Nobody may write here"}
    assert await posts.send(written(posts, "hello all", chat=group), 0) == 200
    await system.work()
    refused = await system.delivery.store.db.outbound.one("reason", state="failed")
    assert str(refused).startswith("Unreachable")
    states = await system.delivery.store.db.identities.column("state")
    assert states == ["active", "active"]
    system.model.script = [says("Sent.")]
    await system.decide("Approve")
    assert system.sent == [MAIL]
