"""The help of the command line: each command under one heading, in whole sentences, and nothing loaded for it."""

import subprocess
import sys
from collections import Counter

import typer

from onevalet.cli.help_page import WholeSentences, headings
from onevalet.cli.main import app
from tests.forker import ROOT

SLOW = ("pydantic_settings", "rich", "babel", "structlog", "asyncpg", "litellm", "aiohttp", "pydantic")
ALL = typer.main.get_command(app)


def helped(*command: str) -> str:
    """Return what the help of a command says, on one line."""
    run = [sys.executable, "-m", "onevalet", *command, "--help"]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True)
    return " ".join(done.stdout.split())


def test_every_command_has_one_heading() -> None:
    assert isinstance(ALL, WholeSentences)
    listed = Counter(name for names in headings().values() for name in names)
    assert listed == Counter(ALL.commands.keys())


def test_no_sentence_is_cut() -> None:
    assert isinstance(ALL, WholeSentences)
    page, group = helped(), helped("tenants")
    assert "... " not in (page + group).replace("[ARGS]... ", "")
    for heading, names in headings().items():
        assert f" {heading}: {names[0]} " in page
    assert "Import a person from an export; if it was not made here, only with the addresses that you admit." in group


def test_the_help_loads_nothing_that_takes_long() -> None:
    code = (
        "import sys; sys.argv = ['onevalet', '--help']\nfrom onevalet.cli.main import main\n"
        f"try: main()\nfinally: sys.stderr.write(' '.join(name for name in {SLOW!r} if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
