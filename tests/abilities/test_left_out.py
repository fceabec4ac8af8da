"""The product without an ability: its folder is taken away, and all the rest starts, answers and passes its tests.

One ability is chosen at random with a printed seed, which ONEVALET_TEST_SEED sets, and those that need it go with it.
ONEVALET_LEFT_OUT names abilities to be left out one after the other instead, or is `all`.
"""

import base64
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

import onevalet
from onevalet.ability_registry import all_abilities
from tests.eventually import eventually_blocking
from tests.examples import sized
from tests.forker import plain_environment
from tests.patience import PATIENCE
from tests.ports import free_port
from tests.running_dev import dev_environment
from tests.shipping.harness import ROOT, copy_compiled, tracked_files

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("left_out"), pytest.mark.timeout(600)]
SPINE = (
    "tests/core/turns/test_orchestrator.py",
    "tests/core/inbox/test_inbox.py",
    "tests/core/tools/test_toolbox.py",
    "tests/jobs/turns/test_steering.py",
    "tests/onevalet/cli/test_help.py",
    "tests/onevalet/wiring/test_plugins.py",
    "tests/contract/test_way_of_a_text.py",
)
"""Tests of the spine that are chosen to pass without any ability."""
MORE_OF_IT = ("tests/core/inbox", "tests/core/tools")
"""With `--full`."""
CHOICE = ("accounts", "calendar", "events", "files", "mail", "mcp", "memory", "skills")
"""The abilities that lie deepest in the product: of these one is chosen."""
BY_CHANCE = "one"
_IN_TURN = "import sys\nfor code in sys.argv[1:]:\n    exec(code, {})\n    print(flush=True)"
_COMMANDS = """
import json, sys
from typer.main import get_command
from onevalet.cli.main import app
groups = get_command(app).commands.items()
json.dump([f"{name} {below}" for name, group in groups for below in getattr(group, "commands", [""])], sys.stdout)
"""
_TOOLS = """
import json, sys
from onevalet.wiring.plugins import load_plugins
json.dump(sorted(load_plugins(["agents"]).names), sys.stdout)
"""
_KINDS = "import json, sys; from onevalet.cli.new_files import kinds; json.dump(kinds(), sys.stdout)"
_WORDS = """
import json, sys
from core.messaging.chat_reader import chat_words
from onevalet.wiring.abilities import use_abilities
use_abilities()
json.dump([command.name for command in chat_words().commands], sys.stdout)
"""
_TABLES = """
import json, sys
from core.people.tenant_tables import tenant_tables
from onevalet.wiring.abilities import use_abilities
use_abilities()
json.dump(tenant_tables(), sys.stdout)
"""
_SERVICES = """
import json, sys
from importlib.util import find_spec
from onevalet.settings import Settings
found = []
if find_spec("abilities.accounts"):
    from abilities.accounts.opening import build_services
    found = [service.name for service in build_services(Settings(_env_file=None))]
json.dump(found, sys.stdout)
"""
_ASKED = """
import json, sys
from importlib.util import find_spec
from onevalet.settings import Settings
found = set()
if find_spec("abilities.accounts"):
    from abilities.accounts.opening import build_services
    ours = {"onevalet_google_client_id": "ours", "onevalet_google_client_secret": "secret"}
    services = build_services(Settings(_env_file=None, **ours))
    found = {access for service in services for access in service.offers}
json.dump(sorted(found), sys.stdout)
"""
_PUBLIC = "import json, sys, onevalet; exec('from onevalet import *', {}); json.dump(onevalet.__all__, sys.stdout)"
_PROBES = """
import json, sys
from operations.doctor.every import all_probes
json.dump([probe.name for probe in all_probes()], sys.stdout)
"""
_SETTINGS = "import json, sys; from onevalet.settings import Settings; json.dump([*Settings.model_fields], sys.stdout)"
_LISTS = (_TOOLS, _KINDS, _WORDS, _TABLES, _SERVICES, _ASKED, _PUBLIC, _PROBES, _SETTINGS, _COMMANDS)


