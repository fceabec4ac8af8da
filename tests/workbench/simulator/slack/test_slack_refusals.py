"""Wrong calls, each refused in Slack's own words."""

from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.workbench.simulator.slack.conftest import ADA_DM, Team, buttons, modal, section

PLAIN = {"type": "plain_text", "text": "x"}


def _button(**changes: Any) -> dict[str, Any]:
    return {"type": "actions", "elements": [{"type": "button", "action_id": "a", "text": PLAIN, **changes}]}


def _menu(initial: dict[str, Any]) -> dict[str, Any]:
    menu = {"type": "static_select", "action_id": "a", "options": [{"text": PLAIN, "value": "a"}]}
    return {"type": "actions", "elements": [{**menu, "initial_option": initial}]}


def _blocks(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"channel": ADA_DM, "text": "x", "blocks": list(blocks)}


WRONG: list[tuple[str, str, dict[str, Any]]] = [
    ("no_text", "chat.postMessage", {"channel": ADA_DM}),
    ("no_text", "chat.postMessage", {"channel": ADA_DM, "text": "  \n"}),
    ("channel_not_found", "chat.postMessage", {"channel": "D0NOBODY", "text": "x"}),
    ("invalid_arguments", "chat.postMessage", {"text": "x"}),
    ("thread_not_found", "chat.postMessage", {"channel": ADA_DM, "text": "x", "thread_ts": "1.000001"}),
    ("msg_too_long", "chat.postMessage", {"channel": ADA_DM, "markdown_text": "x" * 12_001}),
    ("markdown_text_conflict", "chat.postMessage", {"channel": ADA_DM, "text": "x", "markdown_text": "x"}),
    ("invalid_metadata_format", "chat.postMessage", {"channel": ADA_DM, "text": "x", "metadata": {"a": 1}}),
    ("invalid_blocks_format", "chat.postMessage", {"channel": ADA_DM, "text": "x", "blocks": "[{"}),
    ("invalid_blocks", "chat.postMessage", _blocks(*[section()] * 51)),
    ("invalid_blocks", "chat.postMessage", _blocks(section("x" * 3_001))),
    ("invalid_blocks", "chat.postMessage", _blocks(section(""))),
    ("invalid_blocks", "chat.postMessage", _blocks({"type": "section"})),
    ("invalid_blocks", "chat.postMessage", _blocks({"type": "sektion"})),
    ("invalid_blocks", "chat.postMessage", _blocks({"type": "markdown", "text": "x" * 12_001})),
    ("invalid_blocks", "chat.postMessage", _blocks({"type": "header", "text": {**PLAIN, "type": "mrkdwn"}})),
    ("invalid_blocks", "chat.postMessage", _blocks(_button(text={**PLAIN, "text": "x" * 76}))),
    ("invalid_blocks", "chat.postMessage", _blocks(_menu({"text": PLAIN, "value": "b"}))),
    ("invalid_blocks", "chat.postMessage", _blocks(_button(value="x" * 2_001))),
    ("invalid_blocks", "chat.postMessage", _blocks(_button(action_id="x" * 256))),
    ("invalid_blocks", "chat.postMessage", _blocks(_button(style="green"))),
    ("invalid_blocks", "chat.postMessage", _blocks({"type": "divider"})),
    ("invalid_blocks", "chat.postMessage", _blocks({"type": "actions", "elements": [{"type": "datepicker"}]})),
    ("invalid_blocks", "chat.postMessage", _blocks(buttons("same", "same"))),
    ("invalid_blocks", "chat.postMessage", _blocks(buttons("a"), buttons("b"))),
    ("invalid_blocks", "chat.postMessage", _blocks(buttons(*[f"a{n}" for n in range(26)]))),
    ("invalid_blocks", "chat.postMessage", _blocks({**section(), "surprise": 1})),
    ("msg_blocks_too_long", "chat.postMessage", _blocks(*[section("x" * 2_900)] * 5)),
    ("message_not_found", "chat.update", {"channel": ADA_DM, "ts": "1.000001", "text": "x"}),
    ("message_not_found", "chat.delete", {"channel": ADA_DM, "ts": "1.000001"}),
    ("user_not_in_channel", "chat.postEphemeral", {"channel": ADA_DM, "user": "U0GRACE002", "text": "x"}),
    ("invalid_arguments", "chat.startStream", {"channel": ADA_DM, "markdown_text": "x"}),
    ("missing_recipient_team_id", "chat.startStream", {"channel": "C0GENERAL1", "markdown_text": "x"}),
    ("message_not_found", "chat.appendStream", {"channel": ADA_DM, "ts": "1.1", "markdown_text": "x"}),
    (
        "invalid_thread_ts",
        "assistant.threads.setStatus",
        {"channel_id": ADA_DM, "thread_ts": "1.1", "status": "s"},
    ),
    ("invalid_trigger_id", "views.open", {"trigger_id": "1.2.beef", "view": modal()}),
    ("not_found", "views.update", {"view_id": "V0NOBODY", "view": modal()}),
    (
        "user_not_found",
        "views.publish",
        {"user_id": "U0NOBODY", "view": {"type": "home", "blocks": []}},
    ),
    (
        "invalid_arguments",
        "views.publish",
        {"user_id": "U0ADA00001", "view": {"type": "home", "blocks": [section()] * 101}},
    ),
    ("unknown_method", "chat.postLetter", {"channel": ADA_DM}),
    ("not_allowed_token_type", "apps.connections.open", {}),
    ("bad_timestamp", "reactions.add", {"channel": ADA_DM, "name": "admins", "timestamp": "now"}),
    ("bad_timestamp", "reactions.remove", {"channel": ADA_DM, "name": "eyes", "timestamp": "now"}),
    ("no_item_specified", "reactions.remove", {"name": "eyes"}),
    ("message_not_found", "reactions.remove", {"channel": ADA_DM, "name": "eyes", "timestamp": "1.000001"}),
]

