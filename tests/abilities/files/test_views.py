"""What the model is told of a file beside its content."""

from datetime import UTC, datetime

import pytest

from abilities.files.views import describe
from core.files.kinds import FileKind
from core.files.types import StoredFile


@pytest.mark.parametrize(("size", "words"), [(24, "1 KB"), (27_400, "27 KB"), (99_999, "99 KB"), (140_000, "0.1 MB")])
def test_the_size_of_a_file_is_never_none(size: int, words: str) -> None:
    at = datetime(2026, 11, 23, tzinfo=UTC)
    file = StoredFile("f1", FileKind.PDF, "application/pdf", "lease.pdf", size, 80, cut=False, caption="", sent_at=at)
    assert describe(file) == f"a PDF of 80 pages, {words}"
