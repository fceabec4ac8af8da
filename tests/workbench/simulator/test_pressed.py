"""Each button of the page is pressed in Chromium: its words, or what else finds it, stand in a test of the page."""

import re
from pathlib import Path

PAGE = Path("workbench/simulator/page")
TESTS = Path("tests/page")
BY_SELECTOR = {
    "A guided minute": "#open-guide",
    "Begin the guided minute": "#guide-again button",
    "Delete ": "[aria-label='Delete Wrong sums']",
    "Demo model": "#open-model",
    "Faults": "#open-faults",
    "Help": "#open-help",
    "Leave ": ".chosen-file button",
    "Leave the guide": ".guide-close",
    "More": "#open-more",
    "Record your voice: ": ".voice",
    "Replay ": "[aria-label='Replay Wrong sums']",
    "Reset": "#reset",
    "Scenarios": "#open-scenarios",
    "Break it": "#open-breaking",
    "Try it, and keep it": "Try it",
    "Throw the recording away": ".recording button",
}
"""What finds those that are not found by their words."""
_IN_SCRIPT = re.compile(r"""h\("button", \{(.*?)\}(?:, icon\([^()]*\))?(?:, [`"] ?([A-Z][^`"$]+)[`"])?""")
_IN_PAGE = re.compile(r"<button([^>]*)>([^<]*)")
_LABEL = re.compile(r"""aria-label"?[:=] ?[`"]([^`"$]+)""")
_TABLES = re.compile(
    r"""\["([A-Z][a-z ]+)", "[^"]+", ENDPOINTS|(?:button|killer)\("([^"]+)"|(?:fails|hangs|none): "(Model[^"]+)\""""
)


def test_each_button_of_the_page_is_pressed_in_chromium() -> None:
    shown = {name for path in PAGE.rglob("*.js") for name in _in_script(path.read_text())}
    shown |= {
        name
        for attributes, words in _IN_PAGE.findall((PAGE / "index.html").read_text())
        for name in [words.strip() or _label(attributes)]
        if name
    }
    assert len(shown) > 40
    tests = "\n".join(path.read_text() for path in TESTS.glob("*.py"))
    assert sorted(name for name in shown if BY_SELECTOR.get(name, name.strip()) not in tests) == []
    assert sorted(BY_SELECTOR.keys() - shown) == []


def _in_script(source: str) -> set[str]:
    named = {words.strip() or _label(attributes) for attributes, words in _IN_SCRIPT.findall(source)}
    return {name for name in named | {word for row in _TABLES.findall(source) for word in row} if name}


def _label(attributes: str) -> str:
    found = _LABEL.search(attributes)
    return found[1] if found else ""
