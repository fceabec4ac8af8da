"""`python -m tests.page.conversation FOLDER`: fifty messages on the page, in two languages, with a restart between.

Writes a screenshot after every few messages and all that was said to `said.txt`, for a person to look at.
"""

import asyncio
import json
import signal
import sys
from pathlib import Path

from tests.page.chromium import Page, open_page, running_browser
from tests.page.talk import FIELDS, ask, said
from tests.running_dev import running_dev

SIZE = (1440, 1400)
EACH = 3
"""Messages between two screenshots."""
PRESS = "PRESS "
"""A line of the script that presses a button of the pane's last card instead of writing."""
BUTTONS = {"slack": ".slack button.element", "telegram": ".telegram .keyboard button"}

ENGLISH = (
    ("phone", "Hi"),
    ("slack", "Hello there"),
    ("telegram", "What can you do?"),
    ("phone", "What's the weather in Lisbon?"),
    ("slack", "Remember that my sister is called Ottilie"),
    ("telegram", "What's my sister's name?"),
    ("phone", "Remind me in 5 minutes to call Grace"),
    ("phone", "UNDO"),
    ("slack", "Email sam@example.com that I am ten minutes late"),
    ("slack", f"{PRESS}Approve"),
    ("telegram", "Email ann@example.com that the report is done"),
    ("telegram", f"{PRESS}Cancel"),
    ("phone", "Email bob@example.com that lunch is at one"),
    ("phone", "OK"),
    ("phone", "OK 9Z"),
    ("slack", "What is 17.5% of 260?"),
    ("telegram", "/help"),
    ("phone", "HELP ME"),
    ("slack", "Every weekday at 7 tell me the weather in Berlin"),
    ("slack", f"{PRESS}Approve"),
    ("telegram", "What have I got scheduled?"),
    ("phone", "PENDING"),
    ("telegram", "/prefs"),
    ("phone", "What do you know about me?"),
    ("telegram", "/prefs language de"),
)
GERMAN = (
    ("phone", "Hallo"),
    ("slack", "Wie ist das Wetter in Hamburg?"),
    ("telegram", "Erinnere mich morgen um 9 Uhr an den Zahnarzt"),
    ("telegram", "UNDO"),
    ("phone", "Merk dir, dass ich dienstags rudere"),
    ("slack", "Was weißt du über mich?"),
    ("telegram", "Schreib eine E-Mail an sam@example.com, dass ich später komme"),
    ("telegram", f"{PRESS}Abbrechen"),
    ("slack", "Schreib eine E-Mail an ann@example.com, dass der Bericht fertig ist"),
    ("slack", f"{PRESS}Genehmigen"),
    ("phone", "Schreib eine E-Mail an bob@example.com, dass das Essen um eins ist"),
    ("phone", "NO"),
    ("phone", "OK 9Z"),
    ("telegram", "/help"),
    ("slack", "Was steht an?"),
    ("phone", "PENDING"),
    ("telegram", "/pending"),
    ("phone", "PREFS"),
    ("telegram", "/memory"),
    ("slack", "Jeden Werktag um 7 das Wetter in Berlin"),
    ("phone", "Vergiss, dass ich dienstags rudere"),
    ("phone", "OK"),
    ("slack", "Danke, das ist toll"),
    ("telegram", "Wie spät ist es?"),
    ("phone", "AGENTS"),
)


def main(folder: Path) -> None:
    """Talk, restart `dev` on the same home, talk on in German."""
    folder.mkdir(parents=True, exist_ok=True)
    transcript = folder / "said.txt"
    transcript.write_text("")
    with running_browser() as browser:
        for language, script in (("en", ENGLISH), ("de", GERMAN)):
            with running_dev(folder / "home", signal.SIGINT) as dev:
                asyncio.run(_talk(browser, dev.simulator_url, folder, language, script))


async def _talk(browser: str, url: str, folder: Path, language: str, script: tuple[tuple[str, str], ...]) -> None:
    async with open_page(browser) as page:
        await page.resize(SIZE)
        await page.goto(url)
        await page.until("document.querySelector('.telegram')?.offsetParent")
        if await page.evaluate("!!document.querySelector('.telegram .big')?.checkVisibility()"):
            await page.click(".telegram .big", "START")
            await _quiet(page)
        for number, (pane, text) in enumerate(script, 1):
            before = len(await page.evaluate(said(pane)))
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
    main(Path(sys.argv[1]))