WRONG_FORMS: list[tuple[str, str, dict[str, Any]]] = [
    ("user_not_found", "users.info", {"user": "U0NOBODY"}),
    ("users_list_not_supplied", "conversations.open", {"return_im": "1"}),
    ("user_not_found", "conversations.open", {"users": "U0NOBODY"}),
    ("invalid_ts_oldest", "conversations.history", {"channel": ADA_DM, "oldest": "yesterday"}),
    ("invalid_ts_latest", "conversations.history", {"channel": ADA_DM, "latest": "tomorrow"}),
    ("invalid_cursor", "conversations.history", {"channel": ADA_DM, "cursor": "%%"}),
    ("invalid_limit", "conversations.history", {"channel": ADA_DM, "limit": 1_000}),
    ("thread_not_found", "conversations.replies", {"channel": ADA_DM, "ts": "1.000001"}),
    ("invalid_types", "conversations.list", {"types": "letters"}),
]


def _name(value: object) -> str:
    return value if isinstance(value, str) else ""


@pytest.mark.parametrize(("code", "method", "arguments"), WRONG, ids=_name)
async def test_a_wrong_json_call_is_refused(
    client: AsyncWebClient, team: Team, code: str, method: str, arguments: dict[str, Any]
) -> None:
    with pytest.raises(SlackApiError) as refused:
        await client.api_call(method, json=arguments)
    assert refused.value.response["error"] == code
    assert refused.value.response.status_code == 200
    assert team.bubbles() == []


@pytest.mark.parametrize(("code", "method", "arguments"), WRONG_FORMS, ids=_name)
async def test_a_wrong_form_call_is_refused(
    client: AsyncWebClient, code: str, method: str, arguments: dict[str, Any]
) -> None:
    with pytest.raises(SlackApiError) as refused:
        await client.api_call(method, http_verb="GET", params=arguments)
    assert refused.value.response["error"] == code


async def test_refused_blocks_say_what_is_wrong_and_where(client: AsyncWebClient) -> None:
    with pytest.raises(SlackApiError) as refused:
        await client.chat_postMessage(channel=ADA_DM, text="x", blocks=[section(), section("x" * 3_001)])
    assert refused.value.response["response_metadata"]["messages"] == [
        "[ERROR] must be less than 3001 characters [json-pointer:/blocks/1/text/text]"
    ]


