"""Links in answers: those that were said, fetched or found stay, and those that the model made up do not."""

import time

import pytest

from core.llm.types import ChatMessage, Role, ToolCall
from core.loop.outside import OutsideText
from core.tools.addresses import before_links
from core.turns.links import KnownLinks, check_links
from tests.core.builders import user

SAID = [
    ChatMessage(Role.SYSTEM, "Ada's blog is https://ada.example/blog."),
    user("Is https://bücher.example/ open, and strasse.example/a or apple.example/a?"),
    user("what is on ferry.example, and on https://shop.example/a?id=1&b=2#top?"),
    ChatMessage(Role.TOOL, "1. Plan: https://www.found.example/Plan_(2026)/ and (https://x.example/%C3%BC)."),
]


def _known() -> KnownLinks:
    return KnownLinks.of(SAID, [ChatMessage(Role.ASSISTANT, "let me see https://made.example/up")], OutsideText())


@pytest.mark.parametrize(
    "reply",
    [
        "See https://ada.example/blog.",
        "See [the plan](https://found.example/Plan_(2026)), it is new.",
        "<https://shop.example/a?id=1&b=2>",
        "https://shop.example/a",
        "https://ferry.example",
        "www.found.example",
        "The front page: http://www.shop.example/",
        "https://x.example/ü!",
        "No link: e.g. this, 3.5 km, main.py, and/or.",
        "ferry.example is down",
        "[the plan](www.found.example/Plan_(2026)) or [mail](mailto:ada@ada.example), [a](note: this), [b](p.5)",
        "<https://ada.example/blog|the blog>",
        "An address begins with https://.",
        "**https://ada.example/blog**, _https://ferry.example_; “https://ferry.example”… (https://ada.example/blog?)",
        "https://xn--bcher-kva.example/ and https://BÜCHER.example",
    ],
)
def test_links_that_were_named_stay_as_they_are(reply: str) -> None:
    checked = check_links(reply, _known())
    assert (checked.text, checked.unknown) == (reply, ())


LEFT = "(link left out: I have not seen it myself)"


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("See https://made.example/up.", f"See {LEFT}."),
        ("Book [here](https://made.example/?q=secret), now", f"Book here {LEFT}, now"),
        ("![](https://made.example/p.png?q=secret)", LEFT),
        ("[https://shop.example/a](https://made.example)", LEFT),
        ("[shop.example/a](https://made.example/x_(1))!", f"{LEFT}!"),
        ("<https://made.example/>", LEFT),
        ("made.example/up?q=secret", LEFT),
        ("WWW.Made.Example", LEFT),
        ("HTTPS://ada.example/other", LEFT),
        ("https://shop.example/a?id=2", LEFT),
        ('[x](https://made.example/up "Title")', f"x {LEFT}"),
        ("[x](made.example)", f"x {LEFT}"),
        ("[x](//made.example/up) [y](https:/made.example)", f"x {LEFT} y {LEFT}"),
        ("<https://made.example/up|the plan>", f"the plan {LEFT}"),
        ("https://made.example/up).", f"{LEFT})."),
        ("**https://made.example/up**!", f"**{LEFT}**!"),
        ("https://ada.example/blo", LEFT),
        ("https://ada.example/blog/2", LEFT),
        ("https://ada.example.evil.example/blog", LEFT),
        ("https://ada.example@evil.example/blog", LEFT),
        ("https://аpple.example/a", LEFT),
        ("https://apple.example／a", LEFT),
        ("https://straße.example/a", LEFT),
        ("https://ſtrasse.example/b", LEFT),
    ],
)
def test_links_that_nobody_named_are_left_out(reply: str, text: str) -> None:
    checked = check_links(reply, _known())
    assert checked.text == text
    assert len(checked.unknown) == text.count(LEFT)


def test_what_a_tool_echoes_is_still_made_up() -> None:
    call = ToolCall("c", "add_note", '{"text": "See https://made.example/up?q=1 and https://ada.example/blog"}')
    new = [
        ChatMessage(Role.ASSISTANT, tool_calls=(call,)),
        ChatMessage(Role.TOOL, "Noted: https://made.example/up?q=1, as https://shop.example/new says"),
        ChatMessage(Role.TOOL, "> Address: https://read.example/x", outside=True),
    ]
    known = KnownLinks.of(SAID, new, OutsideText())
    assert check_links("https://made.example/up?q=1", known).text == LEFT
    for link in ("https://shop.example/new", "https://read.example/x", "https://ada.example/blog"):
        assert check_links(link, known).text == link


def test_a_result_makes_so_many_addresses_known_and_no_more() -> None:
    outside = OutsideText()
    page = ChatMessage(Role.TOOL, " ".join(f"https://made.example/{n}" for n in range(5000)), outside=True)
    outside.hear([page])
    assert len(outside.addresses) == 1000
    assert outside.unknown({"url": "https://made.example/999"}, ["url"]) is None
    assert outside.unknown({"url": "https://made.example/1000"}, ["url"])


def test_checking_takes_time_in_proportion_to_the_text() -> None:
    for piece in ("[x](a.", "[x](https://a(", "[[", "(a.b", "https://a.b/(", "<https://a|", "a.b.c-", "[x](//a:b."):
        began = time.process_time()
        check_links(piece * (100_000 // len(piece)), _known())
        assert time.process_time() - began < 5, piece


def test_a_draft_ends_before_its_first_link() -> None:
    for rest in ("https://a.b", "[here](http", "www.x", "<http:", "made.example/x"):
        assert before_links(f"Look at the plan: {rest} and so on") == "Look at the plan:"
    assert before_links("Nothing [here] or there, e.g. at 3.5 km") == "Nothing [here] or there, e.g. at 3.5 km"
