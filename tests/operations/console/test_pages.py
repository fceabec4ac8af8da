"""What the pages show: conversations page by page, a turn's path, changes as they happen, and how things are."""

import asyncio
import json
import re
from contextlib import AsyncExitStack
from datetime import timedelta

import aiohttp
import pytest

from core.llm.types import ChatMessage, Role, ToolCall
from core.messaging.messages import DeliveryStatus, StatusUpdate
from operations.console.reading.conversations import MESSAGES, PAGE
from tests.core.harness import ACCOUNT, CHANNEL, Store
from tests.onevalet.stops import wait_for_requests_without_end
from tests.operations.console.asking import ask, question, take_step
from tests.operations.console.harness import ANN, BOB, Console, open_console
from tests.patience import PATIENCE


async def test_a_turns_path_shows_each_step_with_what_it_cost(console: Console) -> None:
    store = console.store
    await store.say("Is it raining?", sender=ANN)
    lease, turn = await store.claim_turn()
    call = ToolCall("c1", "get_weather", json.dumps({"place": "Whitby"}))
    asked = ChatMessage(Role.ASSISTANT, "", (call,)).to_json()
    await take_step(store, lease, turn.turn_id, "model", "gpt-5", 0, asked)
    await take_step(store, lease, turn.turn_id, "tool", "get_weather", 1, {"text": "Drizzle, 9 degrees.", "chars": 19})
    await store.finish(lease, turn, "Yes, a drizzle.")
    await store.send(await store.claim_sending("Yes, a drizzle."))
    async with console.browser(ANN) as browser:
        await browser.get(f"/console/turns/{turn.turn_id}")
        for part in (
            "Is it raining?", "gpt-5: asks for tools", "1200 in, 34 out", "$0.00210", "get_weather",
            '{"place": "Whitby"}', "Drizzle, 9 degrees.", "Yes, a drizzle.", "Handed to the provider",
            "Model calls 1 Tools 1 Tokens 1,234 Cost $0.0021",
        ):  # fmt: skip
            assert part in browser.text, part
        said = await store.db.outbound.one("id", turn_id=turn.turn_id)
        assert await browser.get(f"/console/turns/{said}") == 200, "any id of the path leads there"


async def test_a_turn_without_tokens_costs_nothing(console: Console) -> None:
    await console.store.say("/new", sender=ANN)
    lease, turn = await console.store.claim_turn()
    await console.store.finish(lease, turn, "All right.")
    async with console.browser(ANN) as browser:
        await browser.get(f"/console/turns/{turn.turn_id}")
        assert "Tokens 0 Cost none" in browser.text


async def test_a_conversation_is_read_back_page_by_page(console: Console) -> None:
    texts = [f"number {number} of many" for number in range(MESSAGES + 10)]
    for text in texts:
        await console.store.say(text, sender=BOB)
    async with console.browser(BOB) as browser:
        await browser.get("/console")
        await browser.get(browser.links("/console/conversations/")[0])
        newest = [text for text in texts if text in browser.text]
        assert newest == texts[-MESSAGES:]
        [earlier] = browser.links("?before=")
        path = f"/console/conversations/{await console.tenant(BOB)}/"
        conversation = await console.store.db.conversations.one("id", peer=BOB)
        await browser.get(f"{path}{conversation}{earlier}")
        assert [text for text in texts if text in browser.text] == texts[:-MESSAGES]
        assert "My secret is tea." in browser.text
        assert "Noted." in browser.text
        assert browser.links("?before=") == []
        for wrong in ("x", "1", "-1.2", "1.2.3", "9" * 50):
            assert await browser.get(f"{path}{conversation}?before={wrong}") == 200, wrong


