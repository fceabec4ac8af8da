"""Pages from templates: every value is escaped, and all share a layout, a style sheet and a policy for content."""

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from aiohttp import web

from core.language.catalogue import current_language, gettext, ngettext

if TYPE_CHECKING:  # loads slowly: `web` does without it until somebody opens a page
    from jinja2 import Environment

type Filters = Mapping[str, Callable[..., object]]
_LAYOUTS = Path(__file__).parent / "templates"


class Templates:
    """The templates of a room: those in its `folder`, and the shared layouts.

    `further` are folders of other rooms by the prefix of their templates' names, before a slash.
    """

    def __init__(
        self,
        folder: Path = _LAYOUTS,
        *,
        further: Mapping[str, Path] = MappingProxyType({}),
        filters: Filters = MappingProxyType({}),
    ) -> None:
        self._folder = folder
        self._further = further
        self._filters = filters

    def page(
        self,
        template: str,
        values: Mapping[str, object],
        *,
        status: int = 200,
        form_target: str = "",
        scripts: bool = False,
    ) -> web.Response:
        """Return a page in the language that is spoken now; see `page_headers` for `form_target` and `scripts`."""
        text = self._environment.get_template(template).render(values)
        headers = page_headers(form_target, scripts=scripts)
        return web.Response(status=status, text=text, content_type="text/html", charset="utf-8", headers=headers)

    @cached_property
    def _environment(self) -> "Environment":
        """Return the engine, which caches compiled templates. An unknown name is an error, never empty."""
        from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PrefixLoader, StrictUndefined

        further = PrefixLoader({name: FileSystemLoader(folder) for name, folder in self._further.items()})
        environment = Environment(
            loader=ChoiceLoader([FileSystemLoader([self._folder, _LAYOUTS]), further]),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.globals |= {"gettext": gettext, "ngettext": ngettext, "language": current_language}
        environment.filters |= self._filters
        return environment


def page_headers(form_target: str = "", *, scripts: bool = False) -> dict[str, str]:
    """Return the headers of a page, and of all other answers to browsers.

    `form_target`: an origin besides our own to which its form may lead, as a browser holds the redirect behind a form
    against `form-action`, too. `scripts`: the page runs our own scripts; any other page runs none.
    """
    runs = "script-src 'self'; connect-src 'self'; " if scripts else ""
    leads = " ".join(["'self'", *filter(None, [form_target])])
    policy = (
        f"default-src 'none'; style-src 'self'; img-src 'self'; {runs}form-action {leads};"
        " frame-ancestors 'none'; base-uri 'none'"
    )
    return {
        "Content-Security-Policy": policy,
        "Cache-Control": "no-store",
        "Referrer-Policy": "same-origin",  # with no policy at all, browsers do not send a form's origin either
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "X-Robots-Tag": "noindex",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
