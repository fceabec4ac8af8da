"""Reactions, which phones send as texts, since SMS has none.

`Liked “Dinner at 8”`, in the phone's own language, with the whole message or its beginning. A reaction is a phone's
wording followed by only the quote, or by the kind of the quoted attachment; a text with more words is a message.
Source: public reports, such as github.com/FossifyOrg/Messages/issues/190; neither Apple nor Google documents it.
"""

import re

_UNSEEN = re.compile("[\u00ad\u034f\u200a-\u200f\u2060\ufe0e\ufe0f\ufeff]")
_EMOJI = r"[^\w\s\"“”„«»‘’'.,:;!?()]{1,12}"
_MENTION = r"«\s?[^«»]{1,30}\s?»"
_SAYINGS = (
    r"(?:Dis)?[Ll]iked|Loved|Laughed at|Emphasi[sz]ed|Questioned",
    rf"Reacted (?:with )?{_EMOJI} to|{_EMOJI} to",
    rf"Removed (?:an? (?:like|heart|dislike|laugh|exclamation|question mark)|{_EMOJI}) from",
    r"(?:No )?[Ll]e gustó|Le encantó|Le dio risa|Se rió de|Exclamó por|Enfatizó|Destacó|Dudó sobre",
    rf"Reaccionó con {_EMOJI} a",
    r"A aimé|A adoré|N[’']a pas aimé|A ri de|A souligné|A mis en évidence|A remis en question",
    rf"[Aa] attribué la mention {_MENTION} à|[Aa] retiré la mention {_MENTION} (?:de|à)",
    rf"[Aa] réagi (?:avec )?{_EMOJI} à|[Aa] retiré la réaction {_EMOJI} à",
)
_QUOTED = r"(?:“.*(?:”|…)|„.*(?:[“”]|…)|«.*(?:»|…)|\".*(?:\"|…|\.\.\.))"
_SEVERAL = re.compile(r"[”»][^“«„”»]*\w[^“«„”»]*[“«„]")
"""Words between two quotes: a person's, since a phone quotes a single message."""
_THINGS = (
    r"(?:an?|the) (?:image|photo|picture|movie|video|(?:audio|voice) message|attachment|contact|location|sticker|link)",
    r"[0-9]{1,3} (?:images|photos|attachments)",
    r"una? (?:imagen|foto|vídeo|video|película|mensaje de audio|archivo adjunto|contacto)",
    r"une? (?:image|photo|vidéo|message audio|pièce jointe|contact)",
)
_TAPBACK = re.compile(rf"(?:{'|'.join(_SAYINGS)})\s*(?:{_QUOTED}|{'|'.join(_THINGS)})\s*", re.DOTALL)


def is_tapback(text: str) -> bool:
    """Return whether a text is a reaction to a message and says nothing else."""
    seen = _UNSEEN.sub("", text).strip()
    return bool(_TAPBACK.fullmatch(seen)) and (" attribué " in seen or " retiré " in seen or not _SEVERAL.search(seen))
