"""The page in headless Chromium: a person types, presses and reads; failures are shown as failures."""

import json

import aiohttp
import pytest

from tests.page.chromium import NARROW, Page
from tests.page.gateway import ScriptedGateway
from tests.page.talk import FIELDS, ask, said, talk_in_every_pane
from workbench.simulator.app import Simulator
from workbench.simulator.config import SimulatorConfig
from workbench.simulator.twilio.segments import count_segments, price_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300, func_only=True), pytest.mark.xdist_group("dev")]

STICKING_OUT = """[...document.querySelectorAll('.pane *')]
    .filter((one) => one.offsetParent && !one.closest('.hidden') && one.getBoundingClientRect().right > innerWidth + 1)
    .map((one) => one.className)"""
MARKDOWN = """# Top

**bold** _it_ ~~gone~~ `a*b*c` [x](https://e.example)

- one
  - two
- three
  four

```
<raw>
```

| a | b |
|---|---|
| 1 | 2 |

a &lt;!here\\> \\<b `x &lt; y`"""
HOSTILE = "<img src=x onerror=alert(1)> [a](javascript:alert(1)) <javascript:alert(1)|b> **<b>c</b>**"
HELD_STATE = """
const released = new Promise((resolve) => { window.release = resolve; });
const direct = window.fetch;
window.fetch = async (url, options) => {
  if (String(url).endsWith("/sim/state")) await released;
  return direct(url, options);
};
"""
"""JavaScript that keeps what was said from the page until it calls `release()`."""
OFFERED = (
    "[...document.querySelectorAll('.telegram .big, .telegram .composer')]"
    ".filter((one) => one.checkVisibility()).map((one) => one.className)"
)


async def test_a_person_types_into_each_pane_and_reads_the_answer(page: Page, simulator: Simulator) -> None:
    await talk_in_every_pane(page, simulator.url, "What is on?", "You said: What is on?")
    await page.until("document.querySelector('.phone .theirs .tick').innerText.includes('delivered')")
    await page.until("document.querySelector('.telegram .mine .tick .icon-done')")


async def test_a_slack_card_is_edited_in_a_modal_with_errors_and_then_approved(
    page: Page, simulator: Simulator
) -> None:
    await page.goto(simulator.url)
    await ask(page, "slack", "a card please")
    await page.click(".slack button.element", "Edit")
    await page.until("document.activeElement.value === 'Lunch at 1pm'")
    await page.evaluate("document.activeElement.select()")
    await page.type(".modal input", "no")
    await page.until("document.querySelector('.field-error').innerText === 'Say a little more.'")
    assert await page.evaluate("document.querySelector('.modal input').value") == "no"
    await page.evaluate("document.querySelector('.modal input').select()")
    await page.type(".modal input", "Dinner at 7pm")
    await page.until("document.querySelector('.modal-layer').hidden")
    await page.click(".slack button.element", "Approve")
    await page.until(f"{said('slack')}.some((one) => one.includes('Approved. The email is on its way.'))")
    assert not await page.evaluate("document.querySelector('.slack .messages button.element')")


async def test_threads_stream_commands_answer_in_private_and_home_opens(
    page: Page, simulator: Simulator, gateway: ScriptedGateway
) -> None:
    await page.goto(simulator.url)
    await ask(page, "slack", "hello")
    await page.use(".slack .theirs", "", "Reply")
    await page.type("textarea[name=slack-thread]", "Am I free?")
    await page.until(
        "document.querySelector('.thread .status-line')?.innerText.includes('is looking at your calendar')"
    )
    gateway.status_seen.set()
    await page.until("document.querySelector('.thread').innerText.includes('you are free all afternoon.')")
    strong = "[...document.querySelectorAll('.thread .prose strong')].map((one) => one.innerText)"
    assert "free" in await page.evaluate(strong)
    await page.press("Escape")
    await page.until("document.querySelector('.slack .replies').innerText === '2 replies'")
    await page.type(FIELDS["slack"], "/valet stop")
    await page.until("document.querySelector('.is-ephemeral').innerText.includes('Only visible to you')")
    await page.type(FIELDS["slack"], "/nothing")
    await page.until("document.querySelector('.slack .problem').innerText.includes('not a valid command')")
    await page.click(".slack [role=tab]", "Home")
    await page.until("document.querySelector('.home').innerText.includes('Good evening, Ada')")


