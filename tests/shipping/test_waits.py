"""Tests wait for facts, by `tests.eventually`, and share nothing with other tests: what breaks that is listed."""

import ast

import pytest

from tests.shipping import waits
from tests.shipping.harness import read
from tests.shipping.waits import RULES, Allowed, allowed, as_toml, breaches, renewed

PLANTED: list[tuple[str, str]] = [
    ("sleep", "async def test_a() -> None:\n    await asyncio.sleep(0.1)\n"),
    ("sleep", "time.sleep(PAUSE)\n"),
    ("sleep", "await page.wait_for_timeout(500)\n"),
    ("sleep", "loop.call_later(0.01, answer.set)\n"),
    ("sleep", "await admin.execute('select pg_sleep(1)')\n"),
    ("sleep", "await admin.execute(f'begin; select pg_sleep({seconds})')\n"),
    ("poll", "while not done():\n    await asyncio.sleep(0)\n"),
    ("poll", "while True:\n    if done():\n        break\n    time.sleep(PAUSE)\n"),
    ("poll", "for _ in range(100):\n    await asyncio.sleep(PAUSE)\n"),
    ("port", "await asyncio.start_server(answer, '127.0.0.1', 8080)\n"),
    ("port", "web.TCPSite(runner, port=8080)\n"),
    ("port", "serve(http_port=8080)\n"),
    ("port", "server.bind(('localhost', 5432))\n"),
    ("port", "await session.get('http://127.0.0.1:8080/readyz')\n"),
    ("port", "with serving(settings('http://localhost:4318')):\n    pass\n"),
    ("probed-port", "with socket.socket() as probe:\n    probe.bind(HERE)\n    port = probe.getsockname()[1]\n"),
    (
        "probed-port",
        "with socket.create_server(HERE) as one:\n    port = int(one.getsockname()[1])\n",
    ),
    ("shared-count", "COUNT = 'select count(*) from pg_stat_activity'\n"),
    ("shared-count", "COUNT = f'select {what} from pg_locks where not granted'\n"),
    ("shared-count", "COUNT = \"select 1 from pg_stat_activity where application_name = 'onevalet'\"\n"),
    ("shared-count", "await redis.info('commandstats')\n"),
    ("shared-count", "await redis.execute_command('INFO')\n"),
    ("shared-count", "await redis.client_list()\n"),
    ("shared-name", "await admin.execute('create role plain login')\n"),
    ("shared-name", "await admin.execute(f'CREATE DATABASE plain owner {name}')\n"),
    ("short-patience", "async with asyncio.timeout(5):\n    pass\n"),
    ("short-patience", "await asyncio.wait_for(answer, 2)\n"),
    ("short-patience", "process.wait(timeout=10)\n"),
    ("short-patience", "await eventually(look, within=0.5)\n"),
    ("short-patience", "aiohttp.ClientTimeout(total=5)\n"),
    ("short-patience", "pytestmark = pytest.mark.timeout(60)\n"),
    ("measured-bound", "assert time.monotonic() - began < 2\n"),
    ("measured-bound", "took = time.process_time() - began\nassert 0.1 < took <= 2\n"),
    ("measured-bound", "assert timedelta(seconds=5) > datetime.now(UTC) - began\n"),
    ("process-wide", "os.environ['HOME'] = '/'\n"),
    ("process-wide", "del os.environ['HOME']\n"),
    ("process-wide", "os.environ.update(HOME='/')\n"),
    ("process-wide", "sys.modules['mcp'] = None\n"),
    ("process-wide", "structlog.configure(processors=[])\n"),
    ("process-wide", "random.seed(1)\n"),
    ("fixed-path", "Path('/tmp/onevalet.sock')\n"),
    ("fixed-path", "FOLDER = f'/dev/shm/{name}'\n"),
    ("chance", "random.shuffle(texts)\n"),
    ("chance", "chance = random.Random()\n"),
    ("clock", "assert row['at'] <= datetime.now(UTC)\n"),
    ("clock", "assert is_due(task, date.today())\n"),
    ("clock", "assert before <= time.time()\n"),
    ("process-number", "assert worker.pid != first_pid\n"),
    ("process-number", "assert os.getpid() in pids\n"),
    ("process-number", "gone = not psutil.pid_exists(number)\n"),
    ("process-number", "os.kill(number, 0)\n"),
    ("example-limit", "settings(max_examples=20, deadline=1000)\n"),
]
FINE: dict[str, str] = {
    "sleep": "await asyncio.sleep(0)\nawait clock.sleep(span)\nsleep = asyncio.sleep\n",
    "poll": "for text in texts:\n    await asyncio.sleep(APART)\nfor _ in range(3):\n    await asyncio.sleep(0)\n"
    "while queue:\n    async def slow() -> None:\n        await asyncio.sleep(1)\n    await eventually(queue.pop)\n",
    "port": "site = web.TCPSite(runner, '127.0.0.1', 0)\nserve(port=free_port())\n"
    "await session.get('http://127.0.0.1:9/')\nassert host_of('http://localhost:8080') == ('localhost', 8080)\n",
    "probed-port": "with socket.socket() as server:\n    server.bind(HERE)\n    yield int(server.getsockname()[1])\n"
    "port = listening.sockets[0].getsockname()[1]\n",
    "shared-count": "A = 'select count(*) from pg_stat_activity where datname = current_database()'\n"
    "B = 'select 1 from pg_stat_activity where pid = $1'\nlog.info('worker_started')\nC = 'pg_stat_user_tables'\n",
    "shared-name": "await admin.execute(f'create role {name} login')\nNOTES = 'create table database'\n",
    "short-patience": "await eventually(look)\nasync with asyncio.timeout(PATIENCE):\n    pass\n"
    "await wait_for(answer, patience(5))\n','.join(words)\npytestmark = pytest.mark.timeout(600)\nawait done.wait()\n",
    "measured-bound": "assert time.monotonic() - began >= 2\nassert count - before < 3\nuntil = time.monotonic() + 5\n",
    "process-wide": "monkeypatch.setenv('HOME', '/')\nhome = os.environ['HOME']\n",
    "fixed-path": "'''/tmp is a folder.'''\nPath(tmp_path / 'a')\nURL = 'https://a.example/tmp/'\n",
    "chance": "chance = random.Random(1)\nchance.shuffle(texts)\n",
    "clock": "now = datetime.now(UTC)\nassert now == clock.now()\n",
    "process-number": "assert psutil.Process(worker.pid).children() == []\n"
    "assert worker.pid is not None\nkill(worker.pid)\n",
    "example-limit": "settings(max_examples=20, deadline=None)\n",
}


