"""The model field: a local server, or a key, tried before it is kept; the demo model steps back, and returns."""

import signal
import stat
from pathlib import Path

import aiohttp
import pytest

from onevalet.testing.scripted_model import ModelCall, Reply, ScriptedModel, error, text
from tests.forker import Forker
from tests.page.chromium import Page
from tests.page.looks import flaws
from tests.page.talk import ask, said
from tests.running_dev import RunningDev, running_dev

pytestmark = [pytest.mark.timeout(600, func_only=True), pytest.mark.xdist_group("own dev"), pytest.mark.slow]
KEY, WRONG = "sk-right-0123456789", "sk-wrong-0123456789"
LONG = 180.0
"""Seconds in which a busy machine loads what asks a model."""


def at_home(_: ModelCall) -> Reply:
    return text("The model at home says so.")


def hosted(call: ModelCall) -> Reply:
    return text("The hosted model says so.") if call.key == KEY else error(401, code="invalid_api_key")


async def test_a_model_is_chosen_tried_kept_and_left_again(page: Page, tmp_path: Path, forker: Forker) -> None:
    home = tmp_path / "home"
    async with ScriptedModel(at_home, listed=("small-8b",)) as local, ScriptedModel(hosted) as provider:
        settings = {"OLLAMA_HOST": local.url.removesuffix("/v1"), "OPENAI_API_BASE": provider.url}
        with running_dev(forker, home, signal.SIGINT, settings) as dev:
            await page.goto(dev.simulator_url)
            await _says(page, "demo")
            await _choose_local(page)
            await _says(page, "The model at home")
            await _refused(page, WRONG)
            await _says(page, "The model at home")
            await _choose_key(page, KEY)
            assert await page.evaluate("document.querySelector('[name=preset]').value") == "openai"
            await _says(page, "The hosted model")
            assert stat.S_IMODE((home / "model.env").stat().st_mode) == 0o600
            await _keys_stay_secret(page, dev)
            await page.leave()
        with running_dev(forker, home, signal.SIGINT, settings) as dev:
            await page.goto(dev.simulator_url)
            await _says(page, "The hosted model")
            await _run_processes(dev)
            await _choose_local(page)
            await _says(page, "The model at home")
            await page.click("#open-model")
            await page.click("#model button", "Back to the demo model")
            await page.until("document.querySelector('#open-model').innerText === 'Demo model'", LONG)
            await page.until("document.querySelector('#notice').innerText.includes('demo model')")
            await page.evaluate("document.querySelector('#model').close()")
            await _says(page, "demo")
            assert not (home / "model.env").exists()
            await page.leave()
    log = (tmp_path / "home.log").read_text()
    assert "model_chosen" in log
    assert KEY not in log
    assert WRONG not in log


async def _choose_local(page: Page) -> None:
    await page.click("#open-model")
    await page.until("document.querySelector('#model .server').innerText.includes('vLLM at')")
    if not await page.evaluate("window.looked"):
        assert await flaws(page) == []
        await page.evaluate("window.looked = true")
    await page.click("#model button", "Look again")
    await page.until("document.querySelector('#model .server')?.innerText.includes('vLLM at')")
    await page.click("#model .server button", "Use it")
    await page.until("document.querySelector('#open-model').innerText === 'small-8b'", LONG)
    await page.until("!document.querySelector('#notice').checkVisibility()")
    await page.click("#model [aria-label='Close']")
    await page.until("!document.querySelector('#model').open")


async def _type_key(page: Page, key: str) -> None:
    await page.click("#open-model")
    await page.type("#model [name=key]", key, send=False)
    await page.until("document.querySelector('#model [name=model]').value === 'openai/gpt-5-mini'")
    await page.click("#model .primary", "Try it")


async def _refused(page: Page, key: str) -> None:
    await _type_key(page, key)
    await page.until("document.querySelector('#model .problem').innerText.includes('OpenAI refuses this key')", LONG)
    assert await page.evaluate("document.querySelector('#open-model').innerText") == "small-8b"
    await page.evaluate("document.querySelector('#model').close()")


async def _choose_key(page: Page, key: str) -> None:
    await _type_key(page, key)
    await page.until("document.querySelector('#open-model').innerText === 'gpt-5-mini'", LONG)
    await page.evaluate("document.querySelector('#model').close()")


async def _says(page: Page, words: str) -> None:
    """Ask, and read the words in the answer to it."""
    before = await page.evaluate(f"{said('phone')}.length")
    await ask(page, "phone", f"What can you do? ({before})")
    await page.until(f"{said('phone')}.slice({before}).some((one) => one.includes({words!r}))", LONG)


async def _keys_stay_secret(page: Page, dev: RunningDev) -> None:
    assert KEY not in await page.evaluate("document.documentElement.outerHTML")
    assert await page.evaluate("document.querySelector('#model [name=key]').value") == ""
    async with aiohttp.ClientSession() as http:
        for path in ("/bench/model", "/sim/state", "/sim/journal", "/sim/config"):
            async with http.get(dev.simulator_url + path) as answer:
                assert KEY not in await answer.text(), path
        async with http.get(f"{dev.simulator_url}/bench/model", headers={"Host": "evil.example"}) as answer:
            assert answer.status == 403


async def _run_processes(dev: RunningDev) -> None:
    async with (
        aiohttp.ClientSession() as http,
        http.post(f"{dev.simulator_url}/bench/breaking", json={"processes": True}) as answer,
    ):
        assert answer.status == 200
