"""The environment of the processes that are started: only the variables without which none could start."""

import os

_OF_LOADERS = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH")


def child_environment(**values: str) -> dict[str, str]:
    """Return these values and the loader's search paths: some Pythons find their own libraries nowhere else."""
    return {name: os.environ[name] for name in _OF_LOADERS if name in os.environ} | values
