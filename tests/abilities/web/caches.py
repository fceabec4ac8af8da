"""The pages that `read_page` keeps."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from abilities.web import reading
from abilities.web.page_cache import PageCache


@contextmanager
def no_pages_kept() -> Iterator[None]:
    """Keep pages for the length of the block only."""
    with patch.object(reading, "_CACHE", PageCache()):
        yield
