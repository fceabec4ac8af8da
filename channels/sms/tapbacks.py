"""The texts by which phones react to a text, since SMS has no reactions; pure.

An iPhone writes `Liked “Dinner at 8”`, in its own language, with the whole message or its beginning. The words of
Google Messages differ by language, but the invisible letters around them do not: hair spaces around the message,
zero-width spaces around the emoji, or non-joiners if it is taken back. A reaction is such a wording with only the
quote, or with the kind of the quoted attachment; a text with more words is a message.
Source: public reports, since neither company documents it. English, Spanish and French are as captured
(github.com/FossifyOrg/Messages/issues/190), Google's letters as in github.com/quik-sms/quik, Portuguese as in the
press. German and Chinese follow the names that the phone gives its reactions: no capture of them is public.
"""

import re
from dataclasses import dataclass

from core.messaging.emoji import THUMB_DOWN, THUMB_UP, plain_emoji

_UNSEEN = re.compile("[\u00ad\u034f\u200a-\u200f\u2060\ufe0e\ufe0f\ufeff]")
_EMOJI = r"[^\w\s\"“”„«»‘’'.,:;!?()，。：；！？（）]{1,12}"
_MENTION = r"«\s?[^«»]{1,30}\s?»"
_VERBS = {
    THUMB_UP: (
        "Liked",
        "liked",
        "Le gustó",
        "le gustó",
        "A aimé",
        "Gefällt",
        "Curtiu",
        "Gostou de",
        "赞了",
        "点赞了",
    ),
    THUMB_DOWN: (
        "Disliked",
        "No le gustó",
        "N’a pas aimé",
        "N'a pas aimé",
        "Não curtiu",
        "Não gostou de",
        "踩了",
        "点踩了",
    ),
    "❤": (
        "Loved",
        "Le encantó",
        "A adoré",
        "Liebt",
        "Amou",
        "Adorou",
        "爱上了",
    ),
    "😂": (
        "Laughed at",
        "Le dio risa",
        "Se rió de",
        "A ri de",
        "Lacht über",
        "Riu de",
        "笑了",
    ),
    "‼": (
        "Emphasized",
        "Emphasised",
        "Exclamó por",
        "Enfatizó",
        "Destacó",
        "A souligné",
        "A mis en évidence",
        "Betont",
        "Enfatizou",
        "Destacou",
        "强调了",
    ),
    "❓": (
        "Questioned",
        "Dudó sobre",
        "A remis en question",
        "Hinterfragt",
        "Questionou",
        "质疑了",
    ),
}
"""Apple's words for its six reactions, before the quote."""
_NOUNS = {
    THUMB_UP: ("a like", "J’aime", "J'aime"),
    THUMB_DOWN: ("a dislike", "Je n’aime pas", "Je n'aime pas"),
    "❤": ("a heart", "Adore"),
    "😂": ("a laugh",),
    "‼": ("an exclamation",),
    "❓": ("a question mark",),
}
_WORDS = {word: emoji for words in (_VERBS, _NOUNS) for emoji, said in words.items() for word in said}
_AROUND = {
    ("Gefällt", "nicht"): THUMB_DOWN,
    ("Hebt", "hervor"): "‼",
    ("给", "点赞"): THUMB_UP,
    ("给", "点了赞"): THUMB_UP,
    ("给", "点踩"): THUMB_DOWN,
    ("给", "点了踩"): THUMB_DOWN,
}
"""Apple's words of which a part stands after the quote."""
_SAYINGS = (
    ("|".join(word for said in _VERBS.values() for word in said), ""),
    (rf"Reacted (?:with )?{_EMOJI} to|{_EMOJI} to", ""),
    (rf"Removed (?:an? (?:like|heart|dislike|laugh|exclamation|question mark)|{_EMOJI}) from", ""),
    (rf"Reaccionó con {_EMOJI} a", ""),
    (rf"[Aa] attribué la mention {_MENTION} à|[Aa] retiré la mention {_MENTION} (?:de|à)", ""),
    (rf"[Aa] réagi (?:avec )?{_EMOJI} à|[Aa] retiré la réaction {_EMOJI} à", ""),
    (rf"Hat mit {_EMOJI} auf", "reagiert"),
    (rf"Hat {_EMOJI} von", "entfernt"),
    (rf"Reagierte mit {_EMOJI} auf|Reagiu com {_EMOJI} a|Removeu {_EMOJI} de|用{_EMOJI}回应了", ""),
    *_AROUND,
)
"""The words before the quote, as a pattern, and those after it."""
_TAKEN_BACK = re.compile(rf"Removed |[Aa] retiré |Hat {_EMOJI} von|Removeu ")
_IN_SAYING = re.compile(rf"«\s?(?P<mention>[^«»]+?)\s?»|Removed (?P<noun>an? [a-z ]+?) from|(?P<emoji>{_EMOJI})")
_QUOTED = r"(?:“.*(?:”|…)|„.*(?:[“”]|…)|«.*(?:»|…)|「.*(?:」|…)|\".*(?:\"|…|\.\.\.))"
_SEVERAL = re.compile(r"[”»」][^“«„”»「」]*\w[^“«„”»「」]*[“«„「]")
"""Words between two quotes: a person's, since a phone quotes a single message."""
_THINGS = (
    r"(?:an?|the) (?:image|photo|picture|movie|video|(?:audio|voice) message|attachment|contact|location|sticker|link)",
    r"[0-9]{1,3} (?:images|photos|attachments)",
    r"una? (?:imagen|foto|vídeo|video|película|mensaje de audio|archivo adjunto|contacto)",
    r"une? (?:image|photo|vidéo|message audio|pièce jointe|contact)",
    r"ein(?:e|en)? (?:Bild|Foto|Video|Audionachricht|Anhang|Kontakt)",
    r"uma? (?:imagem|foto|vídeo|mensagem de áudio|anexo|contato)",
    r"一(?:张图片|张照片|个视频|条语音|个附件)",
)
_BEFORE = "|".join(before for before, _ in _SAYINGS)
MAY_BE_TAPBACK = re.compile(rf"\s*(?:\u200a|{_UNSEEN.pattern}*(?:{_BEFORE}))")
"""How such a text begins: any other has no more to be looked at."""
_TAPBACK = re.compile(
    rf"(?P<before>{_BEFORE})\s*"
    rf"(?:(?P<quoted>{_QUOTED})|(?:{'|'.join(_THINGS)}))\s*"
    rf"(?P<after>{'|'.join(after for _, after in _SAYINGS if after)})?",
    re.DOTALL,
)
_MARKED = re.compile(
    rf"\u200a[^\u200a-\u200c]{{0,40}}(?P<mark>[\u200b\u200c])(?P<emoji>{_EMOJI})(?P=mark)[^\u200a-\u200c]{{0,40}}"
    r"\u200a(?P<quoted>.*?)\u200a[^\u200a-\u200c]{0,20}\u200a?",
    re.DOTALL,
)
"""The form of Google Messages, whatever its words."""
_CUT = re.compile(r"(?:…|\.\.\.)\s*[”“»」\"]?$")


