"""The share of each prompt that begins like the previous prompt, byte by byte, which a provider's cache can save.

    uv run -m workbench.benchmarks.prompt_share

Conversations of twenty messages by SMS, with the tools that ship, through a worker's parts and a scripted model on the
wire: plain talk, tools, recall, reminders, and all of it; and, while they last, an agent that waits for a field, cards
    that wait for approval, and notices. Tools and messages count, as they are sent.
"""

import asyncio
import logging
import sys
import tempfile
from pathlib import Path

import pytest
import structlog

from onevalet.migrating import migrate
from tests.abilities.memory.talking import talking
from tests.jobs.turns.prompt_share import CONVERSATIONS, answer, cached_share, talk_with
from tests.services import private_postgres, private_valkey

BY_RULES = {"onevalet_memory": "rules"}
"""Settings by which the model only answers."""


async def measure(conversation: str) -> tuple[float, int, int]:
    """Return a conversation's share, its model calls, and the bytes of its last request."""
    async with private_postgres() as postgres, private_valkey() as valkey:
        await migrate(postgres.url)
        with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as home:
            async with talking(postgres.url, valkey.url, Path(home), patch, answer, **BY_RULES) as person:
                asked = await talk_with(person, conversation)
                return cached_share(asked), len(asked), len(str(asked[-1].body))


async def main() -> None:
    """Print a line for each conversation."""
    sys.stdout.write(
        "| conversation | model calls | bytes of the last | begins like the one before |\n|---|---|---|---|\n"
    )
    for conversation in CONVERSATIONS:
        share, asked, size = await measure(conversation)
        sys.stdout.write(f"| {conversation} | {asked} | {size:,} | {share:.1%} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    asyncio.run(main())
