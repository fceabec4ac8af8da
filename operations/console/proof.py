"""The proof that a request carries, checked from memory alone: a session or a sign-in link that we made."""

from dataclasses import dataclass

from aiohttp import web

from operations.console.sign_in import ConsoleSignIn


def cookie_name(public_url: str) -> str:
    """Return the name of the session's cookie, which other hosts cannot set if we are reached by https."""
    return "__Host-onevalet-console" if public_url.startswith("https:") else "onevalet-console"


@dataclass(frozen=True, slots=True)
class ConsoleProof:
    """The proof of the console's routes (`channels.http.connections`)."""

    sign_in: ConsoleSignIn

    def __call__(self, request: web.Request) -> str | None:
        """Return the session or the link in a request; for scripts and styles, which are public, an empty text."""
        page = request.match_info.get("page", "")
        if page.startswith("static/"):
            return ""
        session = request.cookies.get(cookie_name(self.sign_in.public_url), "")
        if self.sign_in.sessions.is_ours(session):
            return f"session {session}"
        kind, _, token = page.partition("/")
        return f"sign-in {token}" if kind == "sign-in" and self.sign_in.links.is_ours(token) else None
