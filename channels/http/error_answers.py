"""The answer to a refused or failed request: a word to a program, a page with a sentence to a browser."""

from collections.abc import Iterator

from aiohttp import web

from channels.http.pages.languages import speaking_to
from channels.http.pages.templates import Templates
from core.language.catalogue import gettext_noop

SENTENCES = {
    401: gettext_noop("You are not signed in."),
    403: gettext_noop("You may not see this page."),
    404: gettext_noop("There is no page at this address."),
    405: gettext_noop("This address does not accept such a request."),
    408: gettext_noop("The request took too long to arrive."),
    413: gettext_noop("The request is too large."),
    429: gettext_noop("There were too many requests. Try again in a minute."),
    500: gettext_noop("Something went wrong here. The operator finds it in the log."),
    503: gettext_noop("This service does not answer right now. Try again in a moment."),
}
"""Sentences for people, by status. They tell a stranger no more than the status does."""
_OTHERS = gettext_noop("This request cannot be read.")
_CONSOLE = "/console"
_WAYS_BACK = {"/": gettext_noop("To the front page"), _CONSOLE: gettext_noop("To the console")}
"""Targets of the link on a refused page, the first that is served: only `dev` has a front page."""
_TEMPLATES = Templates()


def answer_error(
    request: web.Request, status: int, word: str, *, allow: str = "", retry_after: str = ""
) -> web.Response:
    """Return the answer of a status; `word` is its text for a program."""
    if "text/html" in request.headers.get("Accept", ""):
        values = {"sentence": SENTENCES.get(status, _OTHERS), "ways_back": list(_ways_back(request))}
        with speaking_to(request):
            response = _TEMPLATES.page("refused.html", values, status=status)
    else:
        response = web.Response(status=status, text=f"{word}\n")
    if allow:
        response.headers["Allow"] = allow
    if retry_after:
        response.headers["Retry-After"] = retry_after
    return response


def _ways_back(request: web.Request) -> Iterator[tuple[str, str]]:
    """Yield the address and the words of a link to another page, unless the request was for that page."""
    served = {resource.canonical for resource in request.app.router.resources()}
    inside = request.path.startswith(f"{_CONSOLE}/")
    for address, words in _WAYS_BACK.items():
        if request.path != address and address in served and inside == (address == _CONSOLE):
            yield address, words
