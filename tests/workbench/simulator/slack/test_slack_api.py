"""The Web API as the official client sees it: what is kept, what is shown, what history gives back."""

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.workbench.simulator.slack.conftest import ADA_DM, Team, buttons, section
from workbench.simulator.faults import FaultKind, Rule


async def test_auth_test_names_the_app_and_its_scopes(client: AsyncWebClient) -> None:
    answer = await client.auth_test()
    assert (answer["user_id"], answer["bot_id"]) == ("U0BOT00001", "B0BOT00001")
    assert "chat:write" in answer.headers["x-oauth-scopes"]


async def test_a_message_is_posted_shown_and_found_in_history(client: AsyncWebClient, team: Team) -> None:
    posted = await client.chat_postMessage(channel=ADA_DM, text="Tea &amp; cake at 4?")
    assert posted["message"]["text"] == "Tea &amp; cake at 4?"
    assert [(bubble["from"], bubble["text"]) for bubble in team.bubbles()] == [("bot", "Tea & cake at 4?")]
    history = await client.conversations_history(channel=ADA_DM)
    assert [message["ts"] for message in history["messages"]] == [posted["ts"]]


async def test_a_message_to_a_person_lands_in_their_direct_conversation(client: AsyncWebClient) -> None:
    opened = await client.conversations_open(users=["U0ADA00001"])
    posted = await client.chat_postMessage(channel="U0ADA00001", text="hello")
    assert posted["channel"] == opened["channel"]["id"] == ADA_DM


async def test_text_over_forty_thousand_is_cut_with_a_warning(client: AsyncWebClient) -> None:
    posted = await client.chat_postMessage(channel=ADA_DM, text="x" * 40_001)
    assert len(posted["message"]["text"]) == 40_000
    assert posted["response_metadata"]["warnings"] == ["message_truncated"]


async def test_metadata_comes_back_only_when_history_is_asked_for_it(client: AsyncWebClient) -> None:
    metadata = {"event_type": "onevalet_outbox", "event_payload": {"ref": "out_1"}}
    root = await client.chat_postMessage(channel=ADA_DM, text="one", metadata=metadata)
    await client.chat_postMessage(channel=ADA_DM, text="two", thread_ts=root["ts"], metadata=metadata)
    plain = await client.conversations_history(channel=ADA_DM)
    assert "metadata" not in plain["messages"][0]
    full = await client.conversations_history(channel=ADA_DM, include_all_metadata=True)
    assert full["messages"][0]["metadata"] == metadata
    thread = await client.conversations_replies(channel=ADA_DM, ts=root["ts"], include_all_metadata=True)
    assert [message["metadata"] for message in thread["messages"]] == [metadata, metadata]


async def test_history_is_newest_first_in_pages_and_between_moments(client: AsyncWebClient, team: Team) -> None:
    stamps = [(await team.act("say", text=f"message {number}"))["ts"] for number in range(5)]
    first = await client.conversations_history(channel=ADA_DM, limit=3)
    assert [message["ts"] for message in first["messages"]] == stamps[:1:-1]
    cursor = first["response_metadata"]["next_cursor"]
    second = await client.conversations_history(channel=ADA_DM, limit=3, cursor=cursor)
    assert [message["ts"] for message in second["messages"]] == stamps[1::-1]
    assert not second["has_more"]
    since = await client.conversations_history(channel=ADA_DM, oldest=stamps[2], latest=stamps[4])
    assert [message["ts"] for message in since["messages"]] == [stamps[3]]
    both = await client.conversations_history(channel=ADA_DM, oldest=stamps[2], latest=stamps[4], inclusive=True)
    assert [message["ts"] for message in both["messages"]] == stamps[4:1:-1]


async def test_replies_stay_out_of_history_and_their_root_tells_of_them(client: AsyncWebClient, team: Team) -> None:
    root = (await team.act("say", text="plan my day"))["ts"]
    reply = await client.chat_postMessage(channel=ADA_DM, text="gladly", thread_ts=root)
    assert reply["message"]["thread_ts"] == root
    (shown,) = (await client.conversations_history(channel=ADA_DM))["messages"]
    assert (shown["reply_count"], shown["latest_reply"]) == (1, reply["ts"])
    thread = await client.conversations_replies(channel=ADA_DM, ts=root)
    assert [message["ts"] for message in thread["messages"]] == [root, reply["ts"]]


async def test_an_update_with_text_alone_drops_the_blocks_and_marks_the_edit(
    client: AsyncWebClient, team: Team
) -> None:
    posted = await client.chat_postMessage(
        channel=ADA_DM, text="Send it?", blocks=[section(), buttons("approve", "cancel")]
    )
    assert [button["action_id"] for button in team.bubbles()[0]["buttons"]] == ["approve", "cancel"]
    await client.chat_update(channel=ADA_DM, ts=posted["ts"], text="Approved.")
    (bubble,) = team.bubbles()
    assert (bubble["text"], bubble["buttons"], bubble["edited"]) == ("Approved.", [], True)


async def test_users_have_their_time_zone(client: AsyncWebClient) -> None:
    user = (await client.users_info(user="U0ADA00001"))["user"]
    assert (user["tz"], user["is_bot"]) == ("Europe/London", False)
    assert "locale" not in user
    assert (await client.users_info(user="U0ADA00001", include_locale=True))["user"]["locale"] == "en-GB"
    assert len((await client.users_list())["members"]) == 3