def told(rule: str, source: str) -> list[tuple[int, str]]:
    """Return what a rule finds, where its words let it look at all."""
    return list(RULES[rule].find(source)) if RULES[rule].words.search(source) else []


@pytest.mark.xdist_group("waits")
def test_nothing_in_tests_fails_by_chance_but_what_is_listed() -> None:
    listed = allowed()
    new = {
        f"{path}, {rule}": lines
        for path, rules in breaches().items()
        for rule, lines in rules.items()
        if len(lines) > (listed.get(path, {}).get(rule) or Allowed(0, "")).count
    }
    assert new == {}, "wait for a fact by tests.eventually; the docstring of tests/shipping/waits.py has the rest"


@pytest.mark.xdist_group("waits")
def test_the_list_of_what_may_fail_by_chance_only_shrinks() -> None:
    found = breaches()
    mended = {
        f"{path}, {rule}": (entry.count, there)
        for path, rules in allowed().items()
        for rule, entry in rules.items()
        if (there := len(found.get(path, {}).get(rule, []))) < entry.count
    }
    assert mended == {}, "uv run -m tests.shipping.waits"


def test_each_place_that_may_wait_for_a_while_says_why() -> None:
    assert [path for path, rules in allowed().items() for entry in rules.values() if not entry.why.strip()] == []


def test_the_planted_cases_cover_every_rule() -> None:
    assert {rule for rule, _ in PLANTED} == set(RULES) == set(FINE)


@pytest.mark.parametrize(("rule", "source"), PLANTED)
def test_a_planted_cause_of_chance_is_found(rule: str, source: str) -> None:
    assert len(told(rule, source)) == 1


@pytest.mark.parametrize(("rule", "source"), FINE.items())
def test_waits_for_facts_and_own_things_are_accepted(rule: str, source: str) -> None:
    ast.parse(source)
    assert list(RULES[rule].find(source)) == []


@pytest.mark.parametrize(("raised", "counts"), [(False, {"sleep": 1}), (True, {"sleep": 3, "poll": 1})])
def test_the_list_is_raised_only_when_asked(
    monkeypatch: pytest.MonkeyPatch, raised: bool, counts: dict[str, int]
) -> None:
    listed = {"a.py": {"sleep": Allowed(1, "paces"), "port": Allowed(1, "gone")}, "b.py": {"poll": Allowed(1, "gone")}}
    monkeypatch.setattr(waits, "allowed", lambda: listed)
    after = renewed({"a.py": {"sleep": ["1", "2", "3"], "poll": ["4"]}}, raised=raised)
    assert {path: {rule: entry.count for rule, entry in rules.items()} for path, rules in after.items()} == {
        "a.py": counts
    }
    assert after["a.py"]["sleep"].why == "paces"


def test_the_list_stands_as_its_command_writes_it() -> None:
    assert as_toml(allowed()) == read(waits.LIST)
