"""The content of a person's file, read in a child process: a hostile file costs a sentence, never a worker."""

from pathlib import Path

import structlog

from core.children.child_job import Unreadable
from core.children.child_process import ChildFailed, NoChild, ask_child
from core.files.kinds import FileFailure, FileKind
from core.files.types import FileContent, FileUnreadable
from core.json_types import storable
from core.language.unseen import without_unseen

FILE_SCRIPT = Path(__file__).with_name("file_script.py")
_UNREADABLE = {
    FileKind.VIDEO: FileFailure.VIDEO,
    FileKind.OTHER: FileFailure.UNKNOWN,
}

_log = structlog.get_logger()


async def read_content(data: bytes, kind: FileKind) -> FileContent:
    """Return a file's content. Raises `FileUnreadable`."""
    if kind in _UNREADABLE:
        raise FileUnreadable(_UNREADABLE[kind])
    try:
        found, picture = await ask_child(FILE_SCRIPT, {"kind": kind.value}, data)
    except NoChild as error:
        _log.error("no_child_process", error=str(error))
        raise FileUnreadable(FileFailure.UNREAD) from error
    except ChildFailed as error:
        raise FileUnreadable(FileFailure.TOO_MUCH) from error
    except Unreadable as error:
        raise FileUnreadable(FileFailure(str(error))) from error
    pages = tuple(without_unseen(str(storable(page))) for page in found.pop("pages", ()))
    return FileContent(pages=pages, picture=picture, **found)


def numbered(number: int, text: str) -> str:
    """Return a page below its number."""
    return f"--- Page {number} ---\n{text}"
