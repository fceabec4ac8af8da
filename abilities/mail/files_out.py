"""The files that go out with an email: named on the card, and sent as they were named."""

from collections.abc import Sequence

from abilities.mail.opening import id_in, labelled, size_in_words
from onevalet import (
    MailFile,
    MailMessage,
    StoredFile,
    ToolExecutionContext,
    ToolFailed,
    ToolRetry,
    gettext,
    take_file,
)

MAX_FILES = 10
MAX_BYTES = 20 * 1024 * 1024
"""Bytes of all files together: most providers take 25 MB, encoded."""


async def files_named(context: ToolExecutionContext, given: Sequence[str]) -> list[str]:
    """Return the files that are meant, by id or by name, as cards name them. Raises `ToolRetry`."""
    kept = {file.id: file for file in await context.files.list()}
    named: list[str] = []
    for text in given:
        wanted = id_in(text)
        fitting = [file for file in kept.values() if file.name.casefold() == wanted.casefold()]
        if wanted not in kept and len(fitting) != 1:
            found = None if fitting else await context.files.find(wanted)
        else:
            found = kept.get(wanted) or fitting[0]
        if found is None:
            raise ToolRetry(f"Several files are called {wanted!r}. Name one by its id; list_files has the ids.")
        named.append(_label(await context.files.find(found.id)))
    return list(dict.fromkeys(named))


async def mail_files(context: ToolExecutionContext, message: MailMessage, raw: bytes, *, whole: bool) -> list[str]:
    """Store the files of a forwarded mail, or with `whole` the mail itself, and return their labels on cards."""
    if whole:
        name = "".join(char for char in message.subject if char.isalnum() or char in " -_")[:60].strip()
        return [_label(await context.files.keep(f"{name or 'mail'}.eml", raw, "application/octet-stream"))]
    kept: list[StoredFile] = []
    for attachment in message.attachments[:MAX_FILES]:
        file = await take_file(raw, attachment.number)
        if file.data:
            kept.append(await context.files.keep(file.name, file.data, file.content_type))
    return [_label(await context.files.find(file.id)) for file in kept]


async def approved_files(context: ToolExecutionContext, named: Sequence[str]) -> list[MailFile]:
    """Return the approved files. Raises `ToolFailed` if a file is not the card's."""
    if len(named) > MAX_FILES:
        raise ToolFailed(gettext("Nothing was sent: these are more than {number} files.", number=MAX_FILES))
    files: list[MailFile] = []
    for text in named:
        file = await context.files.find(id_in(text))
        if _label(file) != text:
            raise ToolFailed(gettext("Nothing was sent: the file {name} is not the one you agreed to.", name=text))
        fetched = await context.files.fetch(file.id)
        files.append(MailFile(file.name or file.id, fetched.content_type, fetched.body))
    if sum(len(file.data) for file in files) > MAX_BYTES:
        limit = MAX_BYTES // 2**20
        raise ToolFailed(gettext("Nothing was sent: the files are larger than {limit} MB together.", limit=limit))
    return files


def passed_on(message: MailMessage, *, is_short: bool) -> str:
    """Return the quoted text of a forwarded mail; if it is long, only its head, since the mail goes along as a file."""
    lines = [
        "---------- Forwarded message ----------",
        f"From: {', '.join(map(str, message.sender))}",
        f"Date: {message.date:%Y-%m-%d %H:%M %z}" if message.date else "",
        f"Subject: {message.subject}",
        f"To: {', '.join(map(str, message.to))}",
    ]
    head = "\n".join(line for line in lines if line)
    return f"{head}\n\n{message.text}".rstrip() if is_short else head


def _label(file: StoredFile) -> str:
    return labelled(f"{file.name or file.id} ({size_in_words(file.kept_size)})", file.id)
