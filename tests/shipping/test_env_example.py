"""`.env.example` and the settings are the same list, and what stands in it changes nothing."""

import re
from dataclasses import fields

import pytest

from core.loop.config import ReactLoopConfig
from onevalet.settings import LOOP_PREFIX, Settings
from onevalet.wiring.loop import loop_config
from tests.shipping.harness import ROOT, read
from tests.shipping.units import DROP_IN, read_unit, unit_files

COMPOSE_ONLY = {"ONEVALET_EXTRAS", "POSTGRES_PASSWORD", "POSTGRES_SERVING_PASSWORD"}
"""Read by docker-compose.yml, not by us."""
_LINE = re.compile(r"^(#?)([A-Z][A-Z0-9_]*)=(.*)$", re.MULTILINE)


def shown() -> dict[str, tuple[bool, str]]:
    """Return each name in the file: whether it is commented out, and its value."""
    return {name: (mark == "#", value) for mark, name, value in _LINE.findall(read(".env.example"))}


def is_loop(name: str) -> bool:
    return name.lower().startswith(LOOP_PREFIX)


def test_every_setting_is_shown_and_nothing_else() -> None:
    expected = {name.upper() for name in Settings.model_fields if name not in ("loop", "openid")}
    assert {
        name for name in shown() if not is_loop(name) and not name.startswith("ONEVALET_OIDC_")
    } - COMPOSE_ONLY == expected


def test_five_numbers_of_the_loop_are_shown_here_and_no_other_in_the_docs() -> None:
    """Those that operators change. Each other number can be set, too, for a measurement."""
    known = {(LOOP_PREFIX + field.name).upper() for field in fields(ReactLoopConfig)}
    published = {name for name in shown() if is_loop(name)}
    assert (len(published), published - known) == (5, set())
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md"))
    assert {*re.findall(r"ONEVALET_LOOP_[A-Z_]+", pages)} == published


def test_at_most_105_names_are_published() -> None:
    """Each is a promise to keep: a default in its place is better."""
    assert len(shown().keys() - COMPOSE_ONLY) <= 105


def test_no_name_is_shown_twice() -> None:
    names = [name for _, name, _ in _LINE.findall(read(".env.example"))]
    assert sorted(names) == sorted(set(names))


def test_a_plain_copy_of_the_example_gives_the_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in shown():
        monkeypatch.delenv(name, raising=False)
    copied = Settings(_env_file=ROOT / ".env.example")
    assert copied == Settings(_env_file=None)


def test_the_loop_is_shown_commented_out_and_at_its_defaults() -> None:
    loop = {name.lower().removeprefix(LOOP_PREFIX): shown()[name] for name in shown() if is_loop(name)}
    assert [name for name, (commented, _) in loop.items() if not commented] == []
    assert loop_config({name: value for name, (_, value) in loop.items() if value}) == ReactLoopConfig()


def test_every_group_of_names_has_a_comment() -> None:
    uncommented = []
    for block in re.split(r"\n\s*\n", read(".env.example")):
        first = block.strip().splitlines()[0] if block.strip() else "#"
        if not first.startswith("# ") and not is_explained_by_heading(first):
            uncommented.append(first)
    assert uncommented == []


def is_explained_by_heading(line: str) -> bool:
    """Return whether the heading above says it all: the names that are the provider's own words."""
    return line.split("=")[0] in {"TWILIO_ACCOUNT_SID", "SLACK_BOT_TOKEN", "TELEGRAM_BOT_TOKEN"}


def test_the_example_holds_no_secret() -> None:
    secret = re.compile("TOKEN|SECRET|PASSWORD|KEYS|SID$")
    filled = {name for name, (_, value) in shown().items() if value and not is_loop(name)}
    assert {name for name in filled if secret.search(name)} == set()


def test_nothing_that_an_image_or_a_unit_sets_is_replaced_by_a_copy() -> None:
    """A line of an environment file goes before a unit's Environment= (systemd.exec(5)) and an image's ENV."""
    image = " ".join(re.findall(r"^ENV (.*)$", read("Dockerfile").rpartition("\nFROM ")[2], re.MULTILINE)).split()
    files = [*map(str, unit_files()), DROP_IN]
    units = [line for file in files for line in read_unit(file).get("Environment", [])]
    ours = {line.partition("=")[0] for line in (*image, *units)} & {*shown()}
    assert ours >= {"HOST", "PORT", "ONEVALET_HOME", "ONEVALET_HEALTH_FILE"}
    assert [name for name in sorted(ours) if not shown()[name][0]] == []
