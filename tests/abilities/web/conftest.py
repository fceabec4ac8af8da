"""No page is kept from one test to the next: an earlier site may have had the same port."""

from collections.abc import Iterator

import pytest

from tests.abilities.web.caches import no_pages_kept


@pytest.fixture(autouse=True)
def fresh_pages() -> Iterator[None]:
    """Begin without any page."""
    with no_pages_kept():
        yield
