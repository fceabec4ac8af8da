"""`python -m tests.page.files FOLDER`: send each kind of file on each channel and take a picture of each, to look at.

A `dev` that starts from nothing, and a scripted model on the wire that says what it was shown.
"""

import asyncio
import base64
import re
import signal
import sys
import tempfile
from contextlib import AsyncExitStack
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageDraw

from tests.abilities.documents import samples
from tests.forker import Forker
from tests.page.chromium import Browser, Page, open_page, running_browser
from tests.page.talk import FIELDS, said
from tests.running_dev import running_dev
from tests.scripted_model import ModelCall, Reply, ScriptedModel, calls, text, text_of

SIZE = (1440, 1000)
DRAW = "Draw a chart"
_SHOWN = re.compile(r"sent a file: \w+, (?P<what>[^\]\n]+?)\.[ \]]")
_LINE = re.compile(r"^> (?!Name: |---)(.*\w.*)$", re.MULTILINE)


def main(folder: Path) -> None:
    """Send all of them and keep the pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home, running_browser() as browser, Forker() as forker:
        asyncio.run(_send_all(browser, forker, Path(home), folder))


async def _send_all(browser: Browser, forker: Forker, home: Path, folder: Path) -> None:
    files = home / "sent"
    files.mkdir()
    for name, data in kinds().items():
        (files / name).write_bytes(data)
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(ScriptedModel(tells, heard="When does the ferry leave?"))
        settings = {
            "ONEVALET_MODEL": "openai/scripted",
            "ONEVALET_VISION_MODEL": "openai/scripted",
            "ONEVALET_TRANSCRIPTION_MODEL": "openai/scripted",
            "OPENAI_API_BASE": model.url,
            "OPENAI_API_KEY": "sk-scripted",
            "ONEVALET_PLUGINS": "agents,tests.plugins.drawings",
        }
        # It starts a process and waits for its first lines.
        dev = await asyncio.to_thread(stack.enter_context, running_dev(forker, home / "dev", signal.SIGINT, settings))
        page = await stack.enter_async_context(open_page(browser))
        await page.resize(SIZE)
        await page.goto(dev.simulator_url)
        await page.click(".telegram .big", "START")
        await page.until(f"{said('telegram')}.length > 0")
        for pane in FIELDS:
            for name in kinds():
                await _send(page, pane, files / name)
                await page.screenshot(folder / f"{pane}-{name.rpartition('.')[2]}.png", f".{pane}")
            await page.type(FIELDS[pane], DRAW)
            await page.until(f"document.querySelectorAll('.{pane} .theirs :is(.file, .picture)').length > 1")
            await page.until(f"!document.querySelector('.{pane} .messages').innerText.includes('◷')")
            await page.screenshot(folder / f"{pane}-sent-back.png", f".{pane}")
        before = len(await page.evaluate(said("telegram")))
        await page.click(".telegram summary[aria-label='Send a location']")
        await page.type(".place input[name=place-name]", "Buckingham Palace", send=False)
        await page.type(".place input[name=place-address]", "London SW1A 1AA")
        await _answered(page, "telegram", before)
        await page.screenshot(folder / "telegram-location.png", ".telegram")
        await page.leave()


async def _send(page: Page, pane: str, file: Path) -> None:
    before = len(await page.evaluate(said(pane)))
    await page.drag(f".{pane} .messages", file)
    if file.suffix == ".wav":
        await page.until(f"!document.querySelector('.{pane} .chosen-file').hidden")
        await page.press("Enter")  # a voice note comes without words
    else:
        await page.type(FIELDS[pane], f"What is in {file.name}?")
    await _answered(page, pane, before)


async def _answered(page: Page, pane: str, before: int) -> None:
    """Wait until there is a new answer, which is whole and has arrived."""
    await page.until(f"{said(pane)}.length > {before} && !document.querySelector('.is-draft')")
    await page.until(f"!document.querySelector('.{pane} .messages').innerText.includes('◷')")


def kinds() -> dict[str, bytes]:
    """Return a file of each kind, by name."""
    pages = [f"Page {number} of the lease. The rent is {800 + number}." for number in range(1, 81)]
    return {
        "harbour.jpg": harbour(),
        "iphone.heic": samples.heic(),
        "lease.pdf": samples.pdf(pages),
        "letter.docx": samples.docx("Dear Ada,", "the ferry leaves at nine."),
        "budget.xlsx": samples.xlsx([["Tea", 3], ["Milk", 1]]),
        "prices.csv": b"item,price\ntea,3\nmilk,1\n",
        "voice.wav": samples.silence(),
    }


def harbour(width: int = 1200, height: int = 800) -> bytes:
    """Return a photo: a boat on the sea at sunset."""
    image = Image.merge(
        "RGB",
        [
            Image.linear_gradient("L").resize((width, height)).point(tone)
            for tone in (lambda value: 255 - value // 4, lambda value: 190 - value // 3, lambda value: 90 + value // 3)
        ],
    )
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, height * 2 // 3, width, height), fill=(30, 70, 110))
    draw.ellipse((width // 2 - 70, height // 2 - 20, width // 2 + 70, height // 2 + 120), fill=(255, 220, 120))
    draw.rectangle((0, height * 2 // 3, width, height), fill=(30, 70, 110))
    draw.polygon([(300, 560), (620, 560), (560, 640), (360, 640)], fill=(90, 50, 30))
    draw.polygon([(450, 300), (450, 545), (600, 545)], fill=(245, 240, 230))
    out = BytesIO()
    image.save(out, "JPEG", quality=88)
    return out.getvalue()


def tells(call: ModelCall) -> Reply:
    """Say what was shown: a picture by its size, a document by its first line."""
    if call.new_user_texts and call.new_user_texts[-1] == DRAW:
        return calls(("draw_chart", {}))
    if call.messages[-1].get("role") == "tool":
        return text("Here is the chart, and the numbers.")
    newest = [message for message in call.messages if message.get("role") == "user"]
    pictures = [part for message in newest for part in _parts(message.get("content")) if "image_url" in part]
    if pictures:  # no later turn has them
        with Image.open(BytesIO(base64.b64decode(pictures[-1]["image_url"]["url"].partition(",")[2]))) as image:
            return text(f"I see a picture of {image.width} × {image.height} pixels.")
    for words in reversed([text_of(message) for message in newest]):
        if (kind := _SHOWN.search(words)) and (line := _LINE.search(words)):
            return text(f"I have read {kind['what']}. It begins: “{line[1]}”")
    return text("You said: " + [words for words in call.new_user_texts if not words.startswith("[")][-1])


def _parts(content: object) -> list[dict[str, dict[str, str]]]:
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


if __name__ == "__main__":
    main(Path(sys.argv[1]))
