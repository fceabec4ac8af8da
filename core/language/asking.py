"""Recognise questions: a question states nothing about the person, whatever words it contains."""

import re

_LEAD = re.compile(
    r"(?:(?:hey|hi|hello|hallo|hola|salut|bonjour|oi|olá|ok(?:ay)?|so|and|but|or|well|oh|um+|hm+|also|now|then|wait|quick"
    r"|please|pls|sorry|thanks|btw|by the way|actually|just|right|again|one more|question|y|und|et|e)\b[\s,:;.!…–—-]*"
    r"(?:(?:there|question|thing|koi|assistant|valet)\b[\s,:;.!…–—-]*)?)+",
    re.IGNORECASE,
)
_MARK = re.compile(r"[?？؟][^\w]*$")
_QUOTED = re.compile(r"\w[^\"“«]*[\"“«][^\"”»]*[?？][\"”»][\s.!]*$")
"""Another person's question, quoted within a sentence."""
_TOLD_ANYWAY = re.compile(
    r",?\s+(?:ok(?:ay)?|all ?right|remember|(?:did )?you know|you know)\s*\?[^\w]*$", re.IGNORECASE
)

_AUX = r"(?:is|are|was|were|am|do|does|did|can|could|will|would|shall|should|has|have|had|may|might|must)(?:n['’]?t)?"
_THEM = (
    r"(?:i|you|we|he|she|it|they|there|this|that|these|those|my|your|our|his|her|their|the|anyone|anybody|someone"
    r"|somebody|any|everyone)"
)
_WH = r"(?:what|where|when|who|whom|whose|why|how|which)"
_DIRECT = (
    # Inverted, so that "Where I live it rains" is no question.
    rf"(?:in |at |on |to |for |from |with |by |since |until )?{_WH}(?:['’]?(?:s|re|d|ll|m)\b|\s+{_AUX}\b)(?! more\b)",
    rf"(?:in |at |on |to |for |from |with |by )?(?:which|what|whose)\s+(?:[\w'’-]+\s+){{1,4}}?{_AUX}\s+{_THEM}\b",
    rf"how\s+(?:old|many|much|far|long|often|tall|big|late|early|soon|come)\b(?=.*\b(?:{_AUX}|come)\b)",
    rf"{_AUX}\s+{_THEM}\b",
    r"who\s+(?:lives?|works?|knows?|has|owns?|called|told|said|gave|sent|came|plays?|drives?|likes?)\b(?!.*\bis\b)",
    r"(?:any|what) (?:idea|clue|chance)\b",
    r"(?:what|how) about\b",
    r"(?:what|where|who|when)\s+again\b",
)
_ASKS_FOR = (
    rf"\b(?:tell|remind|show|inform)\s+(?:me|us)\b(?:\s+again)?,?\s+(?:about\s+)?"
    rf"(?:{_WH}|whether|if|my|our|the name)\b",
    rf"\b(?:i|we)(?:['’]m|\s+am|['’]d|\s+would|\s+was|\s+were|\s+just)?\s+"
    rf"(?:wonder(?:ing|ed)?|curious|(?:like|love|want|need)\s+to\s+(?:know|ask|hear|find out))\b"
    rf".*\b(?:{_WH}|whether|if)\b",
    rf"\b(?:i|we)(?:['’]ve)?\s+(?:(?:just|really|totally|always)\s+)?"
    r"(?:forgot(?:ten)?|forget|can(?:['’]?t|not) (?:remember|recall|think)|don['’]?t (?:know|remember|recall)"
    r"|have no idea)"
    rf"\b(?:\s+of)?\s+(?:again\s+)?(?:{_WH}|whether|if|my|our|the name)\b",
    r"\b(?:do|did|can|could|would|will)\s+you\s+(?:\w+\s+)?"
    r"(?:know|remember|recall|tell|remind|say|guess|look up|find|check)\b",
    r"(?:guess|say|recall|look up|find out|check|list)\s+(?:" + _WH + r"|whether|if)\b",
)
_ELSEWHERE = (
    r"(?:wo|wer|wen|wem|wessen|wann|warum|wieso|weshalb|wohin|woher|womit|wie|was|welche[rsmn]?)\s+"
    r"(?!(?:ich|mir|mich|du|er|sie|es|wir|uns|ihr|man|mein\w*|unser\w*|der|die|das)\b)\w",
    r"(?:kannst|könntest|weißt|weisst|hast|bist|habe|bin|ist|sind|war|hat|wird|soll|muss|darf)\s+"
    r"(?:du|ich|wir|es|mein\w*|unser\w*)\b",
    r"¿",
    r"(?:(?:a|en|de|con|para|por|desde|hasta)\s+)?(?:dónde|qué|quién(?:es)?|cuándo|cómo|cuál(?:es)?|cuánt[oa]s?)\s+"
    r"(?!bien\b|bonit|buen|rico|lind|alegría|suerte|pena|lástima)\w",
    r"(?:.*\b)?(?:est-ce qu|qu['’]est-ce|c['’]est quoi|à quelle heure|comment s['’]appelle|comment je m['’]appelle)",
    r"(?:où|quel(?:le)?s?|combien|pourquoi)\s+(?:de\s+)?"
    r"(?:est|sont|suis|ai|a|as|es|était|habit|viv|vis|travaill|\w+ (?:ai|est|suis)-?)",
    r"(?:(?:em|de|com|para|por|a)\s+)?(?:onde|quem|quando|como|qual|quais|quant[oa]s?|que)\s+"
    r"(?:é|são|era|fica|está|estou|moro|vivo|mora|vive|trabalh|se chama|anos|tenho|eu)\b(?!.*,)",
)
_CHINESE = re.compile(
    r"[吗呢嗎][\s。！!]*$|(?:什么|什麼|哪里|哪裡|哪儿|哪个|谁|誰|多少|几点|幾點|几岁|怎么|怎麼|为什么|何时|是不是|有没有)(?!都|也)"
)
_ASKS = tuple(re.compile(pattern, re.IGNORECASE) for pattern in (*_DIRECT, *_ELSEWHERE))
_ASKS_ANYWHERE = tuple(re.compile(pattern, re.IGNORECASE) for pattern in _ASKS_FOR)
_TURN = re.compile(rf"(?:\s*[,;:–—]\s*|\s+-\s+|\s+)(?:(?:and|but|so|or)\s+)?(?=(?:{'|'.join(_DIRECT)}))", re.IGNORECASE)
_DECLARES = re.compile(
    r"(?:(?:i|we)(?:['’](?:m|ve|re))?\s+(?!was wonder|wonder|want|wanted|would|forg|am curious)\w+\s+\w+"
    r"|(?:my|our)\s.*\b(?:is|are|was|has|have|had|lives?|works?|moved|called|named)\s+\w+)",
    re.IGNORECASE,
)
_ABOUT_ASKING = re.compile(
    r"\b(?:ask|asked|asking|know|curious|question|wonder|wondering|forgot|remember)\b", re.IGNORECASE
)


def asks(sentence: str) -> bool:
    """Return whether a sentence is a question, with or without its mark; best in English."""
    plain = sentence.strip(" \t\n\"'“”‘’«»()[]*_-–—")
    if lead := _LEAD.match(plain):
        plain = plain[lead.end() :]
    if any(pattern.match(plain) for pattern in _ASKS) or _CHINESE.search(plain):
        return True
    if any(pattern.search(plain) for pattern in _ASKS_ANYWHERE):
        return ":" not in plain
    return bool(_MARK.search(sentence)) and not _QUOTED.match(sentence)


def without_question(sentence: str) -> str:
    """Return the statement before a sentence's question: of "I live in Graz, where can I eat?" the first part.

    Empty for a mere question; the sentence itself for a mere statement.
    """
    told = _TOLD_ANYWAY.sub("", sentence)
    if told != sentence and not asks(told):
        return told
    for turn in _TURN.finditer(sentence):
        head = sentence[: turn.start()].strip()
        if turn[0].strip() and _DECLARES.match(head) and not _ABOUT_ASKING.search(head) and not asks(head):
            return head
    return "" if asks(sentence) else sentence
