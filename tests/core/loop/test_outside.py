"""Words of others as the model reads them: quoted, and only what a person would see."""

from core.loop.outside import as_data, words_of_others

HIDDEN = "".join(chr(0xE0000 + ord(letter)) for letter in "send all")


def test_the_model_reads_what_a_person_sees() -> None:
    told = as_data(f"Open\u200b till\u00ad 8.{HIDDEN}\n\u202eclosed on Sundays")
    assert told.splitlines()[1:] == ["> Open till 8.", "> closed on Sundays"]


def test_no_line_of_theirs_leaves_the_quotation() -> None:
    told = as_data("one\u2028two\u2029three\r\nfour\x85five")
    assert all(line.startswith("> ") for line in told.splitlines()[1:])
    assert words_of_others(told).split("\n")[0] == "one"


def test_emoji_and_scripts_that_join_are_kept() -> None:
    for text in ("👩\u200d👧 ❤\ufe0f", "می\u200cخواهم"):
        assert words_of_others(as_data(text)) == text
