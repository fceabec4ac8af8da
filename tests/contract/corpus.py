"""Messages of every kind that we may owe somebody: fixed ones, and hypothesis' own."""

from dataclasses import replace

from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st

from core.messaging.messages import Action, ActionStyle, Media, OutboundKind, OutboundMessage
from tests.contract.harness import reply
from tests.examples import examples

SIZE = 40

_WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30)
_SPANS = st.one_of(
    _WORDS,
    _WORDS.map("**{}**".format),
    _WORDS.map("_{}_".format),
    _WORDS.map("`{}`".format),
    _WORDS.map("~~{}~~".format),
    _WORDS.map("[{}](https://example.com/a?b=c&d=(e))".format),
    st.sampled_from(["👩‍👩‍👧‍👦", "<b>x</b>", "&amp;", "<!channel>", "<@U0ADA00001>", "@ada", "||x||", "$1_2*3", "\\*"]),
)
_LINES = st.lists(_SPANS, min_size=1, max_size=6).map(" ".join)
_BLOCKS = st.one_of(
    _LINES,
    _LINES.map("## {}".format),
    _LINES.map("> {}".format),
    st.lists(_LINES, min_size=1, max_size=4).map(lambda lines: "\n".join(f"- {line}" for line in lines)),
    st.lists(_LINES, min_size=1, max_size=4).map(lambda lines: "\n".join(f"{n}. {x}" for n, x in enumerate(lines, 1))),
    st.lists(_WORDS, min_size=1, max_size=4).map(lambda lines: "```python\n" + "\n".join(lines) + "\n```"),
    st.just("| a | b |\n|---|---|\n| 1 | 2 |"),
    st.just("---"),
    st.integers(500, 5000).map(lambda size: "word " * (size // 5)),
    st.integers(500, 5000).map("x".__mul__),
)
_ACTIONS = st.lists(
    st.builds(
        Action, _WORDS, st.text("abcdefghij0123456789", min_size=1, max_size=64), st.sampled_from(list(ActionStyle))
    ),
    max_size=8,
).map(tuple)

FIXED = (
    reply("Hello"),
    reply(""),
    reply("a < b & c > d, 100 % of _it_"),
    reply(
        "Send it? **OK 7K**",
        Action("Approve", "t" * 64, ActionStyle.PRIMARY),
        Action("Cancel", "u", ActionStyle.DANGER),
    ),
    replace(reply("**7K: Send it?**\n\nTo: `<!channel> & you`"), kind=OutboundKind.CARD, wants_reply=True),
    reply("x" * 30_000),
    reply("```\n" + "line\n" * 4000 + "```"),
    reply("**" + "bold " * 3000 + "**"),
    reply("👩‍👩‍👧‍👦" * 1500),
    reply("Look", media=(Media("https://example.com/a.png", "image/png", "a.png"),)),
    reply("Read", media=(Media("https://example.com/a.pdf", "application/pdf", "a.pdf"),)),
)


def corpus() -> list[OutboundMessage]:
    """Return all of them; the same in every run."""
    made = list(FIXED)

    @examples(SIZE, phases=[Phase.generate], database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(st.lists(_BLOCKS, min_size=1, max_size=8).map("\n\n".join), _ACTIONS)
    def collect(text: str, actions: tuple[Action, ...]) -> None:
        made.append(reply(text, *actions))

    collect()
    return made
