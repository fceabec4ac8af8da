"""Recently read pages, kept in memory, each only for the person who requested it."""

from collections import OrderedDict
from datetime import datetime, timedelta

from onevalet import Page

KEPT_FOR = timedelta(minutes=10)
MAX_PAGES_EACH = 12
MAX_CHARS = 8_000_000
"""Characters of all people's pages together, in a worker."""


class PageCache:
    """The pages of a process; the oldest go first."""

    def __init__(self) -> None:
        self._pages: OrderedDict[tuple[str, str], tuple[datetime, Page]] = OrderedDict()

    def get(self, tenant_id: str, url: str, now: datetime) -> Page | None:
        """Return a page that this person had read within the last minutes."""
        kept = self._pages.get((tenant_id, url))
        return kept[1] if kept is not None and abs(now - kept[0]) < KEPT_FOR else None

    def put(self, tenant_id: str, url: str, page: Page, now: datetime) -> None:
        self._pages.pop((tenant_id, url), None)
        self._pages[tenant_id, url] = (now, page)
        stale = [key for key, (at, _) in self._pages.items() if abs(now - at) >= KEPT_FOR]
        own = [key for key in self._pages if key[0] == tenant_id]
        for key in {*stale, *own[:-MAX_PAGES_EACH]}:
            del self._pages[key]
        while sum(len(kept.text) for _, kept in self._pages.values()) > MAX_CHARS:
            self._pages.popitem(last=False)
