"""Files in the page, in headless Chromium: chosen, dropped, refused, and shown in the person's own bubble."""

from pathlib import Path

import aiohttp
import pytest

from tests.abilities.documents import samples
from tests.page.chromium import Page
from tests.page.talk import FIELDS
from workbench.simulator.app import Simulator

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300, func_only=True), pytest.mark.xdist_group("dev")]

PROVIDERS = {"phone": "twilio", "slack": "slack", "telegram": "telegram"}
REFUSING = """(() => { const real = fetch; globalThis.fetch = async (path, more) => path.endsWith("/say")
    ? new Response('{"error": "Not now."}', { status: 500 }) : real(path, more); })()"""
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a file of each kind."""
    folder = tmp_path_factory.mktemp("files")
    files = {
        "flag.jpg": samples.picture(),
        "iphone.heic": samples.heic(),
        "lease.pdf": samples.pdf(["The rent is 900."]),
        "letter.docx": samples.docx("Dear Ada"),
        "prices.csv": b"tea,3\nmilk,1\n",
        "memo.wav": samples.silence(),
        "page.html": b"<script>alert(1)</script>",
        "empty.txt": b"",
        "huge.bin": bytes(6 * 1024 * 1024),
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


KINDS = {
    "flag.jpg": "image/jpeg",
    "iphone.heic": "image/hei",
    "lease.pdf": "application/pdf",
    "letter.docx": DOCX,
    "prices.csv": "text/csv",
    "memo.wav": "audio/",
}


@pytest.mark.parametrize("pane", FIELDS)
async def test_each_kind_is_dropped_sent_shown_and_can_be_opened(
    page: Page, simulator: Simulator, folder: Path, pane: str
) -> None:
    await page.goto(simulator.url)
    if pane == "telegram":
        await page.click(".telegram .big", "START")
    await page.until(f"document.querySelector('.{pane} .composer').checkVisibility()")
    newest = f"[...document.querySelectorAll('.{pane} .mine .bubble')].at(-1)"
    async with aiohttp.ClientSession() as http:
        for name, kind in KINDS.items():
            await page.drag(f".{pane} .messages", folder / name)
            await page.until(f"document.querySelector('.{pane} .chosen-file').innerText.includes({name!r})")
            await page.type(FIELDS[pane], f"Here is {name}")
            await page.until(f"{newest}?.innerText.includes('Here is {name}')")
            link = f"{newest}.querySelector('a[href*=\"/sim/files/{PROVIDERS[pane]}/\"]')"
            async with http.get(await page.evaluate(f"{link}.href")) as answer:
                assert await answer.read() == (folder / name).read_bytes()
                assert answer.headers["X-Content-Type-Options"] == "nosniff"
            await page.until(f"document.querySelector('.{pane} .chosen-file').hidden")
            assert kind in str(simulator.providers[PROVIDERS[pane]].state()), name
            if name == "flag.jpg":
                await page.until(f"{newest}.querySelector('img').naturalWidth === 64")
                assert await page.evaluate(f"{newest}.querySelector('img').alt") == "Picture: flag.jpg"
            elif name == "memo.wav":
                await page.until(f"{newest}.querySelector('audio').duration === 0.5")
            else:
                assert await page.evaluate(f"{link}.innerText.includes({name!r})")


async def test_what_comes_under_the_pointer_takes_the_file_as_well(page: Page, simulator: Simulator) -> None:
    """A browser asks what it enters, a new bubble say; where nothing takes the file, it opens the file instead."""
    await page.goto(simulator.url)
    for selector in (".phone .messages", ".slack .messages", ".wire"):
        taken = await page.evaluate(
            "(() => { const carried = new DataTransfer(); carried.items.add(new File(['tea'], 'prices.csv'));"
            " const entered = new DragEvent('dragenter', { bubbles: true, cancelable: true, dataTransfer: carried });"
            f" return !document.querySelector({selector!r}).dispatchEvent(entered); }})()"
        )
        assert taken, selector


async def test_a_file_is_attached_by_keyboard_and_may_be_left_out(
    page: Page, simulator: Simulator, folder: Path
) -> None:
    await page.goto(simulator.url)
    await page.click(".telegram .big", "START")
    button, chosen = ".telegram .attach", "document.querySelector('.telegram .chosen-file')"
    label = await page.evaluate(f"document.querySelector({button!r}).getAttribute('aria-label')")
    assert label == "Attach a file: Telegram message"
    for number in range(2):
        await page.attach(button, folder / "prices.csv")
        await page.until(f"{chosen}.innerText.startsWith('prices.csv, 13 B')")
        await page.until(f"document.activeElement.matches({FIELDS['telegram']!r})")
        await page.until("document.querySelector('#announcer').innerText.includes('prices.csv, 13 B')")
        if number == 0:
            await page.click(".telegram .chosen-file button")
            await page.until(f"{chosen}.hidden")
    await page.press("Enter")
    await page.until("document.querySelector('.telegram .mine .bubble .file')?.innerText.includes('Table, 13 B')")
    assert "undefined" not in await page.evaluate("document.querySelector('.telegram .mine .bubble').innerText")


async def test_what_cannot_be_sent_is_said_and_sends_nothing(page: Page, simulator: Simulator, folder: Path) -> None:
    await page.goto(simulator.url)
    said = "document.querySelector('.phone .problem').innerText"
    await page.drag(".phone .messages", folder / "huge.bin", drop=False)
    await page.until("document.querySelector('.phone .screen.is-dropping')")
    for names, sentence in (
        (["huge.bin"], "huge.bin has 6.0 MB: a text message carries at most 5.0 MB."),
        (["empty.txt"], "empty.txt is empty."),
        (["flag.jpg", "prices.csv"], "One file at a time goes with a message."),
    ):
        await page.drag(".phone .messages", *(folder / name for name in names))
        await page.until(f"{said} === {sentence!r}")
        assert not await page.evaluate("document.querySelector('.is-dropping')")
    assert await page.evaluate("document.querySelector('.phone .problem').getAttribute('role')") == "alert"
    await page.drag(".wire", folder / "flag.jpg")  # beside every chat: the page stays what it is
    await page.drag(".telegram .wall", folder / "flag.jpg")  # nobody has started the chat yet
    await page.type(FIELDS["phone"], "Only words")
    await page.until("document.querySelector('.phone .mine .said')?.innerText === 'Only words'")
    assert not await page.evaluate("document.querySelector('.file, .picture')")
    assert await page.evaluate("document.querySelector('.phone .problem').hidden")


async def test_a_refused_file_stays_attached_and_a_page_never_runs(
    page: Page, simulator: Simulator, folder: Path
) -> None:
    await page.goto(simulator.url)
    await page.evaluate(REFUSING)
    await page.drag(".slack .messages", folder / "page.html")
    await page.press("Enter")
    await page.until("document.querySelector('.slack .problem').innerText === 'Not now.'")
    assert await page.evaluate("document.querySelector('.slack .chosen-file').innerText.includes('page.html')")
    await page.goto(simulator.url)
    await page.drag(".slack .messages", folder / "page.html")
    await page.press("Enter")
    await page.until("document.querySelector('.slack .mine a.file')")
    url = await page.evaluate("document.querySelector('.slack .mine a.file').href")
    async with aiohttp.ClientSession() as http, http.get(url) as answer:
        assert answer.headers["Content-Disposition"] == "attachment; filename*=UTF-8''page.html"
        assert answer.content_type == "application/octet-stream"
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    async with aiohttp.ClientSession() as http, http.get(f"{simulator.url}/sim/files/slack/none") as answer:
        assert answer.status == 404


async def test_a_place_is_sent_from_its_form_and_leads_to_a_map(page: Page, simulator: Simulator) -> None:
    await page.goto(simulator.url)
    await page.click(".telegram .big", "START")
    await page.click(".telegram summary[aria-label='Send a location']")
    await page.evaluate("document.querySelector('.place input[name=latitude]').value = ''")
    await page.type(".place input[name=latitude]", "48.85837", send=False)
    await page.evaluate("document.querySelector('.place input[name=longitude]').value = ''")
    await page.type(".place input[name=longitude]", "2.29448", send=False)
    await page.type(".place input[name=place-name]", "Eiffel Tower")
    # A name needs an address: the browser says so, and goes there.
    await page.until("document.activeElement.name === 'place-address'")
    assert not await page.evaluate("document.querySelector('.telegram .mine .file')")
    await page.type(".place input[name=place-address]", "5 Av. A. France")
    await page.until("document.querySelector('.telegram .mine .bubble .file')?.innerText.includes('Eiffel Tower')")
    link = await page.evaluate("document.querySelector('.telegram .mine .bubble a.file').href")
    assert link.startswith("https://www.openstreetmap.org/?mlat=48.85837&mlon=2.29448")
    await page.until("!document.querySelector('.telegram .place').checkVisibility()")