async def test_a_stream_grows_in_a_thread_and_ends_with_blocks(client: AsyncWebClient, team: Team) -> None:
    root = (await team.act("say", text="write a poem"))["ts"]
    stream = await client.chat_stream(channel=ADA_DM, thread_ts=root, buffer_size=4)
    await stream.append(markdown_text="**Roses**")
    assert [(bubble["text"], bubble["streaming"]) for bubble in team.bubbles()[1:]] == [("**Roses**", True)]
    await stream.append(markdown_text=" are red")
    with pytest.raises(SlackApiError, match="streaming_state_conflict"):
        await client.chat_update(channel=ADA_DM, ts=str(stream.ts), text="other")
    metadata = {"event_type": "onevalet_outbox", "event_payload": {"ref": "out_2"}}
    await stream.stop(blocks=[buttons("again")], metadata=metadata)
    bubble = team.bubbles()[-1]
    assert (bubble["text"], bubble["streaming"]) == ("**Roses** are red", False)
    assert bubble["buttons"][0]["action_id"] == "again"


async def test_a_stream_left_alone_leaves_the_streaming_state(client: AsyncWebClient, team: Team) -> None:
    root = (await team.act("say", text="think long"))["ts"]
    started = await client.chat_startStream(channel=ADA_DM, thread_ts=root, markdown_text="one")
    team.clock.offset += 301
    with pytest.raises(SlackApiError, match="message_not_in_streaming_state"):
        await client.chat_appendStream(channel=ADA_DM, ts=started["ts"], markdown_text="two")


async def test_a_status_shows_until_the_reply_or_for_two_minutes(client: AsyncWebClient, team: Team) -> None:
    root = (await team.act("say", text="hm"))["ts"]
    await client.assistant_threads_setStatus(channel_id=ADA_DM, thread_ts=root, status="is thinking…")
    assert team.person()["statuses"] == {root: "is thinking…"}
    await client.chat_postMessage(channel=ADA_DM, thread_ts=root, text="done")
    assert team.person()["statuses"] == {}
    await client.assistant_threads_setStatus(channel_id=ADA_DM, thread_ts=root, status="is thinking…")
    team.clock.offset += 121
    assert team.person()["statuses"] == {}


async def test_prompts_and_titles_are_kept(client: AsyncWebClient, team: Team) -> None:
    root = (await team.act("say", text="hm"))["ts"]
    prompts = [{"title": "Today", "message": "What is on today?"}]
    await client.assistant_threads_setSuggestedPrompts(channel_id=ADA_DM, prompts=prompts)
    await client.assistant_threads_setTitle(channel_id=ADA_DM, thread_ts=root, title="My day")
    assert team.person()["prompts"] == prompts
    assert team.person()["titles"] == {root: "My day"}


async def test_an_ephemeral_message_is_seen_by_one_person_and_not_in_history(
    client: AsyncWebClient, team: Team
) -> None:
    await client.chat_postEphemeral(channel=ADA_DM, user="U0ADA00001", text="only you")
    assert [(bubble["text"], bubble["ephemeral"]) for bubble in team.bubbles()] == [("only you", True)]
    assert (await client.conversations_history(channel=ADA_DM))["messages"] == []


async def test_a_file_is_uploaded_and_shared(client: AsyncWebClient, team: Team) -> None:
    await client.files_upload_v2(channel=ADA_DM, content="a,b\n1,2\n", filename="table.csv", initial_comment="Here")
    (bubble,) = team.bubbles()
    assert (bubble["text"], bubble["files"][0]["name"]) == ("Here", "table.csv")


async def test_a_rate_limit_by_rule_carries_retry_after(client: AsyncWebClient, team: Team) -> None:
    team.wire.faults.add(Rule("slack.chat.postMessage", FaultKind.RATE_LIMIT, seconds=7))
    with pytest.raises(SlackApiError) as refused:
        await client.chat_postMessage(channel=ADA_DM, text="hi")
    assert refused.value.response["error"] == "ratelimited"
    assert refused.value.response.headers["Retry-After"] == "7"
    assert team.bubbles() == []


async def test_an_answer_lost_after_acceptance_leaves_the_message_there(client: AsyncWebClient, team: Team) -> None:
    team.wire.faults.add(Rule("slack.chat.postMessage", FaultKind.RESET_AFTER))
    with pytest.raises(aiohttp.ClientError):
        await client.chat_postMessage(channel=ADA_DM, text="hi")
    assert [bubble["text"] for bubble in team.bubbles()] == ["hi"]


async def test_the_strict_switch_lets_one_message_a_second_into_a_channel(client: AsyncWebClient, team: Team) -> None:
    await team.act("set", strict_rate=True)
    await client.chat_postMessage(channel=ADA_DM, text="one")
    with pytest.raises(SlackApiError) as refused:
        await client.chat_postMessage(channel=ADA_DM, text="two")
    assert refused.value.response.headers["Retry-After"] == "1"
    team.clock.offset += 1.1
    await client.chat_postMessage(channel=ADA_DM, text="two")
