"""A written answer as it is spoken: shortened by rules, without links, codes, code and tables. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from core.language.catalogue import gettext

SENTENCES = 6
"""Sentences of an answer that are spoken, at most."""
CHARACTERS = 700
"""Characters of them, at most: three quarters of a minute."""
READ = 12_000
"""Characters of the answer that are looked at."""
_ADDRESS = re.compile(r"<?(?:https?://|www\.)[^\s<>()]+>?", re.IGNORECASE)
_DECISION = re.compile(r"\b(?:OK|OKAY|NO|NEIN|NON|NÃO|EDIT|SNOOZE)\s+[0-9][A-Z][0-9A-Z]?\b")
"""The exact words that decide about a card, with its code."""
_SECRET = re.compile(
    r"(?:\bcode|código|codigo|\bpin\b|passw|contraseña|senha|mot de passe|kennwort|密码|验证码|代码)", re.IGNORECASE
)
_NUMBER = re.compile(r"(?<![\w.,:])(?=[A-Z0-9-]*[0-9])[A-Z0-9](?:[A-Z0-9]|[ -](?=[A-Z0-9])){2,11}(?![\w:])")
"""A code as people spell it: capitals and digits, at least a digit."""
_KEY = re.compile(r"(?<!\w)(?=\w*[0-9])(?=\w*[A-Za-z])[A-Za-z0-9_]{12,}(?!\w)")
"""A key or a token, which nobody could write down by ear."""
_UNSPOKEN = re.compile(r"[\U0001f000-\U0001faff\u2190-\u27bf\u2b00-\u2bff\ufe0f\u200d|_*`#<>~^\\]+")
"""Emoji, arrows and marks, which a voice would name."""
_SENTENCE = re.compile(r"(?<=[.!?…])[\"'”’)]*\s+|(?<=[。！？])[”’）]*\s*")
_BEFORE_END = re.compile(r"\s+(?=[.,!?;:…。！？，；：])")
_PLAIN = re.compile(r"[\w ,.'’-]{1,40}")
"""Words in the place of code that are no code."""
_FEW = 4
"""Words of a sentence without its address, below which it said no more than that."""
_ENDS = (".", "!", "?", "…", ":", ";", ",", "。", "！", "？", "：", "；")
_CODE = "\0"
"""In the place of code, so that its sentence is left out; the parser leaves no such character in a text."""
_PARSER = MarkdownIt("commonmark").enable("table")


def for_the_ear(text: str) -> str:
    """Return the beginning of a Markdown text as it is spoken, in the current language; empty if none of it can be."""
    blocks, whole = _blocks(_PARSER.parse(text[:READ]))
    sentences, spoken = [*_sentences(blocks)], list[str]()
    for sentence in sentences[:SENTENCES]:
        if sum(map(len, spoken)) + len(sentence) > CHARACTERS:
            break
        spoken.append(sentence)
    if not spoken and sentences:
        spoken = [f"{sentences[0][:CHARACTERS].rsplit(' ', 1)[0]} …"]
    if not spoken:
        return ""
    if not whole or len(text) > READ or spoken != sentences:
        spoken.append(gettext("The rest is written above."))
    return " ".join(spoken)


def _blocks(tokens: Sequence[Token]) -> tuple[list[str], bool]:
    """Return the paragraphs, headings and items, and whether nothing else was left out."""
    blocks, tables, whole = list[str](), 0, True
    for token in tokens:
        tables += {"table_open": 1, "table_close": -1}.get(token.type, 0)
        if tables or token.type in ("fence", "code_block", "html_block"):
            whole = False
        elif token.type == "inline":
            blocks += "".join(_words(token.children or ())).split("\n")
    return blocks, whole


def _words(tokens: Iterable[Token]) -> Iterator[str]:
    for token in tokens:
        match token.type:
            case "text":
                yield token.content
            case "code_inline" if _PLAIN.fullmatch(token.content):
                yield token.content
            case "code_inline":
                yield _CODE
            case "softbreak":
                yield " "
            case "hardbreak":
                yield "\n"


def _sentences(blocks: Iterable[str]) -> Iterator[str]:
    for block in blocks:
        for sentence in _SENTENCE.split(block):
            said = _said(sentence)
            if not said:
                continue
            yield said if said.endswith(_ENDS) else f"{said}."


def _said(sentence: str) -> str:
    """Return a sentence without addresses and marks; empty if it has code or a code, or hardly a word is left."""
    if _CODE in sentence or _DECISION.search(sentence) or _KEY.search(_ADDRESS.sub("", sentence)):
        return ""
    if _SECRET.search(sentence) and _NUMBER.search(sentence):
        return ""
    without = _ADDRESS.sub(" ", sentence)
    if without != sentence and len(without.split()) < _FEW:
        return ""
    said = " ".join(_UNSPOKEN.sub(" ", without.replace("()", " ").replace("( )", " ")).split())
    return _BEFORE_END.sub("", said) if re.search(r"\w", said) else ""
