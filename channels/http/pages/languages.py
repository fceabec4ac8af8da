"""The language of a page: its person's, or else the browser's."""

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager

from aiohttp import web

from core.language.catalogue import LANGUAGES, speaking
from core.language.tags import read_tag

_WEIGHT = re.compile(r"\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*", re.ASCII | re.IGNORECASE)
MAX_ACCEPTED = 500
"""Characters that are read of an Accept-Language header."""


def speaking_to(request: web.Request, known: str | None = None) -> AbstractContextManager[None]:
    """Use a person's language inside, if it is known, or else the browser's first choice of those that we have."""
    return speaking(known or _accepted(request))


def accepted_tags(header: str) -> Sequence[str]:
    """Return the tags of an Accept-Language header, the most wanted first (RFC 9110 12.5.4)."""
    wanted: list[tuple[float, str]] = []
    for part in header[:MAX_ACCEPTED].split(","):
        text, given, parameter = part.partition(";")
        weight = _WEIGHT.fullmatch(parameter)
        tag, weighs = read_tag(text), float(weight[1]) if weight else 0.0 if given else 1.0
        if tag and weighs:
            wanted.append((weighs, tag))
    return [tag for _, tag in sorted(wanted, key=lambda one: -one[0])]


def _accepted(request: web.Request) -> str | None:
    tags = accepted_tags(request.headers.get("Accept-Language", ""))
    return next((code for tag in tags if (code := tag.partition("-")[0]) in LANGUAGES), None)
