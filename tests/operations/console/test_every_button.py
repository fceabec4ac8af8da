"""Each button of the console is pressed: in Chromium, or where a browser adds nothing, by its form."""

import re
from pathlib import Path

TEMPLATES = [Path("operations/console/templates"), *sorted(Path("abilities").glob("*/templates"))]
IN_CHROMIUM = Path("tests/page").glob("test_console*.py")
BY_FORM = {
    "Ask again": ("test_waiting.py", "/ask"),
    "Ask for these changes": ("test_waiting.py", "/edit"),
    "Cancel": ("test_waiting.py", "/cancel"),
    "Drop": ("test_waiting.py", "/drop"),
    "End": ("../../onevalet/test_consents_elsewhere.py", "/withdraw"),
    "Export everything": ("test_data.py", "/export"),
    "Find": ("test_search.py", "/console/search?q="),
    "Link": ("test_linking.py", "/link/agree"),
    "Remind": ("test_waiting.py", "/remind"),
    "Show": ("../../abilities/tasks/test_console.py", "?state="),
    "Try": ("../../abilities/tasks/test_console.py", "?expression="),
}
"""Those that are not pressed in Chromium, each with the test that sends its form, and where to."""
_BUTTON = re.compile(r"<button[^>]*>([A-Z][^<{]*)</button>")
_ACT = re.compile(r"""act\(visit, [^"]*"[^"]*", "([A-Z][^"]*)\"""")
_PRESSED = re.compile(r"""\("(?:main )?button", "([^"]+)\"""")


def test_each_button_is_pressed_in_chromium_or_has_its_form_sent() -> None:
    shown = {name for folder in TEMPLATES for path in folder.glob("*.html") for name in _labels(path.read_text())}
    assert len(shown) > 25
    pressed = {name for path in IN_CHROMIUM for name in _PRESSED.findall(path.read_text())}
    assert shown - pressed == set(BY_FORM)
    here = Path(__file__).parent
    assert [label for label, (test, form) in BY_FORM.items() if form not in (here / test).read_text()] == []


def _labels(template: str) -> set[str]:
    return {*_BUTTON.findall(template), *_ACT.findall(template)}
