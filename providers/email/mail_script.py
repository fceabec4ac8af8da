"""The child process that reads messages by mail: a script by itself, which no other module imports."""

from core.children.child_job import answer_request
from providers.email.reading.mail import read

PRELOADED = (
    "email.parser",
    "nh3",
    "resiliparse.extract.html2text",
    "resiliparse.parse.encoding",
    "resiliparse.parse.html",
)
MEMORY = 816 * 1024 * 1024
"""Bytes of address space: 768 MB, and some 48 MB for modules imported besides a reader's own needs."""
CPU_SECONDS = 20


if __name__ == "__main__":
    answer_request(read, memory=MEMORY, cpu_seconds=CPU_SECONDS)
