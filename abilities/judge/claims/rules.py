"""Find the sentences of an answer that claim an act. Rules over words, so it costs microseconds and no model.

Quoted words, drafts, questions, conditions, negations, others' acts and earlier times are no claims.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from abilities.judge.claims.chinese import CHINESE
from abilities.judge.claims.germanic import ENGLISH, GERMAN
from abilities.judge.claims.languages import ADVERBS, VERB, Form, Language, one_of, words_of
from abilities.judge.claims.romance import FRENCH, PORTUGUESE, SPANISH

_QUOTED = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]+`|^\s*>[^\n]*|\"[^\"\n]{1,600}\"|“[^”\n]{1,600}”|„[^“”\n]{1,600}[“”]|«[^»\n]{1,600}»"
    r"|「[^」\n]{1,600}」|『[^』\n]{1,600}』|(?<!\w)['‘][^'’\n]{1,300}['’](?!\w)",
    re.DOTALL | re.MULTILINE,
)
# A greeting at the very beginning is the assistant's own, as in a mail.
_DRAFT = re.compile(
    r"^[^\n]{0,160}?\b(?:drafts?|versions?|wording|texts?|reply|letter|message|mail|e-?mail|suggestion|entwurf|vorschlag|fassung"
    r"|nachricht|antwort|brief|borrador|propuesta|versión|mensaje|texto|respuesta|brouillon|proposition|texte|réponse"
    r"|lettre|rascunho|proposta|mensagem|resposta|carta)\b[^\n]{0,160}:\s*\n"
    r"|^[^\n]{0,160}?(?:草稿|草拟|如下|以下|建议)[^\n]{0,160}[:：]\s*\n"
    r"|(?<=\n)(?:hi|hello|dear|hallo|liebe[rs]?|sehr\s+geehrte\w*|hola|estimad\w+|bonjour|ch[eè]re?|olá|car[oa]|prezad\w+)\b"
    r"[^\n.!?]{1,40},\s*\n",
    re.IGNORECASE | re.MULTILINE,
)
_WRITES = re.compile(
    r"\b(?:write|tell|create|make|compose|invent|generate|schreib\w*|erzähl\w*|erfinde|escr[ií]be\w*|cu[eé]nta\w*|crea|inventa"
    r"|écris|raconte\S*|invente|crée|escreve|conta|cria|inventa)\b[^.!?\n]{0,40}\b(?:stor(?:y|ies)|poems?|essay|songs?|lyrics"
    r"|jokes?|tale|diary|speech|dialogue|geschichte|gedicht|lied|witz|aufsatz|rede|märchen|historia|cuento|poema|canción"
    r"|chiste|discurso|histoire|poème|chanson|blague|conte|discours|história|conto|canção|piada)\b"
    r"|\b(?:translate|translation|role-?play|pretend|imagine|how\s+do\s+(?:you|i)\s+say|übersetz\w*|wie\s+sagt\s+man|traduce\w*"
    r"|cómo\s+se\s+dice|tradui[st]\w*|comment\s+dit-on|traduz\w*|como\s+se\s+diz)\b"
    r"|(?:写|讲|编|作)[^，。！？\n]{0,12}(?:故事|诗|歌|笑话|作文|演讲)|翻译|怎么说|扮演",
    re.IGNORECASE,
)
"""A request for a piece of writing, whose "I" is not the assistant, or for a translation."""
_SENTENCE = re.compile(r"[^.!?。！？\n]+(?:[.!?](?=\d)[^.!?。！？\n]*)*[.!?。！？…]*")
_CLAUSE_ENDS = re.compile(r"[,;:—，；：、]|\s[-–]\s|\b(?:but|aber|pero|mais|mas)\b|但")
_PART_ENDS = re.compile(rf"{_CLAUSE_ENDS.pattern}|\s(?:and|und|y|et|e)\s")
"""Clauses, and the parts of a clause with a verb of their own."""
_MARKUP = re.compile(r"[*_~#]+|[\U0001F000-\U0001FAFF\u2600-\u27BF\uFE0F]|^\s*(?:[-•]|\d+[.)])\s+", re.MULTILINE)
_SHORT = 120
"""Characters of the longest answer whose "Done!" claims the whole request; a longer answer shows its result."""
_SHORT_YES = 60
_MAX_ANSWER, _MAX_SENTENCE, _MAX_ASKED, _MAX_ACTS = 6_000, 400, 800, 6
"""Limits of the check, in characters (the person's words by halves from either end) and in acts of a sentence."""
_CJK = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence that claims an act. `outward`: the act reaches others, as a mail or a booking does.

    `sure`: the person asked for an act, or the assistant says "I"; else it may be news.
    """

    sentence: str
    outward: bool = False
    sure: bool = True


class _Compiled:
    """A language's expressions, compiled."""

    def __init__(self, language: Language) -> None:
        self.forms = [(_pattern(form, language), form) for form in language.forms]
        self.strong = {word for form in language.forms for word in form.verbs.strong.split()}
        self.words = self.strong | {word for form in language.forms for word in form.verbs.weak.split()}
        self.done = _expression(language.done)
        self.outward = _expression(language.outward)
        self.to_the_reader = _expression(language.to_the_reader)
        self.barred = _expression(language.barred)
        self.things = _expression(language.things)
        self.texts = _expression(language.texts)
        self.past = _expression(language.past)
        self.polite = _expression(rf"(?:{language.polite})(?:{language.asks})")
        self.plain = _expression(rf"(?:{language.begins})(?:{language.asks})")
        self.inquires = _expression(language.inquires)
        self.agrees = _expression(language.agrees)


def _expression(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _pattern(form: Form, language: Language) -> re.Pattern[str]:
    verbs = one_of(f"{form.verbs.strong} {form.verbs.weak}")
    return _expression(form.pattern.replace(ADVERBS, language.adverbs).replace(VERB, verbs))


_CHINESE = _Compiled(CHINESE)
_SPACED = [_Compiled(language) for language in (ENGLISH, GERMAN, SPANISH, FRENCH, PORTUGUESE)]
_ALL = [*_SPACED, _CHINESE]
TELLING = words_of(
    "done set sorted care erledigt gemacht passiert listo hecho está fait bon pronto prontinho feito certo "
    "已 了 成 完 好 搞 办 弄"
).union(*(language.words for language in _SPACED))
"""The words of claims, in Chinese their characters: an answer without any of them claims nothing."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The person's last words. `wants_act`: they ask for an act. `inquires`: they ask for news, or for words.

    `wants_text`: they ask for a story, a translation and the like.
    """

    words: str = ""
    wants_act: bool = False
    inquires: bool = False
    wants_text: bool = False


def understood(words: str, *, offered: bool = False) -> Asked:
    """Return the requests in a person's words; `offered`: they answer a question of the assistant's."""
    if len(words) > _MAX_ASKED:
        words = f"{words[: _MAX_ASKED // 2]} … {words[-_MAX_ASKED // 2 :]}"
    words = _QUOTED.sub(" ", words).strip()
    if _WRITES.search(words):
        return Asked(words, wants_text=True)
    languages = [_CHINESE] if _CJK.search(words) else _SPACED
    if offered and len(words) <= _SHORT_YES and any(language.agrees.search(words) for language in languages):
        return Asked(words, wants_act=True)
    # A question that asks for something to be done is a request: "Can you book a table?"
    polite = any(language.polite.search(words) for language in languages)
    question = words.endswith(("?", "？")) or any(language.inquires.search(words) for language in languages)
    if question and not polite:
        return Asked(words, inquires=True)
    return Asked(words, wants_act=polite or any(language.plain.search(words) for language in languages))


def claims_in(answer: str, asked: Asked) -> list[Claim]:
    """Return the claims of an answer to such words."""
    if asked.wants_text:
        return []
    own = _own_words(answer[:_MAX_ANSWER])
    claims: list[Claim] = []
    for found in _SENTENCE.finditer(own):
        sentence = found[0].strip()
        if sentence.endswith(("?", "？")):
            continue
        if acts := list(islice(_claimed(sentence[:_MAX_SENTENCE], asked, own[:_MAX_SENTENCE]), _MAX_ACTS)):
            sure = asked.wants_act or any(not act.passive for act in acts)
            claims.append(Claim(sentence, any(act.outward for act in acts), sure))
    if not claims and asked.wants_act:
        claims += _done(own.strip())
    return claims


def _own_words(answer: str) -> str:
    """Return an answer without quoted words, drafts and markup."""
    own = _MARKUP.sub("", _QUOTED.sub(" … ", answer))
    draft = _DRAFT.search(own)
    return own[: draft.end()] if draft else own


class _Act(NamedTuple):
    """An act that a sentence claims."""

    outward: bool
    passive: bool


def _claimed(sentence: str, asked: Asked, own: str) -> Iterator[_Act]:
    """Yield each act that a sentence claims."""
    for language in (_CHINESE,) if _CJK.search(sentence) else _SPACED:
        for pattern, form in language.forms:
            if form.passive and asked.inquires:
                continue
            for match in pattern.finditer(sentence):
                act = _Act(bool(language.outward.fullmatch(match["did"])), form.passive)
                if _is_meant(match, language, asked, act) and _is_an_act(match, language, asked, own, act):
                    yield act


def _is_meant(match: re.Match[str], language: _Compiled, asked: Asked, act: _Act) -> bool:
    """Return whether a form of a claim is about this turn, and addressed to the person."""
    sentence = match.string
    begins = _last_end(_CLAUSE_ENDS, sentence, match.start())
    if language.barred.search(sentence[begins : match.start()]):
        return False
    if not asked.wants_act and (language.past.search(sentence) or (act.passive and match["did"] in asked.words)):
        return False  # an earlier act, or what the person has told
    begins = max(begins, _last_end(_PART_ENDS, sentence, match.start("did")))
    ends = _PART_ENDS.search(sentence, match.end("did"))
    return not language.to_the_reader.search(sentence[begins : ends.start() if ends else None])


def _last_end(ends: re.Pattern[str], sentence: str, before: int) -> int:
    return max((end.end() for end in ends.finditer(sentence, 0, before)), default=0)


def _is_an_act(match: re.Match[str], language: _Compiled, asked: Asked, own: str, act: _Act) -> bool:
    """Return whether a verb says that something was done, and not only written for the reader."""
    sentence = match.string
    if not act.outward and language.texts.search(f"{asked.words} {sentence}"):
        return False
    if match["did"].lower() in language.strong or language.things.search(sentence):
        return True
    return asked.wants_act and (act.outward or bool(language.things.search(f"{asked.words} {own}")))


def _done(own: str) -> Iterator[Claim]:
    if len(own) > _SHORT or ":" in own or "\n" in own:
        return
    if any(language.done.search(own) and not language.to_the_reader.search(own) for language in _ALL):
        yield Claim(own)
