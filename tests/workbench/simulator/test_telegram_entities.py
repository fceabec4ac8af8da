"""Parsing of the three parse modes: what comes out, what is refused, and in which words."""

from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.examples import examples
from workbench.simulator.telegram.entities import Entity, FormattedText, settle
from workbench.simulator.telegram.errors import Refusal
from workbench.simulator.telegram.formatting import parse
from workbench.simulator.telegram.text import utf16_length

ACCEPTED = [
    ("html", "plain", "plain", []),
    ("html", "<b>a<i>b</i></b>c", "abc", [("bold", 0, 2), ("italic", 1, 1)]),
    ("html", "<STRONG>a</STRONG>", "a", [("bold", 0, 1)]),
    ("html", "1 &lt; 2 &amp;&#33; &nbsp;", "1 < 2 &! &nbsp;", []),
    ("html", "<a href='https://x.org/a'>l</a>", "l", [("text_link", 0, 1)]),
    ("html", "<a href='nowhere'>l</a>", "l", []),
    ("html", '<a href="tg://user?id=5">l</a>', "l", [("text_mention", 0, 1)]),
    ("html", '<pre><code class="language-py">x</code></pre>', "x", [("pre", 0, 1)]),
    ("html", "<code>a</code><u>b</u><s>c</s>", "abc", [("code", 0, 1), ("underline", 1, 1), ("strikethrough", 2, 1)]),
    ("html", '<span class="tg-spoiler">s</span>', "s", [("spoiler", 0, 1)]),
    ("html", "<blockquote expandable>q</blockquote>", "q", [("expandable_blockquote", 0, 1)]),
    ("html", '<tg-emoji emoji-id="5">👍</tg-emoji>', "👍", [("custom_emoji", 0, 2)]),
    ("html", "<b>a </b> ", "a", [("bold", 0, 1)]),
    ("html", "a > b", "a > b", []),
    ("markdown", "*b* _i_ `c`", "b i c", [("bold", 0, 1), ("italic", 2, 1), ("code", 4, 1)]),
    ("markdown", "```py\nx\n```", "x", [("pre", 0, 1)]),
    ("markdown", "[l](http://x.org)", "l", [("text_link", 0, 1)]),
    ("markdown", r"2\*2 1.5!", "2*2 1.5!", []),
    ("markdownv2", r"*b _i_* \.", "b i .", [("bold", 0, 3), ("italic", 2, 1)]),
    ("markdownv2", "__u__ ~s~ ||p||", "u s p", [("underline", 0, 1), ("strikethrough", 2, 1), ("spoiler", 4, 1)]),
    ("markdownv2", "```py\nx.y()\n```", "x.y()", [("pre", 0, 5)]),
    ("markdownv2", "`a.b`", "a.b", [("code", 0, 3)]),
    ("markdownv2", r"[l](http://x.org/\))", "l", [("text_link", 0, 1)]),
    ("markdownv2", ">a\n>b\nc", "a\nb\nc", [("blockquote", 0, 4)]),
    ("markdownv2", ">a\n>b||", "a\nb", [("expandable_blockquote", 0, 3)]),
    ("markdownv2", "![👍](tg://emoji?id=5)", "👍", [("custom_emoji", 0, 2)]),
    ("markdownv2", "😀 *b*", "😀 b", [("bold", 3, 1)]),
]

REFUSED = [
    ("html", "a < b", 'Unsupported start tag "" at byte offset 2'),
    ("html", "a <b", "Unclosed start tag at byte offset 2"),
    ("html", "<div>x</div>", 'Unsupported start tag "div" at byte offset 0'),
    ("html", "é<br/>", 'Unsupported start tag "br/" at byte offset 2'),
    ("html", "<b>x</i>", 'Unmatched end tag at byte offset 4, expected "</b>", found "</i>"'),
    ("html", "x</b>", "Unexpected end tag at byte offset 1"),
    ("html", "<b>x</b", "Unclosed end tag at byte offset 4"),
    ("html", "<b>x", 'Can\'t find end tag corresponding to start tag "b"'),
    ("html", "<a href=x", "Unclosed start tag at byte offset 0"),
    ("html", "<a href=a/b>x</a>", "Unexpected end of name token at byte offset 8"),
    ("html", '<a href="x', "Unclosed start tag at byte offset 0"),
    ("html", "<a =x>y</a>", 'Empty attribute name in the tag "a" at byte offset 0'),
    ("html", "<span>x</span>", 'Tag "span" must have class "tg-spoiler" at byte offset 0'),
    ("html", "<tg-emoji>x</tg-emoji>", "Invalid custom emoji identifier specified"),
    ("markdown", "*b", "Can't find end of the entity starting at byte offset 0"),
    ("markdown", "snake_case", "Can't find end of the entity starting at byte offset 5"),
    ("markdown", "é```x``", "Can't find end of the entity starting at byte offset 2"),
    ("markdownv2", "1. x", "Character '.' is reserved and must be escaped with the preceding '\\'"),
    ("markdownv2", "a|b", "Character '|' is reserved and must be escaped with the preceding '\\'"),
    ("markdownv2", "a > b", "Character '>' is reserved and must be escaped with the preceding '\\'"),
    ("markdownv2", "wow!", "Character '!' is reserved and must be escaped with the preceding '\\'"),
    ("markdownv2", "*b", "Can't find end of Bold entity at byte offset 0"),
    ("markdownv2", "_*b_", "Can't find end of Italic entity at byte offset 3"),
    ("markdownv2", "`c", "Can't find end of Code entity at byte offset 0"),
    ("markdownv2", "```c``", "Can't find end of Pre entity at byte offset 0"),
    ("markdownv2", "[l](x", "Can't find end of a URL at byte offset 4"),
    ("markdownv2", "![l]", "The entity must contain a tg://emoji or tg://time URL"),
    ("markdownv2", "![l](http://x.org)", "Invalid tg://emoji or tg://time URL specified"),
    ("markdownv2", ">*a\nb", "Can't find end of Bold entity at byte offset 1"),
]


