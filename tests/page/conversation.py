"""`python -m tests.page.conversation FOLDER [LANGUAGE …]`: fifty messages in two languages, with a restart between.

Writes a screenshot after every few messages and all that was said to `said.txt`, for a person to look at. Each language
has half of the messages, its own script, and a `dev` started anew on the same home: German and Spanish unless others
are named.
"""

import asyncio
import json
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.page.chromium import Browser, Page, open_page, running_browser
from tests.page.scripts import PRESS, SCRIPTS
from tests.page.talk import FIELDS, ask, begin, said
from tests.running_dev import running_dev

SIZE = (1440, 1400)
EACH = 3
"""Messages between two screenshots."""
BUTTONS = {"slack": ".slack button.element", "telegram": ".telegram .keyboard button"}


def main(folder: Path, languages: Sequence[str]) -> None:
    """Talk in each language in turn; between two, `dev` is started again on the same home."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "said.txt").write_text("")
    with running_browser() as browser:
        for language in languages:
            with running_dev(folder / "home", signal.SIGINT) as dev:
                asyncio.run(_talk(browser, dev.simulator_url, folder, language))


async def _talk(browser: Browser, url: str, folder: Path, language: str) -> None:
    script = SCRIPTS[language]
    async with open_page(browser) as page:
        await page.resize(SIZE)
        await page.goto(url)
        await begin(page)
        await _quiet(page)
        for number, (pane, text) in enumerate(script, 1):
            before = len(await page.evaluate(said(pane)))
            text = await _with_code(page, pane, text)
            if text.startswith(PRESS):
                await page.click(BUTTONS[pane], text.removeprefix(PRESS))
            else:
                await ask(page, pane, text)
                await page.until(f"{said(pane)}.length > {before}")
            await _quiet(page)
            answers = (await page.evaluate(said(pane)))[before:]
            with (folder / "said.txt").open("a") as file:
                file.write(f"\n{language} {number} {pane}> {text}\n" + "\n".join(answers) + "\n")
            if number % EACH == 0 or number == len(script):
                await page.screenshot(folder / f"{language}-{number:02}.png")
        everything = {name: await page.evaluate(said(name)) for name in FIELDS}
        (folder / f"{language}.json").write_text(json.dumps(everything, ensure_ascii=False, indent=1))
        await page.leave()


async def _with_code(page: Page, pane: str, text: str) -> str:
    """Fill in the code of the newest card in a pane."""
    if "{code}" not in text:
        return text
    codes = f"{said(pane)}.flatMap((one) => one.match(/\\b[2-9][A-Z][0-9A-Z]?(?=[:：])/g) ?? [])"
    return text.format(code=(await page.evaluate(codes))[-1])


async def _quiet(page: Page) -> None:
    """Wait until nothing is being written, and nothing more has come for two seconds."""
    count = "document.querySelectorAll('.theirs .bubble').length"
    while True:
        await page.until("!document.querySelector('.is-draft')")
        seen = await page.evaluate(count)
        await asyncio.sleep(2)
        if seen == await page.evaluate(count):
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or ["de", "es"])
