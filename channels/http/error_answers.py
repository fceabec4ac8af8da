"""What is answered to a request that is refused or failed: a word to a program, a page with a sentence to a browser."""

from aiohttp import web

SENTENCES = {
    401: "You are not signed in.",
    403: "You may not see this page.",
    404: "There is no page at this address.",
    405: "This address does not take what was sent.",
    408: "What was sent took too long.",
    413: "What was sent is too large.",
    429: "There were too many requests. Try again in a minute.",
    500: "Something went wrong here. Whoever runs this finds it in the log.",
    503: "This does not answer right now. Try again in a moment.",
}
"""What a person reads, by status. It tells a stranger nothing that the status does not."""
_OTHERS = "This request cannot be read."
_CONSOLE = "/console"
_HEADERS = {"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff"}
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<title>OneValet</title>
</head>
<body><h1>{sentence}</h1>{further}</body>
</html>
"""


def answer_error(
    request: web.Request, status: int, word: str, *, allow: str = "", retry_after: str = ""
) -> web.Response:
    """Return the answer of a status; `word` is what a program reads."""
    if "text/html" in request.headers.get("Accept", ""):
        inside = request.path.startswith(f"{_CONSOLE}/")
        further = f'<p><a href="{_CONSOLE}">To the console</a></p>' if inside else ""
        page = _PAGE.format(sentence=SENTENCES.get(status, _OTHERS), further=further)
        response = web.Response(status=status, text=page, content_type="text/html", headers=_HEADERS)
    else:
        response = web.Response(status=status, text=f"{word}\n")
    if allow:
        response.headers["Allow"] = allow
    if retry_after:
        response.headers["Retry-After"] = retry_after
    return response
