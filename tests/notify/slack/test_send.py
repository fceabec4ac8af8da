"""Sending through the official SDK to Slack as emulated, its faults and refusals included."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from core.errors import (
    Ambiguous,
    CredentialsRejected,
    DeliveryError,
    RateLimited,
    Rejected,
    Unavailable,
    Unreachable,
)
from core.messaging.channels import Part, Target
from core.messaging.messages import Action, Address, OutboundKind, OutboundMessage
from notify.slack.send import SlackNotification
from providers.slack.wire import escape
from tests.eventually import eventually
from tests.examples import examples
from tests.notify.slack.conftest import SLACK, act, ada, make_sender
from workbench.simulator.app import Simulator
from workbench.simulator.faults import FaultKind, Rule

ADA_DM = "D0ADA00001"
TEXT = "A secret answer"
OK_BLOCK = {"type": "markdown", "text": "fine"}


def to(ref: str = "part_1", peer: str = ADA_DM, thread: str = "") -> Target:
    return Target(Address("slack", SLACK.team_id, peer, thread), ref)


def message(text: str, *actions: Action) -> OutboundMessage:
    return OutboundMessage("out_1", OutboundKind.REPLY, text, actions)


def part(text: str = TEXT) -> Part:
    return Part(text, {"blocks": [{"type": "markdown", "text": text}]})


def ago(seconds: float = 1.0) -> datetime:
    return datetime.now(UTC) - timedelta(seconds=seconds)


async def test_a_card_arrives_with_markdown_and_buttons(simulator: Simulator, slack: SlackNotification) -> None:
    (made,) = slack.render(message("**Send it?**", Action("Approve", "tok_1")))
    receipt = await slack.send(made, to())
    (bubble,) = ada(simulator)["bubbles"]
    assert (bubble["ts"], bubble["thread_ts"], receipt.degraded) == (receipt.provider_id, "", False)
    assert bubble["text"] == "**Send it?**"
    assert [(button["text"], button["value"]) for button in bubble["buttons"]] == [("Approve", "tok_1")]
    assert bubble["fallback"] == "**Send it?**"


async def test_an_answer_in_a_thread_stays_in_it(simulator: Simulator, slack: SlackNotification) -> None:
    root = (await act(simulator, "say", text="hello"))["ts"]
    await slack.send(part(), to(thread=root))
    assert ada(simulator)["bubbles"][-1]["thread_ts"] == root


async def test_what_people_would_be_shown_of_mark_up_in_the_fallback_is_escaped(
    simulator: Simulator, slack: SlackNotification
) -> None:
    await slack.send(part("<!channel> & <@U1>"), to())
    (bubble,) = ada(simulator)["bubbles"]
    assert bubble["fallback"] == "&lt;!channel&gt; &amp; &lt;@U1&gt;"


@pytest.mark.parametrize(
    "blocks",
    [
        [{"type": "nonsense"}],
        [OK_BLOCK] * 51,
        [{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3001}}],
        [{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 2900}} for _ in range(5)],
    ],
)
async def test_refused_formatting_is_sent_once_more_as_words_and_none_is_lost(
    simulator: Simulator, slack: SlackNotification, blocks: list[Any]
) -> None:
    text = "if a < b && c > d: " + "word " * 1500 + "end"
    receipt = await slack.send(Part(text, {"blocks": blocks}), to())
    (bubble,) = ada(simulator)["bubbles"]
    assert receipt.degraded
    assert bubble["text"] == text
    assert await slack.find(part(), to(), ago()) is not None


@pytest.mark.parametrize("own", [None, {"type": "actions", "elements": []}])
async def test_refused_formatting_takes_no_buttons_with_it_that_slack_would_take(
    simulator: Simulator, slack: SlackNotification, own: Any
) -> None:
    text = "**Send it?** to <@U1> & all: " + "word " * 1500
    (made,) = slack.render(message(text, Action("Approve", "tok_1")))
    blocks: Any = made.data["blocks"]
    receipt = await slack.send(Part(text, {"blocks": [{"type": "nonsense"}, own or blocks[1]]}), to())
    (bubble,) = ada(simulator)["bubbles"]
    assert receipt.degraded
    assert bubble["text"].replace("\n", "") == text
    assert [button["value"] for button in bubble["buttons"]] == ([] if own else ["tok_1"])


async def test_a_card_can_be_redrawn_any_number_of_times(simulator: Simulator, slack: SlackNotification) -> None:
    root = (await act(simulator, "say", text="hello"))["ts"]
    (made,) = slack.render(message("**Send it?** \\<!channel\\>", Action("Approve", "tok_1")))
    receipt = await slack.send(made, to(thread=root))
    for _ in range(2):
        await slack.redraw(made, receipt.provider_id, to(thread=root).address, "Approved by Ada <@U1> & co")
        bubble = ada(simulator)["bubbles"][-1]
        assert (bubble["ts"], bubble["buttons"], bubble["edited"]) == (receipt.provider_id, [], False)
        assert bubble["text"] == "**Send it?** <!channel>\nApproved by Ada <@U1> & co"
    assert await slack.find(made, to(thread=root), ago()) is not None


async def test_a_redraw_whose_formatting_is_refused_keeps_every_word(
    simulator: Simulator, slack: SlackNotification
) -> None:
    receipt = await slack.send(part(), to())
    text = "1 < 2 & " + "word " * 2000
    await slack.redraw(Part(text, {"blocks": [{"type": "nonsense"}]}), receipt.provider_id, to().address, "x" * 400)
    (bubble,) = ada(simulator)["bubbles"]
    assert bubble["text"].replace("\n", "") == text + "x" * 299 + "…"


async def test_a_redraw_that_can_never_be_is_rejected(simulator: Simulator, slack: SlackNotification) -> None:
    persons_ts = (await act(simulator, "say", text="mine"))["ts"]
    for ts in ("1794650000.000100", persons_ts):
        with pytest.raises(Rejected) as refused:
            await slack.redraw(part(), ts, to().address, "Approved")
        assert not isinstance(refused.value, Unreachable)
    simulator.wire.faults.add(Rule("slack.chat.update", FaultKind.RATE_LIMIT, seconds=3))
    with pytest.raises(RateLimited):
        await slack.redraw(part(), persons_ts, to().address, "Approved")


async def test_a_long_plain_text_is_within_what_slack_takes_even_when_escaped() -> None:
    sender = make_sender("http://127.0.0.1:9/api/")
    for made in sender.render(message("&" * 30_000)):
        assert len(escape(made.text)) <= 40_000
    await sender.close()


@pytest.mark.parametrize(
    ("switches", "error"),
    [
        ({"token": "account_inactive"}, CredentialsRejected),
        ({"token": "token_revoked"}, CredentialsRejected),
        ({"token": "invalid_auth"}, CredentialsRejected),
        ({"scopes": ["im:history"]}, CredentialsRejected),
        ({"messages_tab": False}, CredentialsRejected),
        ({"disabled": True}, Unreachable),
    ],
)
async def test_promise_8_refusals_that_are_final_say_of_what_kind(
    simulator: Simulator, slack: SlackNotification, switches: dict[str, Any], error: type[DeliveryError]
) -> None:
    await act(simulator, "set", **switches)
    with pytest.raises(error) as raised:
        await slack.send(part(), to())
    assert type(raised.value) is error
    assert raised.value.code


async def test_unknown_places(slack: SlackNotification) -> None:
    with pytest.raises(Unreachable):
        await slack.send(part(), to(peer="D0NOBODY01"))
    with pytest.raises(Rejected) as raised:
        await slack.send(part(), to(thread="1794650000.000100"))
    assert raised.value.code == "thread_not_found"


async def test_another_apps_token_is_refused(simulator: Simulator) -> None:
    sender = make_sender(simulator.slack_url, token="xoxb-other")
    with pytest.raises(CredentialsRejected):
        await sender.send(part(), to())
    await sender.close()


async def test_a_rate_limit_tells_when_to_come_back(simulator: Simulator, slack: SlackNotification) -> None:
    simulator.wire.faults.add(Rule("slack.chat.postMessage", FaultKind.RATE_LIMIT, seconds=17))
    with pytest.raises(RateLimited) as raised:
        await slack.send(part(), to())
    assert raised.value.retry_after == timedelta(seconds=17)
    assert ada(simulator)["bubbles"] == []


@pytest.mark.parametrize(
    ("kind", "arrived"),
    [
        (FaultKind.SERVER_ERROR, False),
        (FaultKind.SERVER_ERROR_AFTER, True),
        (FaultKind.TIMEOUT_BEFORE, False),
        (FaultKind.TIMEOUT_AFTER, True),
        (FaultKind.RESET_BEFORE, False),
        (FaultKind.RESET_AFTER, True),
    ],
)
@pytest.mark.parametrize("threaded", [False, True])
async def test_promise_7_a_lost_answer_is_ambiguous_and_found_if_it_arrived(
    simulator: Simulator,
    slack: SlackNotification,
    hasty: SlackNotification,
    kind: FaultKind,
    arrived: bool,
    threaded: bool,
) -> None:
    thread = (await act(simulator, "say", text="hello"))["ts"] if threaded else ""
    begun = ago()
    simulator.wire.faults.add(Rule("slack.chat.postMessage", kind, seconds=2))
    with pytest.raises(Ambiguous):
        await hasty.send(part(), to("part_9", thread=thread))
    sent = [bubble for bubble in ada(simulator)["bubbles"] if bubble["direction"] == "out"]
    receipt = await slack.find(part(), to("part_9", thread=thread), begun)
    assert len(sent) == arrived
    assert (receipt.provider_id if receipt else None) == (sent[0]["ts"] if arrived else None)
    assert await slack.find(part(), to("part_8", thread=thread), begun) is None


async def test_promise_7_a_history_that_cannot_be_read_tells_nothing(
    simulator: Simulator, slack: SlackNotification, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind in (FaultKind.SERVER_ERROR, FaultKind.RATE_LIMIT, FaultKind.RESET_BEFORE):
        simulator.wire.faults.add(Rule("slack.conversations.history", kind, times=0))
        with pytest.raises(Unavailable):
            await slack.find(part(), to(), ago())
        simulator.wire.faults.clear()
    monkeypatch.setattr("notify.slack.history.SCAN_PAGES", 0)
    with pytest.raises(Unavailable):
        await slack.find(part(), to(), ago())


async def test_a_part_is_found_behind_many_others(simulator: Simulator, slack: SlackNotification) -> None:
    begun = ago()
    receipt = await slack.send(part(), to("first"))
    for number in range(210):
        await act(simulator, "say", text=f"{number}")
    looked_up = await slack.find(part(), to("first"), begun)
    assert looked_up == receipt


async def test_nobody_at_the_other_end_is_unavailable() -> None:
    sender = make_sender("http://127.0.0.1:9/api/")
    with pytest.raises(Unavailable):
        await sender.send(part(), to())
    await sender.close()


@pytest.mark.parametrize(
    ("status", "kind", "body", "error"),
    [
        (200, "text/html", "<html>", Unavailable),
        (200, "application/json", "half {", Unavailable),
        (200, "application/json", "[]", Unavailable),
        (200, "application/json", "[1]", Ambiguous),
        (200, "application/json", "{}", Unavailable),
        (200, "application/json", '{"ok": true}', Ambiguous),
        (200, "application/json", '{"ok": false, "error": "fatal_error"}', Ambiguous),
        (200, "application/json", '{"ok": false, "error": "team_added_to_org"}', Unavailable),
        (200, "application/json", '{"ok": false, "error": "a_newcomer"}', Rejected),
        (200, "application/json", '{"ok": false, "error": "ratelimited"}', RateLimited),
        (302, "text/html", "<html>", Unavailable),
        (403, "text/html", "<html>", Unavailable),
        (404, "text/html", "<html>", Unavailable),
        (502, "text/html", "<html>", Ambiguous),
        (504, "application/json", '{"ok": false, "error": "invalid_blocks"}', Ambiguous),
        (429, "text/html", "<html>", RateLimited),
    ],
)
async def test_answers_that_are_hardly_slacks(status: int, kind: str, body: str, error: type[DeliveryError]) -> None:
    calls = []

    async def answer(request: web.Request) -> web.Response:
        calls.append(request.path)
        return web.Response(status=status, text=body, content_type=kind)

    app = web.Application()
    app.router.add_post("/api/chat.postMessage", answer)
    server = TestServer(app)
    await server.start_server()
    sender = make_sender(str(server.make_url("/api/")))
    try:
        with pytest.raises(DeliveryError) as raised:
            await sender.send(part(), to())
    finally:
        await sender.close()
        await server.close()
    assert type(raised.value) is error
    assert len(calls) == 1


async def test_a_status_is_shown_in_threads_and_its_failure_hurts_nobody(
    simulator: Simulator, slack: SlackNotification
) -> None:
    root = (await act(simulator, "say", text="hello"))["ts"]
    await slack.show_working(to(thread=root).address)
    assert ada(simulator)["statuses"] == {root: "is thinking…"}
    await slack.send(part(), to(thread=root))
    assert ada(simulator)["statuses"] == {}
    await slack.show_working(to().address)
    await slack.show_working(to(thread="1.000001").address)
    assert ada(simulator)["statuses"] == {}


async def test_marks_come_and_go_and_a_missing_scope_ends_them(simulator: Simulator, slack: SlackNotification) -> None:
    ts = (await act(simulator, "say", text="hello"))["ts"]
    at = to().address

    def calls(method: str) -> int:
        journal = simulator.wire.journal.calls(provider="slack")
        return len([call for call in journal if call.endpoint == f"slack.reactions.{method}"])

    slack.mark(at, ts)
    slack.mark(at, ts)
    slack.unmark(at, ts)
    await eventually(lambda: calls("remove") == 1)
    assert calls("add") == 2
    await eventually(lambda: not ada(simulator)["bubbles"][0]["reactions"])
    for message in ("", "not one", "1.1"):
        slack.mark(at, message)
    slack.mark(to(thread=ts).address, ts)
    await act(simulator, "set", scopes=["chat:write"])
    slack.mark(at, ts)
    await eventually(lambda: slack.unseen(at))
    slack.unmark(at, ts)
    await slack.close()
    slack.mark(at, ts)
    assert (calls("add"), calls("remove")) == (3, 1)


async def test_a_person_is_unseen_where_neither_status_nor_mark_may_be_shown(
    simulator: Simulator, slack: SlackNotification
) -> None:
    ts = (await act(simulator, "say", text="hello"))["ts"]
    top, thread = to().address, to(thread=ts).address
    await slack.show_working(thread)
    assert not slack.unseen(top)
    assert not slack.unseen(thread)
    await act(simulator, "set", scopes=["chat:write"])
    await slack.show_working(thread)
    slack.mark(top, ts)
    await eventually(lambda: slack.unseen(top))
    assert not slack.unseen(thread), "a status needs no scope of its own"


async def test_a_person_is_unseen_while_slack_takes_no_status(simulator: Simulator, slack: SlackNotification) -> None:
    thread = to(thread=(await act(simulator, "say", text="hello"))["ts"]).address
    simulator.wire.faults.add(Rule("slack.assistant.threads.setStatus", FaultKind.SERVER_ERROR))
    await slack.show_working(thread)
    assert slack.unseen(thread)
    assert not slack.unseen(to().address)
    await slack.show_working(thread)
    assert not slack.unseen(thread)


async def test_promise_14_neither_text_nor_token_is_logged(
    simulator: Simulator, slack: SlackNotification, caplog: pytest.LogCaptureFixture
) -> None:
    simulator.wire.faults.add(Rule("slack.chat.postMessage", FaultKind.SERVER_ERROR))
    with caplog.at_level("DEBUG"), capture_logs() as logs:
        with pytest.raises(Ambiguous) as raised:
            await slack.send(part(), to())
        await slack.send(Part(TEXT, {"blocks": [{"type": "nonsense"}]}), to())
    logged = f"{logs}{caplog.text}{raised.value}"
    assert TEXT not in logged
    assert SLACK.bot_token not in logged


_texts = st.lists(
    st.text(max_size=60) | st.sampled_from(["```", "\n", "\n\n", "**b**", "word " * 400, "&" * 900, "👋" * 500]),
    max_size=25,
).map("".join)


@examples(25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_texts, st.integers(0, 4))
async def test_fuzzed_messages_are_taken_by_the_strict_server_in_their_own_form(
    simulator: Simulator, slack: SlackNotification, text: str, buttons: int
) -> None:
    actions = [Action(f"Choice {number}", f"tok_{number}") for number in range(buttons)]
    for number, made in enumerate(slack.render(message(text, *actions))):
        receipt = await slack.send(made, to(f"part_{number}"))
        assert not receipt.degraded
