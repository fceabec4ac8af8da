"""The language of a text by its commonest words, for people whose language no provider states. Pure."""

import re
from collections import Counter

_WORDS = {
    "en": "the is are was i you he she we they what my me your our his her and but or to of in on at for with not do"
    " does did can could would should will have has had how when where why who this that it please from be been am"
    " i'm don't it's about tomorrow today if there some any tell remind send",
    "es": "el la los las un una de del y o pero que qué en con por para no es son está estoy estás soy eres hay mi"
    " tu su me te se lo le yo tú cómo cuándo dónde quién cuál muy más mañana hoy tengo tiene quiero puedes puede favor"
    " también cuando como a al ya si sí esto este esta recuérdame",
    "de": "der die das den dem ein eine einen einem einer und oder aber ich du er sie es wir ihr mir mich dir dich uns"
    " ist sind war bin hast hat habe haben wird werden nicht kein keine wie was wann wo wer warum mein meine dein deine"
    " mit von zu zum zur für auf im am um bei nach kannst kann bitte morgen heute dass auch noch schon erinnere an in",
    "fr": "le la les un une des du de et ou mais que qui quoi dans en avec pour par sur ne pas est sont suis es ai as a"
    " il elle nous vous je tu me te se mon ma mes ton ta votre notre moi toi où quand comment pourquoi quel quelle ce"
    " cette ces demain aujourd'hui peux pouvez s'il plaît j'ai c'est d'un d'une l'on très aussi à au aux y",
    "pt": "o a os as um uma de do da dos das e ou mas que em no na nos nas com por para não é são está estou sou és há"
    " meu minha teu tua seu sua me te se lhe eu tu você ele ela como quando onde quem qual muito mais amanhã hoje tenho"
    " tem quero pode podes favor também já se sim isto este esta ao à lembre",
    # The product has no sentences in these languages; their words are here so as not to count as a neighbour's.
    "it": "il lo la i gli le un una di del della e o ma che in con per non è sono sei ho hai ha mi ti si io tu lui lei"
    " noi come quando dove chi perché molto più domani oggi questo questa anche già sì al alla nel nella",
    "nl": "de het een en of maar dat die in op met voor van niet is zijn was ben bent heb hebt heeft ik jij je hij zij"
    " we wij mij mijn jouw wat wanneer waar wie hoe kan kun morgen vandaag ook nog al te om aan bij naar",
}
_KNOWN = {language: frozenset(words.split()) for language, words in _WORDS.items()}
_OURS = frozenset({"en", "es", "de", "fr", "pt"})
_HAN, _KANA = re.compile(r"[\u4e00-\u9fff]"), re.compile(r"[\u3040-\u30ff]")
_WORD = re.compile(r"(?<!\w)[^\W\d_]+(?:'[^\W\d_]+)*(?!\w)")
"""A whole word: the letter in a code, such as 3E, is no word."""
_ADDRESS = re.compile(r"\S+://\S*")
_ENOUGH = 2
"""The different words, or Chinese characters, that suffice: a single word may be a name, or a word of two languages."""
_LOOKED_AT = 2_000
"""The characters of a long text that count."""


def language_written(text: str) -> str:
    """Return the code of the language of `LANGUAGES` that a text is clearly written in; empty if it is not clear."""
    text = _ADDRESS.sub(" ", text[:_LOOKED_AT]).casefold().replace("\u2019", "'")
    words = set(_WORD.findall(text))
    han = len(_HAN.findall(text))
    if han >= _ENOUGH and not _KANA.search(text) and han > len(words & _KNOWN["en"]):
        return "zh"
    found = Counter({language: len(words & known) for language, known in _KNOWN.items()})
    [(language, count), (_, second)] = found.most_common(2)
    return language if count >= _ENOUGH and count > second and language in _OURS else ""
