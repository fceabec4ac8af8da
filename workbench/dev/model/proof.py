"""Asks a model for a single word in a process of its own, in which its address and key disturb no other work.

As a program it reads the values to try as JSON from its standard input, so that no key is on a command line.
"""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from core.children.child_environment import child_environment
from core.errors import ConfigError, ModelError
from workbench.dev.model.choice import EXPORTED

_ROOT = Path(__file__).parents[3]
_LOADING = 90.0
"""Seconds that it may take to load litellm on a busy machine, besides the call."""


@dataclass(frozen=True, slots=True)
class Proof:
    """The result: `failed` is empty, or the name of the error. `detail` is a sentence, if there is any.

    `context` is the context size of the loaded model in tokens; 0 if it is unknown.
    """

    failed: str = ""
    detail: str = ""
    seconds: float = 0.0
    context: int = 0


async def prove(values: Mapping[str, str], environment: Mapping[str, str], seconds: float, server: str = "") -> Proof:
    """Try the model of these values once. `server`: the origin of a local server, which is asked for its context."""
    wanted = json.dumps({"values": dict(values), "seconds": seconds, "server": server})
    plain = {name: value for name, value in os.environ.items() if name not in EXPORTED}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "workbench.dev.model.proof",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=child_environment(**plain) | dict(environment),
        cwd=_ROOT,
    )
    try:
        async with asyncio.timeout(seconds + _LOADING):
            told, _ = await process.communicate(wanted.encode())
        return Proof(**json.loads(told.splitlines()[-1]))
    except (TimeoutError, ValueError, IndexError):
        return Proof("ModelTimeout")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _try(values: Mapping[str, str], seconds: float, server: str) -> Proof:
    from onevalet.init.local_servers import find_servers, loaded_context
    from onevalet.settings import Settings
    from onevalet.wiring.models import budget_prices, build_client
    from operations.doctor.models import ask_once

    fields = {name.lower(): value for name, value in values.items() if name.lower() in Settings.model_fields}
    settings = Settings(**fields)  # type: ignore[arg-type]
    client = build_client(settings)
    try:
        await client.warm_up()
        budget_prices(settings, client)
        begun = time.monotonic()
        await ask_once(settings, client, seconds)
        took = time.monotonic() - begun
    except ConfigError as error:
        return Proof("ConfigError", str(error))
    except ModelError as error:
        return Proof(type(error).__name__)
    finally:
        await client.close()
    found = await find_servers([server]) if server else []
    name = settings.onevalet_model.partition("/")[2]
    return Proof(seconds=took, context=await loaded_context(found[0], name) if found else 0)


def _main() -> None:
    wanted = json.loads(sys.stdin.read())
    proof = asyncio.run(_try(wanted["values"], wanted["seconds"], wanted["server"]))
    sys.stdout.write(f"{json.dumps(asdict(proof))}\n")


if __name__ == "__main__":
    _main()