@dataclass(frozen=True, slots=True)
class Tree:
    """A copy of the project without an ability, and those that went with it."""

    root: Path
    gone: frozenset[str]

    def run(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run Python there."""
        return subprocess.run(
            [sys.executable, *words],
            cwd=self.root,
            env=plain_environment() | environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def lists(self, *programs: str) -> dict[str, set[str]]:
        """Return what programs print there as lists; they run in one process, which imports once."""
        done = self.run("-c", _IN_TURN, *programs)
        assert done.returncode == 0, done.stderr[-2000:]
        return {code: set(json.loads(line)) for code, line in zip(programs, done.stdout.splitlines(), strict=True)}

    @contextmanager
    def start(self, *words: str, log: Path, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
        """Run a process of the product for the length of the block."""
        with (
            log.open("wb") as out,
            subprocess.Popen(
                [sys.executable, "-m", "onevalet", *words], cwd=self.root, env=environment, stdout=out, stderr=out
            ) as process,
        ):
            try:
                yield process
                process.terminate()
                assert process.wait(60) == 0, log.read_text()[-2000:]
            finally:
                process.kill()


def _left_out() -> tuple[str, ...]:
    """Return what the environment names, or what stands for one by chance: each worker of xdist collects the same."""
    named = os.environ.get("ONEVALET_LEFT_OUT", "")
    return CHOICE if named == "all" else tuple(named.split(",")) if named else (BY_CHANCE,)


@pytest.fixture(scope="module", params=_left_out())
def tree(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Tree:
    chosen: str = request.param
    if chosen == BY_CHANCE:
        seed = os.environ.get("ONEVALET_TEST_SEED") or str(random.randrange(10_000))
        chosen = random.Random(seed).choice(CHOICE)
        sys.stderr.write(f"\nwithout the ability {chosen}: ONEVALET_TEST_SEED={seed}\n")
    assert chosen in {ability.name for ability in all_abilities()}
    gone = {chosen}
    for ability in all_abilities():  # each after those that it needs
        if gone & set(ability.needs):
            gone.add(ability.name)
    return _copied(tmp_path_factory.mktemp("left_out") / "tree", gone, chosen)


def _copied(root: Path, gone: set[str], chosen: str) -> Tree:
    left_out = (f"abilities/{chosen}/", *(f"tests/abilities/{name}/" for name in gone))
    for path in tracked_files():
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(left_out):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, root / name)
            copy_compiled(path, root / name)
    return Tree(root, frozenset(gone))


def test_web_and_worker_work_without_it(tree: Tree, database_url: str, redis_url: str, tmp_path: Path) -> None:
    port, health = free_port(), tmp_path / "worker.health"
    told = plain_environment() | {
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "ONEVALET_HOME": str(tmp_path / "home"),
        "ONEVALET_HEALTH_FILE": str(health),
        "PORT": str(port),
        "ONEVALET_SECRET_KEYS": base64.b64encode(os.urandom(32)).decode(),
        "ONEVALET_MODEL": "openai/scripted",
        "OPENAI_API_KEY": "sk-test",
        "OPENAI_API_BASE": "http://127.0.0.1:9",
        "TELEGRAM_BOT_TOKEN": "1:" + "A" * 35,
        "TELEGRAM_API_URL": "http://127.0.0.1:9",
    }
    migrated = tree.run("-m", "onevalet", "migrate", **told)
    assert migrated.returncode == 0, migrated.stderr[-2000:]
    with (
        tree.start("web", log=tmp_path / "web.log", **told),
        tree.start("worker", log=tmp_path / "worker.log", **told),
    ):
        ready = f"http://127.0.0.1:{port}/readyz"
        eventually_blocking(lambda: (_well(ready) and health.exists()) or _fail(tmp_path), "web and worker")
        done = tree.run("-m", "onevalet", "doctor", "--json", **told)
    assert '"packages"' in done.stdout, done.stderr[-2000:]
    assert {name for name in _told_of(tree.gone) if re.search(rf"\b{name}\b", done.stdout)} == set()


def test_dev_works_without_it(tree: Tree, tmp_path: Path) -> None:
    port = free_port(1)
    environment = dict(dev_environment(tmp_path / "home", port))
    with tree.start("dev", log=tmp_path / "dev.log", **environment):
        for url in (f"http://127.0.0.1:{port}/readyz", f"http://127.0.0.1:{port + 1}/sim/people"):
            eventually_blocking(partial(_well, url), url, within=2 * PATIENCE)


def test_nothing_names_it_any_more(tree: Tree) -> None:
    whole, here = Tree(ROOT, frozenset()).lists(*_LISTS), tree.lists(*_LISTS)
    lacking = [ability for ability in all_abilities() if ability.name in tree.gone]
    modules = {module for ability in lacking for module in ability.tools}
    assert bool(whole[_TOOLS] - here[_TOOLS]) == bool(modules)
    fields = {name for ability in lacking if ability.settings for name in ability.settings().kind.model_fields}
    assert whole[_SETTINGS] - here[_SETTINGS] == fields
    probes = {probe.name for ability in lacking if ability.probes for probe in ability.probes()}
    assert whole[_PROBES] - here[_PROBES] == probes
    assert whole[_WORDS] - here[_WORDS] == {word.name for ability in lacking for word in ability.words}
    tables = {table.name for ability in lacking for table in ability.tables}
    assert whole[_TABLES] - here[_TABLES] == tables
    assert whole[_KINDS] - here[_KINDS] == {kind for ability in lacking for kind in ability.starters}
    has_accounts = "accounts" not in tree.gone
    services = {service for ability in lacking for service in ability.trials} if has_accounts else whole[_SERVICES]
    assert whole[_SERVICES] - here[_SERVICES] == services
    access = {access for ability in lacking for access in ability.access} if has_accounts else whole[_ASKED]
    assert whole[_ASKED] - here[_ASKED] == access
    homes = tuple(f"abilities.{name}." for name in tree.gone)
    names = {name for name, home in onevalet.homes().items() if home.startswith(homes)}
    assert whole[_PUBLIC] - here[_PUBLIC] == names
    groups = {commands.name for ability in lacking for commands in ability.commands}
    assert {name.split()[0] for name in whole[_COMMANDS] - here[_COMMANDS]} == groups


def test_the_spine_passes_its_tests_without_it(tree: Tree) -> None:
    tests = SPINE + MORE_OF_IT[: sized(0, full=len(MORE_OF_IT))]
    done = tree.run("-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", *tests)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


def _told_of(gone: Iterable[str]) -> Iterator[str]:
    """Yield the words by which `doctor` could name abilities: their probes, their settings, what lacks an extra."""
    for ability in (ability for ability in all_abilities() if ability.name in gone):
        yield from (probe.name for probe in (ability.probes() if ability.probes else ()))
        yield from (name.upper() for name in (ability.settings().kind.model_fields if ability.settings else ()))
        yield from (extra.without for extra in ability.extras)


def _well(url: str) -> bool:
    try:
        with urlopen(url, timeout=PATIENCE) as answer:  # noqa: S310 - on this machine
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False


def _fail(logs: Path) -> bool:
    raise AssertionError("".join(path.read_text()[-1500:] for path in logs.glob("*.log")))
