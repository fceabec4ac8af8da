"""A function that returns None against its annotation is found, once, and nothing else is."""

import importlib.util
from pathlib import Path

from tests.typed_returns import Watch

PLANTED = '''
"""A module of the product."""

def said(name: str) -> str:
    return None if name == "nobody" else name

async def later(
    name: str = "ann",
) -> dict[str, str | None]:
    return None

def maybe(name: str) -> str | None:
    return None

def each(names: list[str]):
    yield from names

def quiet() -> list[str]:
    found = (lambda: None)()
    class Inner:
        pass
    return [found]
'''


async def test_only_what_returns_none_against_its_annotation_is_found(tmp_path: Path) -> None:
    (tmp_path / "planted.py").write_text(PLANTED)
    spec = importlib.util.spec_from_file_location("planted", tmp_path / "planted.py")
    assert spec is not None
    assert spec.loader is not None
    planted = importlib.util.module_from_spec(spec)
    watch = Watch(tmp_path, tool=4)
    watch.start()
    try:
        spec.loader.exec_module(planted)
        planted.maybe("ann")
        planted.quiet()
        assert list(planted.each(["ann"])) == ["ann"]
        assert watch.take() == []
        planted.said("nobody")
        planted.said("nobody")
        await planted.later()
    finally:
        watch.stop()
    assert [line.partition(": ")[2] for line in watch.take()] == [
        "said -> str returned None",
        "later -> dict[str, str | None] returned None",
    ]
    assert watch.take() == []
