"""How the page looks at the widths of usual screens, light and dark, with scroll bars that take room."""

import pytest
from aiohttp import web

from channels.http.app import build_app, serve
from tests.page.chromium import Page
from tests.page.gateway import ScriptedGateway
from tests.page.looks import SCHEMES, flaws, shown
from tests.page.talk import FIELDS, ask, said
from workbench.simulator.app import Simulator

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300, func_only=True), pytest.mark.xdist_group("dev")]
SIZES = ((1920, 1080), (1440, 900), (1366, 768), (1024, 768), (390, 844))
BROKEN_WORDS = """[...document.querySelectorAll('.keyboard button, .actions button, .exchange b')].filter((one) => {
    if (!one.checkVisibility()) return false;
    const range = document.createRange();
    const lines = (node, from, to) => {
        range.setStart(node, from);
        range.setEnd(node, to);
        return range.getClientRects().length;
    };
    return [...one.childNodes].some((node) => node.nodeType === 3
        && [...node.data.matchAll(/\\S+/g)].some((w) => lines(node, w.index, w.index + w[0].length) > 1));
}).map((one) => one.innerText)"""
BROKEN_IN_ENTRIES = """[...document.querySelectorAll('#commands li, #commands td')].flatMap((one) => {
    const texts = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    const broken = [];
    while (texts.nextNode()) for (const word of texts.currentNode.data.matchAll(/[A-Za-z]+/g)) {
        range.setStart(texts.currentNode, word.index);
        range.setEnd(texts.currentNode, word.index + word[0].length);
        if (range.getClientRects().length > 1) broken.push(word[0]);
    }
    return broken;
})"""
ALONE = """[...document.querySelectorAll('.slack .actions')].filter((one) => one.checkVisibility()).some((one) => {
    const tops = [...one.children].map((child) => child.offsetTop);
    return tops.filter((top) => top === tops.at(-1)).length === 1 && tops.length > 1;
})"""
OVERLAPPING = """(() => {
    const range = document.createRange();
    const parts = [...document.querySelector('.wire header').children].filter((one) => one.checkVisibility());
    const said = parts.map((one) => {
        range.selectNodeContents(one);
        const { left, right, top, bottom } = range.getBoundingClientRect();
        return { left, right, top, bottom, text: one.innerText };
    });
    const lie = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    return said.flatMap((one, i) => said.slice(i + 1).filter((other) => lie(one, other)).map((other) => [one, other]));
})()"""
"""The parts of the header beside the chats whose words lie on each other."""
REACHED = """((field) => {
    const box = field.getBoundingClientRect();
    const whole = box.height > 30 && field.scrollHeight <= field.clientHeight + 1;
    const middle = box.left + box.width / 2;
    return whole && [0.1, 0.5, 0.9]
        .every((part) => document.elementFromPoint(middle, box.top + box.height * part) === field);
})(document.querySelector('FIELD'))"""
"""Whether a field shows a whole line, and nothing lies on it."""
COMMANDS = ("new", "help", "prefs", "profile", "memory", "pending", "snooze", "again", "unlink", "link", "stop")


@pytest.fixture
async def talk(page: Page, simulator: Simulator, gateway: ScriptedGateway) -> Page:
    """The page after a word in each pane, with cards and a long menu."""
    commands = [{"command": name, "description": f"What {name} does for you"} for name in COMMANDS]
    await gateway.telegram("setMyCommands", commands=commands)
    await page.goto(simulator.url)
    await page.click(".telegram .big", "START")
    for pane in ("phone", "slack", "telegram"):
        await ask(page, pane, "a card please")
        await page.until(f"{said(pane)}.length")
    return page


async def test_no_word_is_broken_and_no_button_stands_alone(talk: Page) -> None:
    for size in SIZES:
        await talk.resize(size)
        assert await talk.evaluate(BROKEN_WORDS) == [], size
        assert not await talk.evaluate(ALONE), size


async def test_an_empty_field_shows_no_scroll_bar(talk: Page) -> None:
    for size in SIZES:
        await talk.resize(size)
        scrolling = (
            "[...document.querySelectorAll('textarea')].filter((one) => one.scrollHeight > one.clientHeight + 1)"
        )
        assert await talk.evaluate(f"{scrolling}.map((one) => one.name)") == [], size
        assert await talk.evaluate(
            "[...document.querySelectorAll('textarea')].every((one) => getComputedStyle(one).overflowY === 'hidden')"
        )


