"""What the README's picture shows: the page's files and the talk in it, and the record of both beside the picture."""

import hashlib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "page.png"
RECORD = ROOT / "docs" / "page.sha256"
_SHOWN = ("workbench/simulator/page", "tests/page/picture.py")
"""The page that is drawn, and what is said on it."""


def fingerprint() -> str:
    """Return one hash over all that the picture shows."""
    whole = hashlib.sha256()
    for name in _SHOWN:
        path = ROOT / name
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in (file for file in files if file.is_file() and "__pycache__" not in file.parts):
            digest = hashlib.sha256(file.read_bytes()).hexdigest()
            whole.update(f"{file.relative_to(ROOT).as_posix()} {digest}\n".encode())
    return whole.hexdigest()


def record(picture: Path = PICTURE) -> str:
    """Return the text to keep beside a picture that was just taken."""
    return f"{hashlib.sha256(picture.read_bytes()).hexdigest()}  page.png\n{fingerprint()}  what it shows\n"
