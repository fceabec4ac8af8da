"""Text of bytes, as the web's encoding standard reads them under a label (https://encoding.spec.whatwg.org); pure.

Mail, contact cards and files name their character sets as the web does, and often wrongly: "iso-8859-1" means
windows-1252, "gb2312" means gb18030, "ks_c_5601-1987" means windows-949. Two things differ from the web, which bars
some encodings since a page could hide a script in them: mail of Korea and China is read in those encodings, and bytes
that are UTF-8 are read as such if the label is unknown or says ASCII.
"""

import codecs
import re
from functools import lru_cache

_LABELS = {
    "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8",
    "cp866": "866 cp866 csibm866 ibm866",
    "iso8859-2": "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2",
    "iso8859-3": "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3",
    "iso8859-4": "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4",
    "iso8859-5": "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988",
    "iso8859-6": "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e"
    " iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987",
    "iso8859-7": "csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7"
    " iso_8859-7:1987 sun_eu_greek",
    "iso8859-8": "csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8"
    " iso_8859-8:1988 visual csiso88598i iso-8859-8-i logical",
    "iso8859-10": "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6",
    "iso8859-13": "iso-8859-13 iso8859-13 iso885913",
    "iso8859-14": "iso-8859-14 iso8859-14 iso885914",
    "iso8859-15": "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9",
    "iso8859-16": "iso-8859-16",
    "koi8-r": "cskoi8r koi koi8 koi8-r koi8_r",
    "koi8-u": "koi8-ru koi8-u",
    "mac-roman": "csmacintosh mac macintosh x-mac-roman",
    "cp874": "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874",
    "cp1250": "cp1250 windows-1250 x-cp1250",
    "cp1251": "cp1251 windows-1251 x-cp1251",
    "cp1252": "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1"
    " iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252",
    "cp1253": "cp1253 windows-1253 x-cp1253",
    "cp1254": "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5"
    " windows-1254 x-cp1254",
    "cp1255": "cp1255 windows-1255 x-cp1255",
    "cp1256": "cp1256 windows-1256 x-cp1256",
    "cp1257": "cp1257 windows-1257 x-cp1257",
    "cp1258": "cp1258 windows-1258 x-cp1258",
    "mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "gb18030": "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk gb18030",
    "big5": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
    "euc-jp": "cseucpkdfmtjapanese euc-jp x-euc-jp",
    "iso-2022-jp": "csiso2022jp iso-2022-jp",
    "cp932": "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis",
    "cp949": "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601"
    " windows-949",
    "utf-16-be": "unicodefffe utf-16be",
    "utf-16-le": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le",
    "x-user-defined": "x-user-defined",
}
"""The codec for each label of the standard."""
_MAIL_LABELS = {
    "iso2022-kr": "csiso2022kr iso-2022-kr",
    "hz": "hz-gb-2312",
    "gb18030": "cp936 ms936 windows-936",
    "cp949": "cp949 uhc",
    "big5": "cp950 windows-950",
    "cp932": "cp932 windows-932",
    "iso-2022-jp": "iso-2022-jp-1 iso-2022-jp-2 iso-2022-jp-3 iso-2022-jp-ms cp50220 cp50221",
    "cp437": "cp437 ibm437",
    "cp850": "cp850 ibm850",
    "cp852": "cp852 ibm852",
    "cp1252": "ansi_x3.4-1986 iso646-us windows-1252-1",
}
"""The character sets of mail that the web does not read."""
_CODECS = {
    label: codec for known in (_LABELS, _MAIL_LABELS) for codec, labels in known.items() for label in labels.split()
} | {codec: codec for codec in (*_LABELS, *_MAIL_LABELS)}
_ASCII = frozenset({"ansi_x3.4-1968", "ansi_x3.4-1986", "ascii", "iso646-us", "us-ascii"})
_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_META = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([\w.:-]{1,40})", re.I)
_IN_ASCII = {"utf-16-le": "utf-8", "utf-16-be": "utf-8", "x-user-defined": "windows-1252"}
"""The real codecs of pages whose tag names these: the tag could not be read in the named codec."""
_OF_MANY_BYTES = frozenset(
    {
        "utf-8",
        "utf-16-le",
        "utf-16-be",
        "gb18030",
        "big5",
        "euc-jp",
        "iso-2022-jp",
        "cp932",
        "cp949",
        "iso2022-kr",
        "hz",
    }
)
_OTHERS = {"koi8-u": {0xAE: "\u045e", 0xBE: "\u040e"}, "cp1255": {0xCA: "\u05ba"}}
"""Bytes that the standard reads differently from Python."""
_NEWER = str.maketrans(
    "\ue5e5\ue78d\ue78e\ue78f\ue790\ue791\ue792\ue793\ue794\ue795\ue796\ue7c7\ue81e\ue826\ue82b\ue82c\ue832\ue843\ue854\ue864",
    "\u3000\ufe10\ufe12\ufe11\ufe13\ufe14\ufe15\ufe16\ufe17\ufe18\ufe19\u1e3f\u9fb4\u9fb5\u9fb6\u9fb7\u9fb8\u9fb9\u9fba\u9fbb",
)
"""The characters that gb18030 kept in private use until 2022, for Python's codec of 2000."""
_JIS = re.compile(rb"\x1b(\$[@B]|\$\([@BD]|\([BJI])")
_EUC = re.compile(rb"\x8f[\xa1-\xfe]{2}|(?:[\xa1-\xfe]{2})+|\x8e[\xa1-\xdf]")


def codec_of(label: str | None) -> str:
    """Return the codec for a label, by our name of it; empty if it is unknown."""
    return _CODECS.get((label or "").strip("\t\n\f\r \"'").lower(), "")


