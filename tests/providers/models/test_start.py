"""What is loaded at the start: only what the configured providers need."""

import subprocess
import sys

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("model")]  # one process for the three
ALL = "litellm.router"
"""What nothing but all of litellm imports."""
STARTS = {"'openai/mine'": False, "'openai/mine', ['cohere/mine']": True, "'openai/mine', direct=False": True}
"""The arguments of a client, and whether they need what litellm's own calls need."""
FORKED = """
if not os.fork():
    asyncio.run(LiteLLMClient({arguments}).warm_up())
    print({all!r} in sys.modules, flush=True)
    os._exit(0)
os.wait()
"""


@pytest.fixture(scope="module")
def loaded() -> dict[str, bool]:
    """Return what each start loaded; each goes on from a process that has loaded litellm itself and nothing else."""
    script = "import asyncio, os, sys\nfrom providers.models import litellm_library\n"
    script += "from providers.models.litellm_client import LiteLLMClient\nlitellm_library.load()\n"
    script += "".join(FORKED.format(arguments=arguments, all=ALL) for arguments in STARTS)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    said = done.stdout.split()
    return {arguments: word == "True" for arguments, word in zip(STARTS, said, strict=True)}


def test_calls_that_come_at_once_all_find_it_loaded() -> None:
    script = "import asyncio\nfrom providers.models.litellm_client import LiteLLMClient\n"
    script += "clients = [LiteLLMClient('openai/mine', direct=number % 2 == 0) for number in range(6)]\n"
    script += "async def main(): await asyncio.gather(*(client.warm_up() for client in clients))\n"
    done = subprocess.run([sys.executable, "-c", f"{script}asyncio.run(main())"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("arguments", "needed"), STARTS.items())
def test_what_litellms_own_calls_need_is_loaded_for_those_only(
    loaded: dict[str, bool], arguments: str, needed: bool
) -> None:
    assert loaded[arguments] == needed
