"""A text without pages of its own is cut at the ends of lines, and where there are none, at the longest page."""

from abilities.documents.readers.limits import PAGE, paged


def test_a_page_ends_with_a_line_if_there_is_any_in_its_second_half() -> None:
    line = "x" * (PAGE // 2 + 9)
    assert paged(f" {line}\n\n{line}\n") == [line, line]


def test_a_line_that_is_longer_than_a_page_is_cut() -> None:
    assert paged("x" * PAGE) == ["x" * PAGE]
    assert paged("x" * (2 * PAGE + 1)) == ["x" * PAGE, "x" * PAGE, "x"]
    assert paged(f"a\n{'x' * PAGE}") == [f"a\n{'x' * (PAGE - 2)}", "xx"], "a line in its first half ends none"