async def test_telegrams_menu_is_whole_within_its_pane(talk: Page) -> None:
    for size in SIZES[:-1]:
        await talk.resize(size)
        await talk.evaluate("document.querySelector('.telegram .commands').open = true")
        cut = await talk.evaluate(
            "(() => { const pane = document.querySelector('.telegram').getBoundingClientRect();"
            " const box = document.querySelector('.commands ul').getBoundingClientRect();"
            " return [box.left < pane.left, box.right > pane.right, box.top < pane.top,"
            " document.querySelectorAll('.commands li').length]; })()"
        )
        assert cut == [False, False, False, len(COMMANDS)], size


async def test_on_a_phone_a_chat_begins_within_the_first_hundred_pixels(page: Page, simulator: Simulator) -> None:
    simulator.control.notice = "The demo model answers."
    await page.resize(SIZES[-1])
    await page.goto(simulator.url)
    assert await page.evaluate("document.querySelector('.pane.phone').getBoundingClientRect().top") < 100


async def test_a_chosen_messages_header_lies_on_nothing_and_covers_no_field(talk: Page) -> None:
    # With the assistant at hand it has three tabs.
    await talk.evaluate(
        "document.querySelector('.wire-tabs').hidden = !(document.querySelector('.wire h2').hidden = true)"
    )
    for size in SIZES:
        await talk.resize(size)
        for number, (pane, field) in enumerate(FIELDS.items(), 1):
            if size == SIZES[-1]:
                await talk.click(f"#tabs button:nth-child({number})")
            await talk.click(f".{pane} .theirs .bubble")
            await talk.until("document.querySelector('.wire').classList.contains('has-chosen')")
            for tab in ("Path", "Wire", "Person"):
                await talk.click(".wire [role=tab]", tab)
                assert await talk.evaluate(OVERLAPPING) == [], (size, pane, tab)
                assert await talk.evaluate(REACHED.replace("FIELD", field)), (size, pane, tab)
    talk.problems.clear()  # nobody answers for the assistant's path here


async def test_on_a_phone_an_empty_chat_keeps_its_field_beside_a_tall_wire(page: Page, simulator: Simulator) -> None:
    await page.goto(simulator.url)
    await page.resize(SIZES[-1])
    await page.click(".wire-toggle")
    await page.evaluate("document.querySelector('.wire-body').style.minHeight = '900px'")
    for number, pane in enumerate(("phone", "slack"), 1):
        await page.click(f"#tabs button:nth-child({number})")
        await page.until(f"document.querySelector('.{pane} .prompts-here')?.checkVisibility()")
        assert await page.evaluate(REACHED.replace("FIELD", FIELDS[pane])), pane


async def test_the_steps_to_a_real_number_fit(page: Page, simulator: Simulator) -> None:
    await page.visit(f"{simulator.url}/page/first-hour")
    assert await flaws(page) == []


async def test_where_there_is_no_page_of_either_server_a_person_is_led_back(page: Page, simulator: Simulator) -> None:
    async def to_simulator(_: web.Request) -> web.Response:
        raise web.HTTPFound(simulator.url)

    app = build_app([], ready=_ready, extra_routes=[web.get("/", to_simulator)])
    async with serve(app, "127.0.0.1", 0) as port:
        for server, back in ((simulator.url, "Back to the simulator"), (f"http://127.0.0.1:{port}", "To the front")):
            await page.visit(f"{server}/nowhere")
            assert "There is no page at this address." in await shown(page)
            assert await flaws(page) == []
            await page.click("main a", back)
            await page.until(f"location.origin === {simulator.url!r} && document.querySelector('#live')")
    page.problems.clear()  # Chromium calls each 404 an error


async def _ready() -> bool:
    return True


async def test_no_word_of_a_command_is_broken(page: Page, simulator: Simulator) -> None:
    await page.goto(simulator.url)
    await page.click("#open-help")
    await page.click("#commands summary")
    await page.until("document.querySelectorAll('#commands li').length > 20")
    assert not await page.evaluate("document.querySelectorAll('#commands li p').length"), "a wrapped entry is torn"
    for size in (SIZES[1], SIZES[-1]):
        await page.resize(size)
        assert await page.evaluate(BROKEN_IN_ENTRIES) == [], size


async def test_axe_finds_nothing_serious_light_and_dark(talk: Page) -> None:
    assert await flaws(talk) == []
    await talk.evaluate("document.querySelector('#help').showModal()")
    for scheme in SCHEMES:
        await talk.colours(scheme)
        assert await flaws(talk) == []
