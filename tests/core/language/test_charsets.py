"""Bytes read under the labels that mail, cards and files put on them. Source: https://encoding.spec.whatwg.org."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.language.charsets import decode_page, decode_text, label_of

HANGUL, KANA, HAN = "\ub620\ubc29\uac01\ud558", "\u65e5\u672c\u8a9e \u2460 \u30a2\uff71", "\u4e2d\u6587 \u946b\u20ac"
TABLE: dict[str, tuple[str | None, bytes, str]] = {
    # What stands in the label is not what it says.
    "latin1 is windows-1252": ("iso-8859-1", b"\x93Gr\xfc\xdfe\x94 \x80 5", "\u201cGr\u00fc\u00dfe\u201d \u20ac 5"),
    "ascii that is not": ("us-ascii", b"caf\xe9 \x96 5", "caf\u00e9 \u2013 5"),
    "ascii that is UTF-8": ("US-ASCII", "Gr\u00fc\u00dfe".encode(), "Gr\u00fc\u00dfe"),
    "latin5 is windows-1254": ("ISO-8859-9", b"\xdeeker \x80", "\u015eeker \u20ac"),
    "thai of ISO is Windows'": ("tis-620", b"\xa1\xd2\xc3 \x85", "\u0e01\u0e32\u0e23 \u2026"),
    "gb2312 is gb18030": ("gb2312", HAN.encode("gb18030"), HAN),
    "gbk too": ("x-gbk", "\U00020000\u3400".encode("gb18030"), "\U00020000\u3400"),
    "gb18030 of 2022": ("gb18030", b"\xa6\xd9\xfe\x59", "\ufe10\u9fb4"),
    "korean is windows-949": ("ks_c_5601-1987", HANGUL.encode("cp949"), HANGUL),
    "euc-kr too": ("EUC-KR", HANGUL.encode("cp949"), HANGUL),
    "shift_jis is Windows'": ("Shift_JIS", KANA.encode("cp932"), KANA),
    "sjis with IBM's letters": ("x-sjis", b"\xfb\xfc\xfa\x40", "\u9ad9\u2170"),
    "big5 has Hong Kong's": ("big5", b"\xa4\xa4\x87\x40\xf9\xd5", "\u4e2d\u43f0\u9f98"),
    "hebrew in logical order": ("iso-8859-8-i", b"\xf9\xec\xe5\xed", "\u05e9\u05dc\u05d5\u05dd"),
    "hebrew of Windows": ("windows-1255", b"\xf9\xca\xa4", "\u05e9\u05ba\u20aa"),
    "arabic": ("iso-8859-6-i", b"\xe5\xd1", "\u0645\u0631"),
    "greek": ("greek", b"\xc3\xe5\xe9\xdc \xa4", "\u0393\u03b5\u03b9\u03ac \u20ac"),
    "cyrillic": ("koi8-r", b"\xf0\xd2\xc9", "\u041f\u0440\u0438"),
    "ukrainian, with Belarus' letter": ("koi8-u", b"\xa4\xae\xbe", "\u0454\u045e\u040e"),
    "cyrillic of a Mac": ("x-mac-ukrainian", b"\xb8\xff\xa2", "\u0404\u20ac\u0490"),
    "a Mac's": ("macintosh", b"\x8e\xdb", "\u00e9\u20ac"),
    "dos": ("cp866", b"\x8f\xe0", "\u041f\u0440"),
    "bytes that Windows leaves open": ("windows-1252", b"a\x81\x9d", "a\x81\x9d"),
    "a letter that the set has not": ("iso-8859-7", b"\xd2a", "\ufffda"),
    # Japan's, whose codecs in Python are those of 1997.
    "jis": ("iso-2022-jp", "\u65e5\u672c".encode("iso2022_jp"), "\u65e5\u672c"),
    "jis with NEC's numbers": ("ISO-2022-JP", b'\x1b$B-!-"\x1b(B!', "\u2460\u2461!"),
    "jis with half-width Katakana": ("iso-2022-jp", b"\x1b(I1\x1b(B", "\uff71"),
    "jis without the end": ("iso-2022-jp", b"\x1b$BF|K\\", "\u65e5\u672c"),
    "jis under Windows' name": ("cp50221", b"\x1b$B-!\x1b(J", "\u2460"),
    "euc with NEC's numbers": ("euc-jp", b"\xad\xa1\xa1\xc1\x8e\xb1", "\u2460\uff5e\uff71"),
    "euc of three bytes": ("x-euc-jp", b"\x8f\xb0\xa1", "\u4e02"),
    # The web reads nothing in these, since pages hid scripts in them; mail has no scripts.
    "korean of seven bits": ("iso-2022-kr", "\ud55c\uad6d".encode("iso2022_kr"), "\ud55c\uad6d"),
    "chinese of seven bits": ("hz-gb-2312", b"~{<:Ky2;S{~}", "\u5df1\u6240\u4e0d\u6b32"),
    # Forms of labels.
    "spaces and case": (" \tUTF8 ", "\u00e9".encode(), "\u00e9"),
    "in quotes": ('"windows-1251"', b"\xcf", "\u041f"),
    "utf-16 is little-endian": ("utf-16", "\u00e9t\u00e9".encode("utf-16-le"), "\u00e9t\u00e9"),
    "unicode": ("unicode", "ab".encode("utf-16-le"), "ab"),
    "big-endian": ("utf-16be", "ab".encode("utf-16-be"), "ab"),
    "user-defined": ("x-user-defined", b"a\x80", "a\uf780"),
    # A mark counts before the label.
    "a mark of UTF-8": ("iso-8859-1", b"\xef\xbb\xbf\xc3\xa9", "\u00e9"),
    "a mark of UTF-16": ("utf-8", "\ufeff\u00e9".encode("utf-16-le"), "\u00e9"),
    "a mark of the other UTF-16": (None, "\ufeff\u00e9".encode("utf-16-be"), "\u00e9"),
    # Unknown and absent labels.
    "none, UTF-8": (None, "Gr\u00fc\u00dfe \U0001f600".encode(), "Gr\u00fc\u00dfe \U0001f600"),
    "none, Latin": (None, b"Gr\xfc\xdfe", "Gr\u00fc\u00dfe"),
    "none, cut in the middle of a letter": (
        None,
        "Grüße aus München".encode()[:-1] + b"\xe2\x82",
        "Grüße aus Münche\ufffd",
    ),
    "empty": ("", b"caf\xe9", "caf\u00e9"),
    "unknown, UTF-8": ("x-unknown", "\u00e9".encode(), "\u00e9"),
    "unknown, Latin": ("x-unknown", b"Gr\xfc\xdfe", "Gr\u00fc\u00dfe"),
    "utf-7, which nobody may read": ("utf-7", b"+ADw-script+AD4-", "+ADw-script+AD4-"),
    "a codec of Python's that is none": ("rot13", b"OK 7K", "OK 7K"),
    "another": ("base64", b"T0sgN0s=", "T0sgN0s="),
    "a path": ("../../etc/passwd\x00", "\u00e9".encode(), "\u00e9"),
    # Broken bytes cost themselves.
    "broken UTF-8": ("utf-8", b"caf\xe9 \xe2\x82\xac", "caf\ufffd \u20ac"),
    "a surrogate in UTF-8": ("utf-8", b"\xed\xa0\x80a", "\ufffd\ufffd\ufffda"),
    "half a pair in Korean": ("euc-kr", b"a\xb6", "a\ufffd"),
    "half a pair in jis": ("iso-2022-jp", b"\x1b$BF|K\x1b(Ba", "\u65e5\ufffda"),
    "half a pair of UTF-16": ("utf-16le", b"a\x00b", "a\ufffd"),
    "nothing": ("utf-8", b"", ""),
}


@pytest.mark.parametrize(("label", "data", "text"), TABLE.values(), ids=TABLE.keys())
def test_bytes_are_read_as_the_web_reads_them_under_a_label(label: str | None, data: bytes, text: str) -> None:
    assert decode_text(data, label) == text


def test_what_has_no_label_gets_one_that_fits() -> None:
    assert label_of("\u00e9".encode()) == "utf-8"
    sentence = "こんにちは、明日の会議は九時からです。"
    for codec in ("cp932", "euc_jp"):
        data = sentence.encode(codec)
        assert decode_text(data, label_of(data)) == sentence


@given(st.binary(max_size=200), st.sampled_from([*(label for label, _, _ in TABLE.values()), "\x00", "\u00e9"]))
def test_any_bytes_are_read_under_any_label(data: bytes, label: str | None) -> None:
    assert isinstance(decode_text(data, label), str)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=200))
def test_what_is_utf_8_is_read_so_whatever_its_label_is_not(text: str) -> None:
    data = text.encode()
    if not data.startswith((b"\xff", b"\xfe", b"\xef\xbb\xbf")):
        assert decode_text(data, "x-unknown") == decode_text(data) == decode_text(data, "utf-8") == text


PAGES: dict[str, tuple[str | None, bytes, str]] = {
    "named by a tag": (None, b'<meta charset="gb2312">' + HAN.encode("gb18030"), HAN),
    "named by an old tag": (
        None,
        b"<meta http-equiv=Content-Type content='text/html; CHARSET=Shift_JIS'>" + KANA.encode("cp932"),
        KANA,
    ),
    "named twice": ("koi8-r", b"<meta charset=windows-1251>\xf0\xd2\xc9", "\u041f\u0440\u0438"),
    "named by a word that nobody knows": ("utf8mb4", b"<meta charset=windows-1251>\xcf", "\u041f"),
    "UTF-16 in a tag": (None, b'<meta charset="utf-16le">' + "\u00e9".encode(), "\u00e9"),
    "user-defined in a tag": (None, b'<meta charset="x-user-defined">\x80', "\u20ac"),
    "a mark before the tag": (None, b'\xef\xbb\xbf<meta charset="koi8-r">' + "\u00e9".encode(), "\u00e9"),
}


@pytest.mark.parametrize("form", PAGES)
def test_a_page_is_read_as_browsers_read_it(form: str) -> None:
    label, data, right = PAGES[form]
    assert decode_page(data, label).rpartition(">")[2] == right


def test_nothing_else_decodes_by_labels() -> None:
    readers = ("core", "abilities", "agents", "channels", "notify", "providers", "onevalet")
    sources = [path for name in readers for path in Path(name).rglob("*.py")]
    assert len(sources) > 500
    own = re.compile(r"from resiliparse\.parse\.encoding|\b(bytes_to_str|map_encoding_to_html5|get_content_charset)\b")
    assert [str(path) for path in sources if own.search(path.read_text())] == ["core/language/charsets.py"]
