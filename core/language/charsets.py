"""Text of bytes, as the web's encoding standard reads them under a label (https://encoding.spec.whatwg.org); pure.

Mail, contact cards and files name their character sets as the web does, and often wrongly: "iso-8859-1" means
windows-1252, "gb2312" means gb18030, "ks_c_5601-1987" means windows-949. Two things differ from the web, which bars
some encodings since a page could hide a script in them: mail of Korea and China is read in those encodings, and bytes
that are UTF-8 are read as such if the label is unknown or says ASCII.
"""

import codecs
import re
from functools import lru_cache

import webencodings

_MAIL_LABELS = {
    "iso2022-kr": "csiso2022kr iso-2022-kr",
    "hz": "hz-gb-2312",
    "gb18030": "cp936 ms936 windows-936",
    "cp949": "cp949 uhc",
    "big5hkscs": "cp950 windows-950",
    "cp932": "cp932 windows-932",
    "iso2022_jp": "iso-2022-jp-1 iso-2022-jp-2 iso-2022-jp-3 iso-2022-jp-ms cp50220 cp50221",
    "cp437": "cp437 ibm437",
    "cp850": "cp850 ibm850",
    "cp852": "cp852 ibm852",
    "cp1252": "ansi_x3.4-1986 iso646-us windows-1252-1",
}
"""The character sets of mail that the web does not read."""
_DETECTED = ("cp874", "hz", "iso2022-kr", "iso8859-16", "mac-cyrillic", "mac-roman", "utf-16-be", "utf-16-le")
"""Python's names that are no labels, which a detector of character sets may return."""
_OWN = {name: name for name in _DETECTED} | {
    label: codec for codec, labels in _MAIL_LABELS.items() for label in labels.split()
}
_STANDARD = {"gbk": "gb18030", "replacement": ""}
"""The codec to read with, if the library names another; the web's "replacement" reads nothing."""
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
        "big5hkscs",
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
    """Return Python's name of the codec for a label, or of the standard's own; empty if the label is unknown."""
    name = (label or "").strip("\t\n\f\r \"'").lower()
    if name in _OWN:
        return _OWN[name]
    found = webencodings.lookup(name)
    return _STANDARD.get(found.codec_info.name, found.codec_info.name) if found else ""


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
        case "euc_jp":
            return _of_euc_jp(data)
        case "iso2022_jp":
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