async def test_a_telegram_key_is_pressed_and_its_message_redrawn_as_edited(page: Page, simulator: Simulator) -> None:
    await page.goto(simulator.url)
    await page.click(".telegram .big", "START")
    await ask(page, "telegram", "a card please")
    await page.click(".keyboard button", "Approve")
    await page.until("document.querySelector('.toast')?.innerText === 'Decided.'")
    await page.until(f"{said('telegram')}.some((one) => /Approved[^]*edited/.test(one))")
    await ask(page, "telegram", "a question please")
    await page.until("document.querySelector('.telegram .replying').innerText.includes('a question please')")
    assert await page.evaluate("document.querySelector('.telegram textarea').placeholder") == "Your answer"
    await ask(page, "telegram", "at 3pm")
    await page.until("[...document.querySelectorAll('.telegram .mine .quoted')].at(-1)?.innerText.includes('question')")
    assert await page.evaluate("document.querySelector('.telegram .replying').hidden")
    await page.click(".telegram .menu summary")
    await page.click(".telegram .menu button", "Block the bot")
    await page.click(".telegram .big", "UNBLOCK")
    await page.until("document.querySelector('.telegram .composer').offsetParent")


async def test_what_the_gateway_refuses_is_shown_as_failed(
    page: Page, simulator: Simulator, gateway: ScriptedGateway
) -> None:
    await page.goto(simulator.url)
    await page.click(".telegram .big", "START")
    await ask(page, "slack", "a card please")
    await page.until("document.querySelector('.slack .messages button.element')")
    gateway.refuses = True
    for pane in FIELDS:
        await ask(page, pane, "Does anybody hear this?")
    await page.until("document.querySelector('.phone .is-bad')?.innerText.includes('webhook failed: 503')")
    await page.until("document.querySelector('.slack .trouble')?.innerText.includes('Not taken by the gateway')")
    await page.until("document.querySelector('.telegram .strip').innerText.includes('503')")
    await page.click(".slack button.element", "Approve")
    await page.until("document.querySelector('.toast')?.innerText.includes('did not respond')")


async def test_a_phone_that_is_off_and_a_fault_show_their_reasons(page: Page, simulator: Simulator) -> None:
    await page.goto(simulator.url)
    await page.evaluate(
        "(() => { const one = document.querySelector('.phone select');"
        " one.value = 'off'; one.dispatchEvent(new Event('change')); })()"
    )
    await page.until("document.querySelector('.phone .number').innerText.includes('30003')")
    await ask(page, "phone", "Are you there?")
    await page.until("document.querySelector('.phone .theirs .is-bad')?.innerText.includes('undelivered (30003')")
    await page.click("#open-faults")
    await page.click("#faults .primary")
    await page.until("document.querySelector('#fault-count').innerText === '1'")
    await page.press("Escape")
    await page.click(".phone .words button", "HELP")
    await ask(page, "phone", "This answer meets the fault")
    await page.until("document.querySelector('#fault-count').hidden")
    await page.until("document.querySelector('.exchange .is-bad')?.innerText.includes('429')")


async def test_a_bubbles_wire_shows_the_signed_request_and_its_answer(page: Page, simulator: Simulator) -> None:
    await talk_in_every_pane(page, simulator.url, "Show me the wire", "wire")
    proofs = {
        "phone": ("SMS", "X-Twilio-Signature"),
        "slack": ("Slack", "X-Slack-Signature"),
        "telegram": ("Telegram", "X-Telegram-Bot-Api-Secret-Token"),
    }
    for pane, (name, proof) in proofs.items():
        await page.click(f".{pane} .mine .said", "Show me the wire")
        await page.until(f"document.querySelector('.what').innerText.includes('about this {name}')")
        await page.until(f"document.querySelector('.exchange[open]').innerText.includes({proof!r})")
        await page.until("document.querySelector('.exchange[open]').innerText.includes('Show me the wire')")
    await page.click(".wire header button", "Newest")
    await page.until("document.querySelectorAll('.exchange').length > 5")


