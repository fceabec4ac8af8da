"""The Procfile names the three processes that DESIGN fixes, and each is a command that exists."""

from typer.main import get_command

from onevalet.cli.main import app
from tests.shipping.harness import processes


def test_it_has_release_web_and_worker() -> None:
    assert processes() == {
        "release": ["python", "-m", "onevalet", "migrate"],
        "web": ["python", "-m", "onevalet", "web"],
        "worker": ["python", "-m", "onevalet", "worker"],
    }


def test_every_process_is_a_command() -> None:
    known = getattr(get_command(app), "commands", {})
    assert {command[3] for command in processes().values()} <= set(known)
