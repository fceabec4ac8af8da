"""What `chat` shows of an answer."""

import pytest

from core.messaging.messages import Action, OutboundKind, OutboundMessage
from notify.terminal.render import render


def shown(text: str, *labels: str) -> str:
    """Return what the terminal shows of an answer with buttons."""
    actions = tuple(Action(label, label) for label in labels)
    [part] = render(OutboundMessage("out_1", OutboundKind.REPLY, text, actions))
    return part.text


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        ("Dinner is at **eight**, *not* at nine.", "Dinner is at eight, not at nine."),
        ("# Today\n\n- **Milk**\n- eggs", "Today\n\n- Milk\n- eggs"),
        ("See [the page](https://example.org).", "See the page (https://example.org)."),
        ("2 * 3 * 4 = 24", "2 * 3 * 4 = 24"),
        ("`a < b`", "a < b"),
        ("", "(no text)"),
    ],
)
def test_an_answer_is_plain_text_without_marks(markdown: str, plain: str) -> None:
    assert shown(markdown) == plain


def test_buttons_stand_below_the_answer_as_words() -> None:
    assert shown("**Send it?**", "Yes", "No") == "Send it?\n[Yes]  [No]"


def test_what_a_terminal_would_obey_is_left_out() -> None:
    assert shown("be\x1b[2Jfore\x07 \u202egnp") == "be[2Jfore gnp"
