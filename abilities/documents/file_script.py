"""The child process that reads a person's file: a script by itself, which no other module imports.

Input: one line with the file's kind, and its bytes. Output: one line of JSON, and the bytes of a picture.
"""

import json
import os
import resource
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

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
"""Bytes of address space: 768 MB and what a reader finds imported besides its own needs, some 48 MB."""
CPU_SECONDS = 20
_READERS = {
    "picture": "pictures",
    "pdf": "pdf",
    "office": "office",
    "text": "texts",
    "audio": "recordings",
}


def main() -> None:
    """Limit this process, then read and answer."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(PermissionError):  # systemd's filters of system calls may refuse it, and it only spares others
        os.nice(2)
    # `-I` keeps every path of ours out, so that only this one is added.
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    limits = import_module("abilities.documents.readers.limits")
    kind = sys.stdin.buffer.readline().decode().strip()
    data = sys.stdin.buffer.read()
    try:
        found, body = import_module(f"abilities.documents.readers.{_READERS[kind]}").read(data)
    except limits.Unreadable as error:
        found, body = {"failure": str(error)}, b""
    except ModuleNotFoundError:
        found, body = {"failure": "no_reader"}, b""
    except MemoryError:
        found, body = {"failure": "too_much"}, b""
    except Exception:  # whatever a library raises on a file that is made to break it
        found, body = {"failure": "broken"}, b""
    sys.stdout.buffer.write(json.dumps(found, ensure_ascii=True).encode() + b"\n" + body)


if __name__ == "__main__":
    main()