async def test_a_long_poll_is_about_every_message_that_it_brought(page: Page, simulator: Simulator) -> None:
    token = simulator.wire.config.telegram.bot_token
    bot = f"{simulator.telegram_url}/bot{token}"
    await page.goto(simulator.url)
    async with aiohttp.ClientSession() as http:
        await (await http.post(f"{bot}/deleteWebhook")).read()
        await page.click(".telegram .big", "START")
        await ask(page, "telegram", "Fetch me")
        await page.until("document.querySelector('.telegram .mine:last-child .icon-waiting')")
        await page.click(".telegram .mine .said", "Fetch me")
        await page.until("document.querySelector('.wire .empty').innerText.startsWith('Nothing went over')")
        await (await http.post(f"{bot}/getUpdates")).read()
    await page.until("document.querySelector('.exchange[open]').innerText.includes('Fetch me')")


async def test_hostile_text_stays_text_everywhere(page: Page, simulator: Simulator) -> None:
    await page.goto(simulator.url)
    await page.click(".telegram .big", "START")
    for pane in FIELDS:
        await ask(page, pane, HOSTILE)
        await page.until(f"{said(pane)}.some((one) => one.includes('<img src=x onerror=alert(1)>'))")
    script = (
        "import('/page/markdown.js')"
        ".then(({ markdown, mrkdwn }) => [markdown, mrkdwn].map((make) => make(%s).outerHTML))"
    )
    drawn = await page.evaluate(script % json.dumps(HOSTILE))
    assert all("<img" not in markup and "href" not in markup for markup in drawn), drawn
    assert not await page.evaluate("document.querySelector('.bubble img')")


async def test_markdown_is_drawn(page: Page, simulator: Simulator) -> None:
    await page.goto(simulator.url)
    source = MARKDOWN
    script = "import('/page/markdown.js').then(({ %s }) => %s(%s).innerHTML)"
    drawn = await page.evaluate(script % ("markdown", "markdown", json.dumps(source)))
    for part in (
        *("<h4>Top</h4>", "<strong>bold</strong>", "<em>it</em>", "<s>gone</s>", "<code>a*b*c</code>"),
        *(
            "<li>one<ul><li>two</li></ul></li><li>three\nfour</li>",
            "<pre>&lt;raw&gt;</pre>",
            'href="https://e.example"',
        ),
        *("<th>a</th>", "<td>2</td>", "<p>a &lt;!here&gt; &lt;b <code>x &lt; y</code></p>"),
    ):
        assert part in drawn, part
    source = "*bold* _it_ ~gone~ 2*3*4 <https://e.example?a=1&amp;b=2|there> <@U1>\n&gt; said\n```x &lt; y```"
    drawn = await page.evaluate(script % ("mrkdwn", "mrkdwn", json.dumps(source)))
    for part in (
        *("<strong>bold</strong>", "<em>it</em>", "<s>gone</s>", "2*3*4", 'href="https://e.example?a=1&amp;b=2"'),
        *(">there</a>", "@U1", "<blockquote>said</blockquote>", "<pre>x &lt; y</pre>"),
    ):
        assert part in drawn, part


async def test_segments_and_price_are_counted_as_the_carrier_does(page: Page, simulator: Simulator) -> None:
    await page.goto(simulator.url)
    texts = [
        "",
        "a",
        "a" * 160,
        "a" * 161,
        "€" * 80,
        "€" * 81,
        "é" * 400,
        "ж" * 70,
        "ж" * 71,
        "🎉" * 35,
        "🎉" * 36,
        "ab🎉" * 90,
    ]
    script = (
        "import('/page/segments.js').then(({ countSegments, price }) => %s.map((text) => "
        "{ const { encoding, units, segments } = countSegments(text);"
        " return [encoding, units, segments, price(segments, false)]; }))"
    )
    counted = await page.evaluate(script % json.dumps(texts))
    for text, theirs in zip(texts, counted, strict=True):
        ours = count_segments(text)
        price = price_of(ours.count, inbound=True, media=0)
        assert theirs == [ours.encoding, ours.units, ours.count, f"{price:.4f}"], text
    await page.type(FIELDS["phone"], "Grüße ж", send=False)
    await page.until("document.querySelector('.counter').innerText.startsWith('UCS-2 because of ж')")


