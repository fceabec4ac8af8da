"""The language of a page: its person's, or else the browser's."""

from contextlib import AbstractContextManager

from aiohttp import web

from core.language.catalogue import LANGUAGES, speaking
from core.language.tags import accepted_tags


def speaking_to(request: web.Request, known: str | None = None) -> AbstractContextManager[None]:
    """Use a person's language inside, if it is known, or else the browser's first choice of those that we have."""
    return speaking(known or _accepted(request))


def _accepted(request: web.Request) -> str | None:
    tags = accepted_tags(request.headers.get("Accept-Language", ""))
    return next((code for tag in tags if (code := tag.partition("-")[0]) in LANGUAGES), None)
