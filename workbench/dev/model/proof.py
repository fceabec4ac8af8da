"""Asks a model for a single word in a process of its own, in which its address and key disturb no other work."""

import asyncio
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection

from core.errors import ConfigError, ModelError
from workbench.dev.model.choice import EXPORTED
from workbench.dev.processes.forking import CONTEXT, make_process

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
    receiver, sender = CONTEXT.Pipe(duplex=False)
    plain = {name: value for name, value in os.environ.items() if name not in EXPORTED}
    process = make_process("trial", plain | dict(environment), _answer, sender, dict(values), seconds, server)
    with receiver, sender:
        try:
            await asyncio.to_thread(process.start)
            sender.close()  # its end is the process's own now
            came = await asyncio.to_thread(receiver.poll, seconds + _LOADING)
            proof: Proof = receiver.recv() if came else Proof("ModelTimeout")
        except EOFError:
            proof = Proof("ModelTimeout")
        finally:
            if process.pid is not None:
                process.kill()
                await asyncio.to_thread(process.join)
    return proof


def _answer(sender: Connection, values: Mapping[str, str], seconds: float, server: str) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for shown in (1, 2):  # what the model's library says is for nobody
        os.dup2(nowhere, shown)
    sender.send(asyncio.run(_try(values, seconds, server)))


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
