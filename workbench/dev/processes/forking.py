"""Processes of `dev`: each is forked from a process with a worker's imports, and so starts work in a moment."""

import multiprocessing
import os
from collections.abc import Callable, Mapping
from multiprocessing.context import ForkServerProcess

from onevalet.wiring.preload import worker_modules

CONTEXT = multiprocessing.get_context("forkserver")


def make_process(
    name: str, environment: Mapping[str, str], target: Callable[..., None], *args: object
) -> ForkServerProcess:
    """Return a process that calls `target` in this environment. The first start of one waits for the imports."""
    CONTEXT.set_forkserver_preload(["workbench.dev.processes.child", *worker_modules()])
    return CONTEXT.Process(target=_call, args=(dict(environment), target, args), name=f"onevalet {name}", daemon=False)


def _call(environment: Mapping[str, str], target: Callable[..., None], args: tuple[object, ...]) -> None:
    # The process that forks has the environment of its own start.
    os.environ.clear()
    os.environ.update(environment)
    target(*args)