@dataclass(frozen=True, slots=True)
class Tapback:
    """A reaction. `quote`: the text of its message, empty for an attachment; `cut`: the end of the text is missing."""

    emoji: str
    quote: str
    cut: bool = False
    taken_back: bool = False


def find_tapback(text: str) -> Tapback | None:
    """Return the reaction that a text is if it says nothing else; None for any other text."""
    if marked := _MARKED.fullmatch(text.strip(" \r\n")):
        quote, emoji = marked["quoted"], plain_emoji(marked["emoji"])
        return Tapback(emoji, *_uncut(quote, quote), taken_back=marked["mark"] == "\u200c")
    seen = _UNSEEN.sub("", text).strip()
    match = _TAPBACK.fullmatch(seen)
    if match is None or not _fit(before := match["before"], after := match["after"] or ""):
        return None
    if _SEVERAL.search(seen) and not re.search(" (?:attribué|retiré) ", before):
        return None
    quoted = match["quoted"] or ""
    taken_back = _TAKEN_BACK.match(before) is not None
    return Tapback(_emoji(before, after), *_uncut(quoted, quoted[1:-1]), taken_back=taken_back)


def _fit(before: str, after: str) -> bool:
    """Return whether the words after a quote are those that belong to the words before it."""
    return any(after == wanted and re.fullmatch(words, before) for words, wanted in _SAYINGS)


def _uncut(quoted: str, whole: str) -> tuple[str, bool]:
    """Return the quoted words, and whether their end is missing. `whole`: them, if it is not."""
    cut = _CUT.search(quoted)
    return (quoted[: cut.start()].lstrip('“„«「"') if cut else whole).strip(), cut is not None


def _emoji(before: str, after: str) -> str:
    """Return the emoji of a phone's wording; a word that is no reaction we know stands for itself, in colons."""
    if (before, after) in _AROUND:
        return _AROUND[before, after]
    if before in _WORDS:
        return _WORDS[before]
    match = _IN_SAYING.search(before)
    word = (match["mention"] or match["noun"] or match["emoji"]) if match else before
    return _WORDS.get(word) or plain_emoji(word if re.fullmatch(_EMOJI, word) else f":{word}:")