async def test_the_list_goes_on_where_it_ended(console: Console) -> None:
    senders = [f"+1555100{number:04}" for number in range(PAGE + 3)]
    for sender in senders:
        await console.store.say("hello", sender=sender)
    async with console.browser(ANN) as browser:
        await browser.get("/console")
        first = browser.links("/console/conversations/")
        assert len(first) == PAGE
        [following] = browser.links("after=")
        await browser.get(following)
        second = browser.links("/console/conversations/")
        assert len(second) == 5
        assert not set(first) & set(second)
        await browser.get("/console/conversations?channel=slack")
        assert "No conversation is here." in browser.text
        assert await browser.get("/console/conversations?after=nonsense~x&channel=%ff") == 200
        assert await browser.get("/console/conversations?channel=%00") == 400
        assert await browser.get("/console/conversations?after=0001-01-01T00:00:00%2B14:00~x") == 200


async def test_no_line_of_the_list_is_empty(console: Console) -> None:
    for text, command, shown in (
        ("", "", "(no text)"),
        ("", "new", "/new"),
        ("My tea is cold.", "", "My tea is cold."),
    ):
        await console.store.say(text, sender=BOB, command=command)
        async with console.browser(BOB) as browser:
            await browser.get("/console")
            assert shown in browser.text
    async with console.browser(ANN) as browser:
        await browser.get("/console")
        assert "My tea is cold." not in browser.text
        assert "(hidden)" in browser.text


async def test_a_message_that_its_provider_took_and_could_not_deliver_says_so(console: Console) -> None:
    await console.store.enqueue("Your cab is here.", sender=BOB)
    claim = await console.store.claim_sending("Your cab is here.")
    await console.store.send(claim)
    ref = await console.store.db.outbound_parts.one("ref", outbound_id=claim.outbound_id)
    async with console.browser(BOB) as browser:
        await browser.get("/console")
        [conversation] = browser.links("/console/conversations/")
        await browser.get(conversation)
        assert "undelivered" not in browser.text
        update = StatusUpdate(CHANNEL, ACCOUNT, "SM0", str(ref), DeliveryStatus.UNDELIVERED, "30004")
        await console.store.inbox.accept(update)
        await browser.get(conversation)
        assert "undelivered 30004" in browser.text


async def test_an_open_page_is_told_of_what_changes(console: Console) -> None:
    async with console.browser(BOB) as browser:
        await browser.get("/console")
        page = browser.links("/console/conversations/")[0]
        address = f"{console.url}/console/live?page={page}&version="
        async with asyncio.timeout(PATIENCE), browser.session.get(address) as stream:
            assert stream.content_type == "text/event-stream"
            assert b"changed" in await _next(stream.content)
            await console.store.say("One more thing", sender=BOB)
            assert b"changed" in await _next(stream.content)
        other = await console.store.db.conversations.one("id", peer=ANN)
        theirs = f"/console/conversations/{await console.tenant(ANN)}/{other}"
        async with browser.session.get(f"{console.url}/console/live?page={theirs}&version=") as stream:
            await console.store.say("Mine alone", sender=ANN)
            assert b"changed" not in await stream.content.readany()


