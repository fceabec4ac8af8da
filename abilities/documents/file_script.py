"""The child process that reads a person's file: a script by itself, which no other module imports.

Request: the file's `kind`, and its bytes. Answer: the content, and the bytes of a picture.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from core.children.child_job import JobAnswer, answer_request

# All that is needed but pillow-heif, which takes 25 MB of address space and would save 20 ms in few jobs.
PRELOADED = (
    "PIL.BmpImagePlugin",
    "PIL.GifImagePlugin",
    "PIL.ImageOps",
    "PIL.JpegImagePlugin",
    "PIL.MpoImagePlugin",
    "PIL.PngImagePlugin",
    "PIL.PpmImagePlugin",
    "PIL.TiffImagePlugin",
    "PIL.WebPImagePlugin",
    "abilities.documents.readers.office",
    "abilities.documents.readers.pdf",
    "abilities.documents.readers.pictures",
    "abilities.documents.readers.recordings",
    "abilities.documents.readers.texts",
    "encodings.cp437",
    "pypdf",
    "pypdf.filters",
    "resiliparse.parse.encoding",
)
MEMORY = 816 * 1024 * 1024
"""Bytes of address space: 768 MB for a reader, and some 48 MB for modules that it finds imported."""
CPU_SECONDS = 20
_READERS = {
    "picture": "pictures",
    "pdf": "pdf",
    "office": "office",
    "text": "texts",
    "audio": "recordings",
}


def read(asked: Mapping[str, Any], data: bytes) -> JobAnswer:
    """Return the content of a file of this kind."""
    reader = import_module(f"abilities.documents.readers.{_READERS[asked['kind']]}")
    answer: JobAnswer = reader.read(data)
    return answer


if __name__ == "__main__":
    answer_request(read, memory=MEMORY, cpu_seconds=CPU_SECONDS)
