"""`python -m tests.page.newcomer`: from a clean clone to the end of the guided minute, and how long it takes."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.forker import ROOT
from tests.page.chromium import Browser, open_page, running_browser
from tests.page.guided import follow_guide
from tests.ports import free_port

_READY = b"  simulator  "
_OURS = ("ONEVALET_", "VIRTUAL_ENV", "UV_PROJECT")
"""Of this environment, what a newcomer does not have."""


@dataclass(frozen=True, slots=True)
class Minute:
    """How long each part took, in seconds."""

    clone: float
    start: float
    guide: float

    def __str__(self) -> str:
        whole = self.clone + self.start + self.guide
        return (
            f"clone {self.clone:.0f} s, first start {self.start:.0f} s, guide {self.guide:.0f} s: {whole:.0f} s in all"
        )


def main(browser: Browser, folder: Path) -> Minute:
    """Clone, run `bin/dev` there as the README says, and follow the guide in a browser that runs already."""
    begun = time.monotonic()
    project = folder / "onevalet"
    subprocess.run(["git", "clone", "--quiet", "--depth", "1", f"file://{ROOT}", project], check=True)
    cloned = time.monotonic()
    port = free_port(1)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    environment |= {"PORT": str(port), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen([project / "bin" / "dev"], cwd=project, env=environment, stdout=subprocess.PIPE) as dev:
        try:
            assert dev.stdout is not None
            shown = b""
            while _READY not in shown:
                line = dev.stdout.readline()
                assert line, shown.decode()
                shown += line
            started = time.monotonic()
            asyncio.run(_follow(browser, f"http://127.0.0.1:{port + 1}"))
            done = time.monotonic()
        finally:
            dev.send_signal(signal.SIGINT)
            dev.communicate()
    return Minute(cloned - begun, started - cloned, done - started)


async def _follow(browser: Browser, url: str) -> None:
    async with open_page(browser) as page:
        await follow_guide(page, url)
        await page.leave()


if __name__ == "__main__":
    with running_browser() as browser, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        sys.stdout.write(f"{main(browser, Path(place))}\n")
