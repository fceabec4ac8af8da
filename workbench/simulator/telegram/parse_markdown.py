"""The legacy Markdown style: https://core.telegram.org/bots/api#markdown-style. Nothing nests in it.

Errors and their words follow the server source, `parse_markdown`.
"""

from workbench.simulator.telegram.entities import Entity
from workbench.simulator.telegram.errors import MarkupError
from workbench.simulator.telegram.links import checked_link, linked_user
from workbench.simulator.telegram.parse_markdown_v2 import code_language
from workbench.simulator.telegram.text import PlainText

_MARKS = frozenset(b"_*`[")


def parse_markdown(text: str) -> tuple[str, list[Entity]]:
    data = text.encode()
    source, size = data + b"\0\0\0\0", len(data)
    plain, entities = PlainText(), list[Entity]()
    at = 0
    while at < size:
        if source[at] == ord("\\") and source[at + 1] in _MARKS:
            plain.add(source[at + 1])
            at += 2
        elif source[at] in _MARKS:
            at = _entity(source, at, size, plain, entities)
        else:
            plain.add(source[at])
            at += 1
    return str(plain), entities


def _entity(source: bytes, begin: int, size: int, plain: PlainText, entities: list[Entity]) -> int:
    mark, language = source[begin : begin + 1], ""
    closing, at = (b"]" if mark == b"[" else mark), begin + 1
    if source.startswith(b"```", begin):
        closing = b"```"
        language, at = code_language(source, begin + 3, size)
    offset, start = plain.units, len(plain.data)
    while at < size and not source.startswith(closing, at):
        plain.add(source[at])
        at += 1
    if at >= size:
        raise MarkupError(f"Can't find end of the entity starting at byte offset {begin}")
    length = plain.units - offset
    if mark == b"[":
        return _link(source, at, size, plain.since(start), Entity("text_link", offset, length), entities)
    if length:
        kind = {b"_": "italic", b"*": "bold", b"`": "code", b"```": "pre"}[closing]
        entities.append(Entity(kind, offset, length, language=language))
    return at + len(closing)


def _link(source: bytes, at: int, size: int, label: str, link: Entity, entities: list[Entity]) -> int:
    url, after = label, at + 1
    if link.length and source[at + 1] == ord("("):
        end = source.find(b")", at + 2, size)
        end = size if end < 0 else end
        url, after = source[at + 2 : end].decode(), end + 1
    if link.length and (user_id := linked_user(url)):
        entities.append(Entity("text_mention", link.offset, link.length, user_id=user_id))
    elif link.length and (checked := checked_link(url)):
        entities.append(Entity("text_link", link.offset, link.length, url=checked))
    return after
