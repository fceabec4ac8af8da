"""The environment of the processes that are started: nothing of ours but what each needs to start at all."""

import os

_OF_LOADERS = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH")


def child_environment(**values: str) -> dict[str, str]:
    """Return these values, and where the loader finds libraries: some Pythons find their own nowhere else."""
    return {name: os.environ[name] for name in _OF_LOADERS if name in os.environ} | values