async def test_people_are_apart_and_shift_enter_begins_a_line(page: Page, simulator: Simulator) -> None:
    await page.goto(simulator.url)
    await page.type(FIELDS["phone"], "one", send=False)
    await page.press("Enter", shift=True)
    await page.type(FIELDS["phone"], "two")
    await page.until("document.querySelector('.phone .mine .said').innerText === 'one\\ntwo'")
    await page.click(".people label", "Grace")
    await page.until("!document.querySelector('.phone .mine')")
    await page.click(".phone .words button", "STOP")
    await page.until("document.querySelector('.phone .strip').offsetParent")
    await page.click(".people label", "Ada")
    await page.until("document.querySelector('.phone .mine .said').innerText === 'one\\ntwo'")
    assert not await page.evaluate("document.querySelector('.phone .strip').offsetParent")


async def test_a_phones_width_shows_one_pane_at_a_time_and_nothing_sticks_out(page: Page, simulator: Simulator) -> None:
    await page.resize(NARROW)
    await page.goto(simulator.url)
    for pane in FIELDS:
        await page.click(".tabs button", pane.capitalize())
        if pane == "telegram":
            await page.click(".telegram .big", "START")
        await ask(page, pane, "a card please" if pane == "slack" else "unbroken" * 40)
        await page.until(f"{said(pane)}.length")
        await page.click(f".{pane} .mine .said")
        await page.until("document.querySelector('.wire').dataset.open === 'true'")
        assert (
            await page.evaluate("[...document.querySelectorAll('.pane')].filter((one) => one.offsetParent).length") == 1
        )
        assert await page.evaluate("document.documentElement.scrollWidth") <= NARROW[0]
        assert await page.evaluate(STICKING_OUT) == []


async def test_nothing_is_offered_that_was_done_before(page: Page, simulator: Simulator) -> None:
    await page.goto(simulator.url)
    await page.click(".telegram .big", "START")
    await page.until(f"{said('telegram')}.length")
    await page.prepare(HELD_STATE)
    await page.visit(simulator.url + "/?again")
    await page.until("document.querySelector('#live').dataset.state === 'live'")
    assert await page.evaluate("document.querySelector('#main').ariaBusy") == "true"
    assert await page.evaluate(OFFERED) == []
    await page.evaluate("release()")
    await page.until(f"{said('telegram')}.length")
    assert await page.evaluate(OFFERED) == ["composer"]


async def test_the_page_comes_back_with_the_simulator(page: Page, gateway: ScriptedGateway) -> None:
    async with gateway.running(SimulatorConfig(pace=0.05)) as first:
        await page.goto(first.url)
        await ask(page, "phone", "before")
        port = int(first.url.rsplit(":", 1)[1])
    await page.until("document.querySelector('#live').dataset.state === 'lost'")
    async with ScriptedGateway().running(SimulatorConfig(pace=0.05), port):
        await page.until("document.querySelector('#live').dataset.state === 'live'")
        await page.until("!document.querySelector('.phone .mine')")
        await ask(page, "phone", "after")
        await page.leave()
        page.problems = [problem for problem in page.problems if "ERR_" not in problem]


async def test_only_what_is_served_here_may_run_and_a_notice_is_shown(page: Page, simulator: Simulator) -> None:
    async with aiohttp.ClientSession() as http:
        for path in ("/", "/page/app.js", "/page/base.css", "/page/commands.md"):
            async with http.get(simulator.url + path) as answer:
                policy = answer.headers["Content-Security-Policy"]
                assert answer.status == 200
                assert "default-src 'none'; script-src 'self';" in policy
                assert "unsafe" not in policy
                assert answer.headers["X-Content-Type-Options"] == "nosniff"
        async with http.get(simulator.url + "/page/app.js") as answer:
            assert answer.content_type in ("text/javascript", "application/javascript")
        async with http.get(simulator.url + "/page/../app.py") as answer:
            assert answer.status == 404
        async with http.get(simulator.url + "/sim/config") as answer:
            assert "telegram.sendMessage" in (await answer.json())["endpoints"]
        async with http.get(simulator.url + "/sim/journal?last=1") as answer:
            assert [call["endpoint"] for call in await answer.json()] == ["telegram.setWebhook"]
    simulator.control.notice = "The demo model answers."
    await page.goto(simulator.url)
    await page.until("document.querySelector('#notice').innerText === 'The demo model answers.'")
    await page.click("#open-help")
    await page.click("#commands summary")
    await page.until("document.querySelector('#commands').innerText.includes('bin/onevalet trace')")
