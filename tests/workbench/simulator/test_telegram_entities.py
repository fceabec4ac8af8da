"""Entities of a text: those given, those that Telegram finds, and how they are settled."""

from collections.abc import Callable

from hypothesis import example, given
from hypothesis import strategies as st

from tests.examples import examples
from workbench.simulator.telegram.entities import Entity, FormattedText, settle
from workbench.simulator.telegram.errors import Refusal
from workbench.simulator.telegram.text import utf16_length


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
    # A settled text that is sent again with its entities stays the same.
    assert settle(settled.text, [*settled.entities]).text == settled.text


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