async def test_just_under_every_limit_is_taken(client: AsyncWebClient) -> None:
    await client.chat_postMessage(channel=ADA_DM, markdown_text="x" * 12_000)
    await client.chat_postMessage(channel=ADA_DM, text="x", blocks=[section("x" * 3_000)] * 4)
    await client.chat_postMessage(channel=ADA_DM, text="x", blocks=[section()] * 50)
    widest = _button(text={**PLAIN, "text": "x" * 75}, value="x" * 2_000, action_id="x" * 255)
    await client.chat_postMessage(channel=ADA_DM, text="x", blocks=[widest])


async def test_a_replys_ts_is_no_thread(client: AsyncWebClient, team: Team) -> None:
    root = (await team.act("say", text="root"))["ts"]
    child = (await client.chat_postMessage(channel=ADA_DM, text="child", thread_ts=root))["ts"]
    with pytest.raises(SlackApiError, match="cannot_reply_to_message"):
        await client.chat_postMessage(channel=ADA_DM, text="grandchild", thread_ts=child)


async def test_the_app_changes_only_its_own_messages(client: AsyncWebClient, team: Team) -> None:
    own = (await client.chat_postMessage(channel=ADA_DM, text="mine"))["ts"]
    ts = (await team.act("say", text="hers"))["ts"]
    with pytest.raises(SlackApiError, match="cant_update_message"):
        await client.chat_update(channel=ADA_DM, ts=ts, text="x")
    with pytest.raises(SlackApiError, match="cant_delete_message"):
        await client.chat_delete(channel=ADA_DM, ts=ts)
    with pytest.raises(SlackApiError, match="msg_too_long"):
        await client.chat_update(channel=ADA_DM, ts=own, text="x" * 4_001)
    with pytest.raises(SlackApiError, match="message_not_in_streaming_state"):
        await client.chat_stopStream(channel=ADA_DM, ts=own)


@pytest.mark.parametrize(("token", "code"), [("", "not_authed"), ("xoxb-wrong", "invalid_auth")])
async def test_a_wrong_token_is_refused(client: AsyncWebClient, token: str, code: str) -> None:
    with pytest.raises(SlackApiError, match=code):
        await AsyncWebClient(token=token, base_url=client.base_url).auth_test()


async def test_a_token_in_a_json_body_is_not_read(client: AsyncWebClient, team: Team) -> None:
    body = {"token": client.token, "channel": ADA_DM, "text": "x"}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{client.base_url}chat.postMessage", json=body) as answer,
    ):
        assert (await answer.json())["error"] == "not_authed"


@pytest.mark.parametrize(
    ("body", "kind", "code"),
    [
        (b"{", "application/json", "invalid_json"),
        (b"[]", "application/json", "json_not_object"),
        (b"x", "text/plain", "invalid_post_type"),
    ],
)
async def test_a_body_of_the_wrong_kind_is_refused(client: AsyncWebClient, body: bytes, kind: str, code: str) -> None:
    headers = {"Authorization": f"Bearer {client.token}", "Content-Type": kind}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(f"{client.base_url}chat.postMessage", data=body) as answer,
    ):
        assert (await answer.json())["error"] == code


async def test_a_method_that_reads_no_json_misses_its_arguments(client: AsyncWebClient) -> None:
    with pytest.raises(SlackApiError, match="invalid_arguments"):
        await client.api_call("users.info", json={"user": "U0ADA00001"})


async def test_switches_make_tokens_scopes_and_people_refuse(client: AsyncWebClient, team: Team) -> None:
    await team.act("set", token="account_inactive")
    with pytest.raises(SlackApiError, match="account_inactive"):
        await client.auth_test()
    await team.act("set", token="ok", scopes=["im:history"])
    with pytest.raises(SlackApiError) as refused:
        await client.chat_postMessage(channel=ADA_DM, text="x")
    assert refused.value.response["error"] == "missing_scope"
    assert refused.value.response["needed"] == "chat:write"
    await team.act("set", scopes=["chat:write", "im:write"], disabled=True)
    with pytest.raises(SlackApiError, match="is_archived"):
        await client.chat_postMessage(channel=ADA_DM, text="x")
    with pytest.raises(SlackApiError, match="user_disabled"):
        await client.conversations_open(users="U0ADA00001")
