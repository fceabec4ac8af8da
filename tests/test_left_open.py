"""A test that leaves a client session or a connection open fails itself, and no other."""

import os

import pytest

from tests.forker import ROOT

pytest_plugins = ["pytester"]
TESTS = """
import os

import aiohttp
import asyncpg
import pytest

kept = []

@pytest.fixture(scope="module")
async def shared():
    async with aiohttp.ClientSession() as session:
        yield session

@pytest.fixture
async def own():
    async with aiohttp.ClientSession() as session:
        yield session

async def test_leaves(): kept.append(aiohttp.ClientSession())

async def test_closes(shared, own): pass

async def test_comes_later(shared): pass

async def test_leaves_a_connection(): kept.append(await asyncpg.connect(os.environ["POSTGRES"]))

async def test_tidies_up():
    await kept[0].close()
    await kept[1].close()
"""


def test_what_is_left_open_fails_the_test_that_made_it(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, database_url: str
) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setenv("POSTGRES", database_url)
    pytester.makepyprojecttoml(
        '[tool.pytest.ini_options]\naddopts = ["-p", "tests.left_open"]\nasyncio_mode = "auto"\n'
        'asyncio_default_fixture_loop_scope = "session"\nasyncio_default_test_loop_scope = "session"\n'
    )
    pytester.makepyfile(TESTS)
    told = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    told.assert_outcomes(passed=5, errors=2)
    told.stdout.fnmatch_lines(["*ERROR at teardown of test_leaves *", "1 left open; the first is a client session*"])
    told.stdout.fnmatch_lines(["*ERROR at teardown of test_leaves_a_connection*", "*is a connection to Postgres*"])
