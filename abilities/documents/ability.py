"""The text of people's files: PDFs, documents, sheets, pictures and recordings, read in a process apart."""

from contextlib import AsyncExitStack

from onevalet.ability import Ability
from onevalet.foundations import OpeningFoundation


def _opens(_: AsyncExitStack, foundation: OpeningFoundation) -> None:
    from abilities.documents.file import read_content
    from core.files.types import FileReader

    foundation.opened.add(FileReader, read_content)


ABILITY = Ability(name="documents", opens=_opens)
