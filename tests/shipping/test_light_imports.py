"""What everybody pays for at every start loads no heavy library."""

import re
import subprocess
import sys

import pytest

from tests.shipping.harness import ROOT, clean_environment

HEAVY = {
    *("litellm", "mcp", "openai", "typeagent", "tiktoken", "tokenizers", "httpx", "jsonschema"),
    *("aiohttp", "arq", "redis", "asyncpg", "slack_bolt", "slack_sdk", "telegram", "twilio"),
    *("agents", "jobs", "workbench", "channels", "notify", "providers"),
}


def loaded(*arguments: str) -> set[str]:
    """Start Python and give the top-level names of all that it imported, by its own record."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments],
        cwd=ROOT,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-1000:]
    return {match.split(".")[0] for match in re.findall(r"^import time:.*\| +(\S+)$", done.stderr, re.MULTILINE)}


@pytest.mark.parametrize(
    "arguments",
    [("-c", "import onevalet"), ("-m", "onevalet", "--help"), ("-m", "onevalet", "web", "--help")],
    ids=["import onevalet", "--help", "web --help"],
)
def test_no_heavy_library_is_loaded(arguments: tuple[str, ...]) -> None:
    assert loaded(*arguments) & HEAVY == set()


def test_the_record_of_imports_would_show_one() -> None:
    assert "redis" in loaded("-c", "import redis") & HEAVY
