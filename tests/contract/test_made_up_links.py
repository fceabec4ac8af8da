"""Links that a model made up, on each channel: left out, and shown by `trace`."""

import re
from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr

from core.turns.links import LEFT_OUT
from onevalet.cli.trace import print_trace
from onevalet.settings import Settings
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.canaries import marked
from tests.contract.channel_harnesses import HARNESSES
from tests.contract.email_harness import EmailHarness, also_by_mail
from tests.core.builders import FakeModel, says

SEEN = "https://ferry.example/plan?day=1"
LINKS = (
    "https://made.example/a?q=secret",
    "https://made.example/b",
    "www.made.example/c",
    "https://fеrry.example/plan",
)
"""The last one's host has a Cyrillic letter."""
REPLY = f"See [the plan]({LINKS[0]}), {LINKS[1]}. Or ({LINKS[2]}): {SEEN}; **{LINKS[3]}**!"
LONGEST = {"sms": 1600, "slack": 12_000, "telegram": 4096}


@pytest.fixture
async def system(channel: str, database_url: str) -> AsyncIterator[Approving]:
    async with open_approving(HARNESSES[channel], database_url, StandingClock()) as system:
        yield system


async def answered(system: Approving, reply: str) -> list[str]:
    """Let the person name a link and the model answer; return what they then read, part by part."""
    channel = system.delivery.channel
    seen = len(channel.bubbles())
    system.model = FakeModel([says(reply)])
    await system.say(marked(f"When does it leave, by {SEEN} ?"))
    return [bubble.text for bubble in channel.bubbles()[seen:]]


@also_by_mail
async def test_made_up_links_are_left_out_with_a_note(system: Approving) -> None:
    [read] = await answered(system, REPLY)
    channel = system.delivery.channel
    # A link may stand behind words, where the text does not show it.
    page = channel.pages() if isinstance(channel, EmailHarness) else ""
    sent = page or str(channel.simulator.providers[channel.provider].state())
    assert SEEN in read
    assert [link for link in LINKS if link in sent] == []
    assert read.count(LEFT_OUT) == len(LINKS)


async def test_trace_shows_which_links_were_made_up(
    system: Approving, database_url: str, capfd: pytest.CaptureFixture[str]
) -> None:
    await answered(system, REPLY)
    turn = str(await system.delivery.store.db.turns.one("id"))
    settings = Settings(_env_file=None, database_url=SecretStr(database_url))
    await print_trace(settings, turn, as_json=False)
    [line] = [line for line in capfd.readouterr().out.splitlines() if "link_made_up" in line]
    shown = line.partition("links=")[2].split(",")
    assert shown == [link.partition("?")[0] for link in LINKS]
    assert "secret" not in line
    assert SEEN.partition("?")[0] not in line


async def test_links_are_whole_in_each_part_of_a_long_answer(system: Approving, channel: str) -> None:
    words = (f"Word{number} {'o' * (number % 9)} {LINKS[number % 2]} and {SEEN}, so." for number in range(700))
    reply = "\n".join(words)[: 2 * LONGEST[channel]].rpartition("\n")[0]
    parts = await answered(system, f"{reply}\n{LINKS[0]} end")
    while parts[-1].endswith("reply MORE)"):
        await system.say("MORE")
        parts.append(system.last())
    assert len(parts) > 1
    found = re.findall(r"https?:\S*|\S*\.example\S*", "\n".join(parts))
    assert len(found) > 10
    assert {link.rstrip(",") for link in found} == {SEEN}