def label_of(data: bytes) -> str:
    """Return a label for bytes without a label: UTF-8 if they can be read so, else the likeliest."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return _likeliest(data)
    return "utf-8"


def decode_text(data: bytes, label: str | None = None) -> str:
    """Return the text of bytes under a label; unreadable bytes become U+FFFD.

    A mark at the beginning counts before the label, as in the standard. If the label is unknown or is ASCII's, bytes
    that are UTF-8 are read as such, and other bytes under the likeliest label.
    """
    for mark, codec in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(codec, "replace")
    codec = codec_of(label)
    if not codec or (label or "").strip().lower() in _ASCII:
        text = data.decode("utf-8", "replace")
        broken = text.count("\ufffd")
        if not broken or _is_mostly_utf_8(text, broken):
            return text
        codec = codec or _likeliest(data)
    return _decoded(data, codec)


def decode_page(data: bytes, label: str | None = None) -> str:
    """Return the text of a page of the web, whose own tag names its label if `label` is not known."""
    if not codec_of(label) and (named := _META.search(data[:4096])):
        label = _IN_ASCII.get(codec_of(named[1].decode()), named[1].decode())
    return decode_text(data, label)


def _is_mostly_utf_8(text: str, broken: int) -> bool:
    """Return whether a text with some broken letters was meant as UTF-8: its other letters would not fit by chance."""
    return sum(char > "\x7f" for char in text) > 2 * broken


def _likeliest(data: bytes) -> str:
    """Return the codec that bytes without a label are most likely in, but for UTF-8."""
    from resiliparse.parse.encoding import detect_encoding

    named = detect_encoding(data) or ""  # by Python's name, such as euc_jp
    codec = codec_of(named) or codec_of(named.replace("_", "-"))
    # Little tells them apart in a word or two, and most programs that declare no charset write Latin.
    return codec if codec and codec != "utf-8" else "cp1252"


def _decoded(data: bytes, codec: str) -> str:
    match codec:
        case "gb18030":
            return data.decode(codec, "replace").translate(_NEWER)
        case "big5":
            return data.decode("big5hkscs", "replace")
        case "euc-jp":
            return _of_euc_jp(data)
        case "iso-2022-jp":
            return _of_iso_2022_jp(data)
        case _ if codec in _OF_MANY_BYTES:
            return data.decode(codec, "replace")
        case _:
            return codecs.charmap_decode(data, "replace", _table(codec))[0]


@lru_cache(maxsize=40)
def _table(codec: str) -> str:
    """Return the characters of the 256 bytes. If Python has none for a byte of C1, the standard has the byte itself."""
    if codec == "x-user-defined":
        return "".join(chr(byte if byte < 0x80 else 0xF700 + byte) for byte in range(256))
    chars = [bytes([byte]).decode(codec, "replace") for byte in range(256)]
    for byte in range(0x80, 0xA0):
        chars[byte] = chr(byte) if chars[byte] == "\ufffd" else chars[byte]
    for byte, char in _OTHERS.get(codec, {}).items():
        chars[byte] = char
    return "".join(chars)


def _of_euc_jp(data: bytes) -> str:
    """Read EUC-JP. Python's codec lacks the additions of IBM and NEC, and Windows' full-width signs."""
    text, at = list[str](), 0
    for found in _EUC.finditer(data):
        text.append(data[at : found.start()].decode("ascii", "replace"))
        piece = found[0]
        if piece[0] == 0x8F or piece[0] == 0x8E:
            text.append(piece.decode("euc-jp", "replace").replace("~", "\uff5e"))
        else:
            text.append(_of_jis(bytes(byte & 0x7F for byte in piece)))
        at = found.end()
    return "".join([*text, data[at:].decode("ascii", "replace")])


def _of_iso_2022_jp(data: bytes) -> str:
    """Read ISO-2022-JP, with the additions of NEC and IBM, and the half-width Katakana that Windows writes in it."""
    first, *parts = _JIS.split(data)
    text = [first.decode("ascii", "replace")]
    for escape, piece in zip(parts[::2], parts[1::2], strict=True):
        if escape == b"$(D":
            text.append((b"\x1b$(D" + piece + b"\x1b(B").decode("iso2022_jp_1", "replace"))
        elif escape.startswith(b"$"):
            # If a program forgot to switch back, a line ends in the middle of it, and the next goes on as before.
            lines = piece.splitlines(keepends=True)
            text.extend(_of_jis(line.rstrip(b"\r\n")) + ("\n" if line.endswith(b"\n") else "") for line in lines)
        elif escape == b"(I":
            kana = bytes(byte | 0x80 if 0x21 <= byte <= 0x5F else byte for byte in piece)
            text.append(kana.decode("cp932", "replace"))
        else:
            text.append(piece.decode("ascii", "replace"))
    return "".join(text)


def _of_jis(pairs: bytes) -> str:
    """Read pairs of JIS X 0208 by Shift_JIS as Windows has it, whose table is the standard's."""
    shifted = bytearray()
    for first, second in zip(pairs[::2], pairs[1::2], strict=False):
        row, cell = first - 0x21, second - 0x21
        lead, trail = divmod(row * 94 + cell, 188)
        if row not in range(94) or cell not in range(94):
            shifted += b"\x81\xad"  # a cell without a character
            continue
        shifted += bytes([lead + (0x81 if lead < 0x1F else 0xC1), trail + (0x40 if trail < 0x3F else 0x41)])
    text = shifted.decode("cp932", "replace")
    return text + "\ufffd" if len(pairs) % 2 else text