@pytest.mark.parametrize(("mode", "source", "plain", "entities"), ACCEPTED)
def test_markup_becomes_text_and_entities(
    mode: str, source: str, plain: str, entities: list[tuple[str, int, int]]
) -> None:
    settled = parse(source, mode)
    assert settled.text == plain
    assert [(e.type, e.offset, e.length) for e in settled.entities] == entities


@pytest.mark.parametrize(("mode", "source", "words"), REFUSED)
def test_broken_markup_is_refused_in_telegrams_words(mode: str, source: str, words: str) -> None:
    with pytest.raises(Refusal) as caught:
        parse(source, mode)
    assert caught.value.description == f"Bad Request: can't parse entities: {words}"


def test_crossing_entities_are_cut_and_code_holds_nothing() -> None:
    settled = settle("abcdef", [Entity("bold", 0, 4), Entity("italic", 2, 4), Entity("code", 1, 1)])
    shown = [(e.type, e.offset, e.length) for e in settled.entities]
    assert shown == [
        *(("bold", 0, 1), ("code", 1, 1), ("italic", 2, 4), ("bold", 2, 2)),
    ]


def test_telegram_finds_links_and_commands_by_itself() -> None:
    settled = settle("/start see https://x.org, @someone", [])
    assert [(e.type, e.offset, e.length) for e in settled.entities] == [
        *(("bot_command", 0, 6), ("url", 11, 13), ("mention", 26, 8)),
    ]


def test_an_address_is_one_link_and_its_domain_none() -> None:
    found = settle("to ann.lee@mail.example.com, or example.com", [])
    assert [(e.type, e.offset, e.length) for e in found.entities] == [("email", 3, 24), ("url", 32, 11)]


PIECES = st.sampled_from(
    [
        *("a", "é", "😀", " ", "\n", "\r", "\\", "*", "_", "__", "~", "||", "`", "```", "```py\n", "[", "]", "(", ")"),
        *(">", "\n>", "!", "![", "<b>", "</b>", "<i>", "</i>", "<code>", "</code>", "<pre>", "</pre>", "&lt;", "&"),
        *("<a href='http://x.org'>", "</a>", "</>", "<", "(http://x.org)", "(tg://emoji?id=5)", "\0", "\u2028"),
    ]
)
SOURCES = st.lists(PIECES | st.characters(exclude_categories=["Cs"]), max_size=30).map("".join)


@examples(400)
@given(SOURCES, st.sampled_from(["html", "markdown", "markdownv2"]))
def test_accepted_messages_have_entities_that_fit_their_text(source: str, mode: str) -> None:
    settled = _tried(lambda: parse(source, mode))
    if isinstance(settled, Refusal):
        assert settled.description.startswith("Bad Request: can't parse entities: ")
        return
    _check(settled)
    # A text that was settled once, given with its entities, is the same once more.
    given_again = [entity for entity in settled.entities if entity.type not in ("url", "email", "mention")]
    assert settle(settled.text, given_again).text == settled.text


@examples(300)
@given(
    st.text(st.sampled_from("ab 😀\n"), min_size=1, max_size=12),
    st.lists(
        st.builds(
            Entity,
            st.sampled_from(["bold", "italic", "spoiler", "code", "pre", "blockquote", "text_link"]),
            st.integers(0, 12),
            st.integers(0, 12),
        ),
        max_size=5,
    ),
)
@example("aaa", [Entity("bold", 0, 3), Entity("code", 0, 1), Entity("blockquote", 0, 2)])
def test_given_entities_end_up_nested_within_the_text(text: str, entities: list[Entity]) -> None:
    settled = _tried(lambda: settle(text, entities))
    if isinstance(settled, Refusal):
        assert "UTF-16" in settled.description
        return
    _check(settled)


@examples(200)
@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=40))
def test_escaped_text_comes_through_markdown_v2_unchanged(text: str) -> None:
    escaped = "".join("\\" + c if c in "_*[]()~`>#+-=|{}.!\\" else c for c in text)
    assert parse(escaped, "markdownv2").text == settle(text, []).text


def _tried(work: Callable[[], FormattedText]) -> FormattedText | Refusal:
    try:
        return work()
    except Refusal as refusal:
        return refusal


def _check(settled: FormattedText) -> None:
    units = settled.text.encode("utf-16-le")
    size = utf16_length(settled.text)
    assert len(units) == 2 * size
    assert settled.text == settled.text.rstrip(" \n")
    for entity in settled.entities:
        assert entity.length > 0
        assert 0 <= entity.offset < entity.end <= size
        units[2 * entity.offset : 2 * entity.end].decode("utf-16-le")
        for other in settled.entities:
            crosses = entity.offset < other.offset < entity.end < other.end
            assert not crosses, (entity, other)
