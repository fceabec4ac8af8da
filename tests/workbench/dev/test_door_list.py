"""Every door that only `dev` opens is in its list, and what is shut where others reach us is shut."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import onevalet.servers
import workbench.dev
from onevalet.settings import Settings
from workbench.dev.doors import CONSOLE, DOORS, FRONT_PAGE, SIMULATED_CHANNELS
from workbench.dev.run import describe
from workbench.dev.simulator_wiring import Simulated

DEV = [Path(str(package.__file__)).parent for package in (workbench.dev, onevalet.servers)]
BY_THE_LIST = {"open_web.local_console", "open_web.local", "open_web.extra_routes", "open_worker.demo"}
MAILBOX = ("seed.py", "host")
"""In a mailbox's credentials, which are no settings."""
CHOSEN = "workbench/dev/model/"
"""The page's choice of a model gives settings that anybody may set."""


def _switches(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield what a module of `dev` gives the product by name, and the source of its value."""
    wired = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("onevalet.wiring", "channels."))
        for alias in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in wired:
            for keyword in node.keywords:
                yield f"{node.func.id}.{keyword.arg}", ast.unparse(keyword.value)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value in Settings.model_fields:
                    yield str(key.value), ast.unparse(value)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                key = target.slice if isinstance(target, ast.Subscript) else None
                if isinstance(key, ast.Constant) and key.value in Settings.model_fields:
                    yield str(key.value), ast.unparse(node.value)


def _found() -> dict[str, str]:
    found: dict[str, str] = {}
    for path in (path for folder in DEV for path in sorted(folder.rglob("*.py"))):
        if CHOSEN not in path.as_posix():
            switches = _switches(ast.parse(path.read_text()))
            found |= {name: value for name, value in switches if (path.name, name) != MAILBOX}
    # What does no more than a preload, and opens nothing.
    return {name: value for name, value in found.items() if not name.startswith("load_worker.")}


def test_all_that_dev_alone_switches_is_a_door_of_the_list() -> None:
    listed = {switch for door in DOORS for switch in door.switches}
    assert set(_found()) == listed


def test_what_dev_opens_in_web_and_worker_is_asked_of_the_list() -> None:
    found = _found()
    assert {name for name in found if "." in name} == BY_THE_LIST
    for name in BY_THE_LIST:
        assert ".is_open(" in found[name], name


def test_a_switch_that_somebody_adds_is_found() -> None:
    planted = "from onevalet.wiring.web import open_web\nopen_web(s, trust_everybody=True)\nu = {'openid': {}}"
    assert dict(_switches(ast.parse(planted))) == {"open_web.trust_everybody": "True", "openid": "{}"}


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("host", "0.0.0.0"),  # noqa: S104
        ("host", "192.0.2.7"),
        ("host", "::"),
        ("public_url", "https://valet.example"),
        ("public_url", "http://192.0.2.7:8080"),
    ],
)
def test_what_is_for_this_machine_is_shut_where_others_reach_us(setting: str, value: str) -> None:
    settings = Settings(_env_file=None, **{setting: value})  # type: ignore[arg-type]
    for door in (CONSOLE, SIMULATED_CHANNELS, FRONT_PAGE):
        shut = door.shut(settings)
        assert shut is not None
        assert value in shut.because


def test_who_starts_dev_is_told_how_to_get_into_the_console() -> None:
    settings = Settings(
        _env_file=None,
        public_url="https://valet.example",
        database_url="postgresql://127.0.0.1/x",
        redis_url="redis://127.0.0.1",
    )
    simulated = Simulated(settings, frozenset())
    told = describe(simulated, "http://127.0.0.1:8080", "http://127.0.0.1:8081")
    assert "sign in by `bin/onevalet console link`, because PUBLIC_URL is https://valet.example" in told


@pytest.mark.parametrize("url", ["", "http://127.0.0.1:8080", "http://localhost:8080", "http://[::1]:8080"])
def test_a_newcomer_on_one_machine_finds_them_open(url: str) -> None:
    settings = Settings(_env_file=None, public_url=url)
    assert all(door.is_open(settings) for door in DOORS)
    assert all(door.reason for door in DOORS)