async def test_an_open_page_holds_up_no_stop(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    wait_for_requests_without_end(monkeypatch)
    async with AsyncExitStack() as stack:
        console = await stack.enter_async_context(open_console(store))
        async with console.browser(BOB) as browser:
            stream = await browser.session.get(f"{console.url}/console/live?page=/console&version=")
            assert b"changed" in await _next(stream.content)
            await stack.aclose()
            assert b"changed" not in await stream.content.read()


async def test_health_names_what_is_wrong_and_what_to_do(console: Console) -> None:
    async with console.browser(ANN) as browser:
        await browser.get("/console/health")
        assert "needs attention workers 0 seen in the last minute start one: bin/onevalet worker" in browser.text
        await console.store.say("anybody there?", sender=BOB)
        await console.store.admin.execute(
            "update lanes set pending_since = now() - interval '10 minutes' where pending"
        )
        await browser.get("/console/health")
        assert "queue the oldest message has waited for 10 min see whether" in browser.text


async def test_health_is_red_for_what_ended_badly_until_it_was_seen_to(console: Console) -> None:
    admin = console.store.admin
    await admin.execute("update outbound set state = 'ambiguous'")
    await admin.execute("update turns set state = 'poison'")
    last = await console.store.one("select id from turns order by started_at desc limit 1")
    async with console.browser(ANN) as browser:
        await browser.get("/console/health")
        assert (
            "needs attention may have arrived 2 sent, of which nobody knows whether they arrived see Deliveries"
            in browser.text
        )
        assert "needs attention turns set aside 2 since this time yesterday" in browser.text
        assert f"bin/onevalet trace {last}" in browser.text
        await admin.execute("update outbound set state = 'ready', resolution = 'dropped'")
        await admin.execute("update outbound set created_at = now() - interval '3 minutes'")
        await admin.execute("update turns set started_at = now() - interval '2 days'")
        await browser.get("/console/health")
        assert "needs attention sending the oldest answer has waited to be sent for 3 min see whether" in browser.text
        assert "may have arrived 2" not in browser.text
        assert "turns set aside" not in browser.text


async def _next(content: aiohttp.StreamReader) -> bytes:
    while not (line := await content.readline()).startswith(b"event:"):
        pass
    return bytes(line)


async def test_how_old_something_is_goes_by_the_clock_that_dated_it(console: Console) -> None:
    await question(console, ANN)
    await console.store.say("anybody there?", sender=BOB)
    async with console.browser(ANN) as browser:
        await browser.get("/console")
        assert "The assistant's clock" not in browser.text
        console.clock.later = timedelta(hours=2)
        for page in ("conversations", "search?q=dentist", "waiting", "people", "health"):
            await browser.get(f"/console/{page}")
            assert "The assistant's clock is 2 h ahead of this machine's" in browser.text, page
            assert browser.text.count("2 h") == 1, f"{page}: {browser.text}"
            assert re.findall(r"\b\d+ (?:s|min)\b", browser.text), page
        await ask(console, ANN)
        await browser.get("/console/waiting")
        assert browser.text.count("2 h") == 2, "a card was dated by the clock that was moved since"


async def test_the_bar_counts_what_is_open_on_its_pages(console: Console) -> None:
    async with console.browser(ANN) as ann, console.browser(BOB) as bob:
        for browser in (ann, bob):
            await browser.get("/console")
            assert "open:" not in browser.text
        await ask(console, BOB)
        await console.store.db.outbound.change({"state": "failed"}, text="Noted.")
        await ann.get("/console/people")
        assert "Waiting , open: 1" in ann.text
        assert "Deliveries , open: 1" in ann.text
        await bob.get("/console/conversations")
        assert "Waiting , open: 1" in bob.text
        assert "Deliveries , open: 1" in bob.text
        await console.store.db.tenants.change({"role": "member"})
        await ann.get("/console/people")
        assert "open:" not in ann.text, "a member counts their own"


async def test_a_turn_begins_with_what_was_said_and_nests_its_steps(console: Console) -> None:
    store = console.store
    await store.say("Remind me to lock up", sender=ANN)
    lease, turn = await store.claim_turn()
    call = ToolCall("c1", "remind_me", json.dumps({"about": "lock up"}))
    asked = ChatMessage(Role.ASSISTANT, "", (call,)).to_json()
    await take_step(store, lease, turn.turn_id, "model", "gpt-5", 0, asked)
    within = "0.1/remind_me"
    await take_step(store, lease, turn.turn_id, "agent", "remind_me", 1, {"text": "Task 1."}, within)
    await take_step(store, lease, turn.turn_id, "tool", "remind_me", 1, {"text": "Task 1."})
    await store.finish(lease, turn, "It is task 1.")
    await store.send(await store.claim_sending("It is task 1."))
    async with console.browser(ANN) as browser:
        await browser.get(f"/console/turns/{turn.turn_id}")
        places = [browser.text.index(part) for part in ("Remind me to lock up", "It is task 1.", "State", "Received")]
        assert places == sorted(places), "question, answer, figures, steps"
        steps = re.findall(r'<li class="span ([^"]*)">.*?<span class="name">(.*?)</span>', browser.page, re.DOTALL)
        names = [(name.strip(), "depth-1" in kind) for kind, name in steps]
        assert ("remind_me", False) in names
        assert names[names.index(("remind_me", False)) + 1] == ("remind_me at work", True)
