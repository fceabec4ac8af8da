"""Hostile pages, read in a child process: each ends in a sentence or in text, and the worker goes on."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from abilities.web.page import read_html
from abilities.web.page_script import MAX_TAGS
from core.children.child_process import ChildFailed, run_in_child
from core.errors import ToolFailed
from core.http.types import HttpResponse
from tests.eventually import eventually
from tests.patience import PATIENCE

MB = 1024 * 1024


REFUSED = "That page cannot be read: it is broken or too complex."


async def _text_or_refusal(response: HttpResponse) -> str:
    try:
        return (await read_html(response)).text
    except ToolFailed as failed:
        return str(failed)


def _response(body: bytes, kind: str = "text/html") -> HttpResponse:
    return HttpResponse(200, {"Content-Type": kind}, body, url="https://page.example/")


@pytest.mark.parametrize(
    "body",
    [
        b"<p>" + b"&lt;" * 400_000,
        b"<!--" * 300_000,
        b"\0\1\2" * 600_000,
        b"<a href='" + b"x" * MB + b"'>link</a>",
        b"<p a=1 " + b"b=2 " * 300_000 + b">",
        b"<meta charset='\xff\xfe'>\x80\x81",
        b"<title>" + b"t" * MB,
        b"<base href='javascript:alert(1)'><a href='//[::1'>x</a>",
    ],
    ids=["entities", "comments", "binary", "long-link", "attributes", "charset", "title", "base"],
)
async def test_a_strange_page_is_text_or_one_sentence(body: bytes) -> None:
    text = await _text_or_refusal(_response(body))
    assert text == REFUSED or len(text) <= MB


async def test_a_page_of_thousands_of_links_is_read() -> None:
    links = "".join(f"<p><a href='/{number}'>link {number}</a>.</p>" for number in range(4000))
    text = await _text_or_refusal(_response(links.encode()))
    assert "https://page.example/2999" in text
    assert "link 3999" in text
    assert "https://page.example/3000" not in text


async def test_a_page_of_too_many_tags_is_cut_and_says_so() -> None:
    page = await read_html(_response("".join(f"<p>{number}</p>" for number in range(100_000)).encode()))
    assert page.cut
    assert page.text.startswith("0\n")
    assert page.text.split()[-1] == str(MAX_TAGS // 2 - 1)
    assert not (await read_html(_response(b"<p>0</p>"))).cut


async def test_a_page_that_never_ends_costs_its_own_process_only(tmp_path: Path) -> None:
    endless = tmp_path / "endless.py"
    endless.write_text("while True: pass")
    running = asyncio.create_task(run_in_child(endless, b"", seconds=0.5))
    looks = 0

    def ended() -> bool:
        nonlocal looks
        looks += 1
        return running.done()

    await eventually(ended, "the end of the child")
    assert looks > 3, "the loop stood still meanwhile"
    with pytest.raises(ChildFailed, match="too long"):
        await running


_FLOOD = "import sys\nwhile True: sys.stdout.write('x' * 65536)"


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("import os; os.kill(os.getpid(), 11)", "ended with -11"),
        (_FLOOD, "too much"),
        (f"import fcntl, sys\nfcntl.fcntl(1, fcntl.F_SETPIPE_SZ, {MB})\n{_FLOOD}", "too much"),
        ("raise SystemExit(3)", "ended with 3"),
        ("import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 28,) * 2); bytearray(1 << 29)", "ended with 1"),
    ],
    ids=["crash", "output", "output in large pieces", "exit", "memory"],
)
async def test_a_child_that_breaks_is_told(tmp_path: Path, script: str, why: str) -> None:
    path = tmp_path / "script.py"
    path.write_text(script)
    with pytest.raises(ChildFailed, match=why):
        await run_in_child(path, b"input" * MB, seconds=PATIENCE)


_LEAVES_ANOTHER = """
import os, signal
told, tell = os.pipe()
if not os.fork():
    os.setsid()
    with open(__file__ + ".pid", "w") as file:
        file.write(str(os.getpid()))
    os.write(tell, b"written")
    signal.pause()
os.read(told, 1)
"""


async def test_what_a_child_leaves_behind_with_its_pipes_holds_nobody_up(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(f"{_LEAVES_ANOTHER}{_FLOOD}")
    with pytest.raises(ChildFailed, match="too much"):
        await run_in_child(path, b"input" * MB, seconds=PATIENCE)
    os.kill(int((tmp_path / "script.py.pid").read_text()), signal.SIGKILL)


async def test_a_child_has_nothing_of_our_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONEVALET_SEARCH_KEY", "secret")
    path = tmp_path / "script.py"
    path.write_text("import os, sys; sys.stdout.write(repr(sorted(os.environ)) + repr(sys.path))")
    out = (await run_in_child(path, b"")).decode()
    assert "ONEVALET" not in out
    assert "''" not in out
    assert repr(str(tmp_path)) not in out, "nothing is imported from where it is started"


async def test_the_reader_is_loaded_in_the_child_only(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*sys.modules]:
        if name.partition(".")[0] == "resiliparse":  # as another test left it
            monkeypatch.delitem(sys.modules, name)
    page = await read_html(_response(b"<title>T</title><p>Text</p>"))
    assert (page.title, page.text) == ("T", "Text")
    assert "resiliparse" not in sys.modules
