"""The recognition of requests: a request tells nothing of the person, in any words.

Rules for six languages, best in English. A wish that holds for good ("always answer me in French", "call me Bob")
is no request, nor is a statement to be remembered.
"""

import re

_LEAD = re.compile(
    r"(?:(?:please|pls|hey|hi|hello|ok(?:ay)?|so|and|then|now|also|just|go ahead and|hallo|bitte|und|dann|jetzt|hola"
    r"|por favor|y|ahora|bonjour|salut|s['’]il (?:te|vous) pla[iî]t|et|maintenant|olá|e|agora"
    r"|(?:can|could|would|will) you|kannst du|könntest du|(?:könnten|können) sie|(?:puedes|podrías|puede|podría)"
    r"|(?:peux|pourrais)-tu|(?:pouvez|pourriez)-vous|pode(?:s|ria)?)\b[\s,:;.!…–—-]*"
    r"|(?:请|麻烦你?|你好|您好|你?(?:能不能|能|可以))[，,！!。 ]*)+",
    re.IGNORECASE,
)
_MAY_YOU = re.compile(
    r"(?:can|could|would|will) you|kannst du|könntest du|(?:könnten|können) sie|podrías|(?:peux|pourrais)-tu"
    r"|(?:pouvez|pourriez)-vous|poderia",
    re.IGNORECASE,
)
_POLITE_END = re.compile(
    r"[\s,，]*(?:\bplease|\bpls|\bbitte|\bpor favor|\bs['’]il (?:te|vous) pla[iî]t|吧|好吗)[\W_]*$", re.IGNORECASE
)
_FOR_GOOD = re.compile(
    r"\b(?:always|never|from now on|whenever|don['’]?t|do not|immer|nie(?:mals)?|ab jetzt|nicht mehr|siempre|nunca"
    r"|jamais|toujours|désormais|sempre|call me|nenn(?:en sie|e)? mich|ll[áa]m[ae]me|appelle[zr]?-moi|cham[ae]-me"
    r"|remember|merk[e]? (?:dir|ihnen)|dir merken|recuerda que|acuérdate|souviens|retiens|lembra-te|lembre-se"
    r"|memoriz[ae])\b"
    r"|总是|永远|从不|以后|请?叫我(?!起床)|记住|记得",
    re.IGNORECASE,
)
_SAYS = re.compile(r"(?:tell|say|write|email|text|message|let|call|ask|remind|send)\b", re.IGNORECASE)

_ALWAYS_VERB = (
    r"remind|send|write|call|find|show|tell|give|add|cancel|delete|remove|create|make|translate|summari[sz]e|explain"
    r"|calculate|convert|reserve|suggest|recommend|compare|notify|reply|forward|draft|turn|wake|buy|pay|get"
    r"|bring|fetch"
    r"|open|close|read|say|ask|forget|undo|switch|inform|warn|invite|postpone|reschedule|confirm|approve|look"
)
"""Verbs that begin no sentence as nouns."""
_ALSO_NOUN = (
    r"email|e-mail|mail|text|message|book|order|search|check|help|play|watch|schedule|plan|list|set|move"
    r"|change|update"
    r"|start|stop|pause|note|print|record|track|post|share|fix|test|google|dm|ping|phone|ring|order"
)
_AFTER_VERB = (
    r"(?:the|an?|my|our|your|his|her|their|me|us|him|them|it|this|that|these|those|some|any|all|every|each|no"
    r"|to|for|up"
    r"|out|at|in|on|off|about|with|over|back|one|two|three|four|five|six|ten|\d\S*|what|where|when|who|how"
    r"|whether|if)"
)
_PREPOSITION = (
    r"(?:about|to|for|at|on|in|with|from|by|of|that|saying|and|i|i['’]m|we|we['’]re|today|tonight|tomorrow|now|again"
    r"|before|after|until|the|an?|my)"
)
_NOUN_SENTENCE = re.compile(
    r"\S+(?:\s+\S+){0,2}?(?<!,)\s+(?:is|are|was|were|has|have|had|isn['’]t|aren['’]t|ist|sind|war|waren|hat|mag)\b",
    re.IGNORECASE,
)

_GERMAN = (
    r"(?:schick|send|schreib|ruf|erinner|stell|buch|bestell|such(?! (?:an?|is|as|was)\b)|find|zeig|sag|gib"
    r"|gebt|hol|spiel|mach|öffn|schließ|lösch"
    r"|trag|füg|plan|reservier|übersetz|fass|lies|erklär|hilf|berechn|rechn|setz|änder|verschieb|storniere?|kauf|zahl"
    r"|bezahl|antwort|leit|druck|vergleich|empfiehl|schlag|prüf|check|guck|schau|weck|warn|informier"
    r"|benachrichtig|nimm"
    r"|leg|ergänz|kündig|vergiss|streich|erstell|erzähl|nenn|frag|bring)(?:e|t|en sie)?"
)
_SPANISH = (
    r"(?:env[ií][ae]|mand[ae]|escrib[ae]|llam[ae]|recu[eé]rd[ae]|pon|ponga|pong[ae]|reserv[ae]|pid[ea]|busca|busque"
    r"|b[uú]sca|encuentr[ae]|mu[eé]str[ae]|ens[eé]ñ[ae]|dime|dile|dinos|dig[ae]|(?:da|de)(?=me|le|nos)|haz"
    r"|haga|cre[ae]|añad[ae]|agreg[ae]|agregue"
    r"|borr[ae]|elimin[ae]|cancel[ae]|cambi[ae]|muev[ae]|program[ae]|planific[ae]|traduc[ae]|traduzca"
    r"|resum[ae]|lee|lea"
    r"|expl[ií]c[ae]|explique|ay[uú]d[ae]|calcul[ae]|conviert[ae]|compr[ae]|pag[ae]|pague|respond[ae]|contest[ae]"
    r"|reenv[ií][ae]|imprim[ae]|abr[ae]|cierr[ae]|reproduc[ae]|despi[eé]rt[ae]|av[ií]s[ae]|anot[ae]|apunt[ae]"
    r"|consult[ae]"
    r"|comprueb[ae]|compar[ae]|recomi[eé]nd[ae]|sugier[ae]|olvid[ae]|cu[eé]nt[ae]|tr[aá]e)(?:me|le|les|nos|te"
    r"|se)?(?:l[oa]s?)?"
)
_FRENCH = (
    r"(?:envoi?e|envoyez|[ée]cris|[ée]crivez|appelle|appelez|rappelle|rappelez|mets|mettez|r[ée]serve"
    r"|commande|cherche"
    r"|trouve|montre|dis|dites|donne|fais|faites|cr[ée]e|ajoute|supprime|efface|annule|change|d[ée]place|planifie"
    r"|programme|traduis|traduisez|r[ée]sume|lis|lisez|explique|aide|calcule|convertis|ach[eè]te|achetez|paie|paye"
    r"|r[ée]ponds|r[ée]pondez|transf[eè]re|imprime|ouvre|ferme|joue|r[ée]veille|pr[ée]viens|pr[ée]venez|note"
    r"|v[ée]rifie"
    r"|regarde|compare|recommande|propose|sugg[eè]re|oublie|raconte)[sz]?(?:-(?:moi|lui|leur|nous|le|la|les))*"
)
_PORTUGUESE = (
    r"(?:envi[ae]|mand[ae]|escrev[ae]|lig(?:ue|a)|lembr[ae]|ponha|põe|reserv[ae]|peça|pede|procur[ae]|encontr[ae]"
    r"|mostr[ae]|diga|diz|d[êá](?=-)|faça|faz|cri[ae]|adicion[ae]|acrescent[ae]|apag(?:ue|a)|elimin[ae]"
    r"|cancel[ae]|mud[ae]"
    r"|alter[ae]|mov[ae]|marqu?[ea]|marca|agend[ae]|traduz[ae]?|resum[ae]|leia|lê|expliqu[e]|explica|ajud[ae]"
    r"|calcul[ae]"
    r"|convert[ae]|compr[ae]|pag(?:ue|a)|respond[ae]|reencaminh[ae]|imprim[ae]|abr[ae]|fech[ae]|toqu[e]"
    r"|acord[ae]|avis[ae]"
    r"|anot[ae]|verifi(?:que|ca)|vej[a]|compar[ae]|recomend[ae]|sugir[a]|esque(?:ça|ce)|cont[ae])"
    r"(?:-(?:me|lhe|lhes|nos|o|a|os|as))?"
)
_CHINESE = re.compile(
    r"(?:帮我|给我|替我|为我|提醒我|叫醒我|告诉我|通知我|让我知道|发(?:送|给|一|个|邮|消)|写(?:一?封|个|一个)|打(?:个)?电话给|预?订|预约"
    r"|查(?:一下|询|找)?|搜(?:索|一下)|找(?:一下|个|到)|播放|放(?:一?首|点)|打开|关闭|关掉|删除|删掉|取消|添加|加上|创建|安排|翻译|总结"
    r"|概括|读(?:一下|给)|解释|计算|算一下|买|付|回复|转发|设(?:置|定|个|一个)|讲个|讲一个|忘记|忘掉|忘了|列出|比较|推荐|建议)"
    r"|给\S{1,12}?(?:发|写|打电话)|把\S+?(?:改|移|删|发|翻译|加|放|换|设|取消)"
    r"|(?:\S{0,8}(?:早上|下午|晚上|中午|今天|明天|后天|点|分钟后))(?:帮我|给\S{1,8}发|打电话给|提醒我|叫醒我)"
    r"|我(?:想|要|需要|希望)(?:让|请)?你|我(?:想|要)(?:订|预订|预约|查|买一?张)"
)
_FOREIGN = re.compile(
    rf"(?:{_GERMAN},?|{_SPANISH}|{_FRENCH}|{_PORTUGUESE})\s+\S"
    r"|(?:ich (?:möchte|will|brauche|hätte gern[e]?)|ich wünsche mir),? dass (?:du|sie)\b"
    r"|(?:quiero|necesito|quisiera|me gustaría) que\b"
    r"|je (?:veux|voudrais|souhaite) (?:que (?:tu|vous)\b|r[ée]server|commander|envoyer)"
    r"|j['’]aimerais que (?:tu|vous)\b"
    r"|(?:quero|preciso|gostaria) (?:de )?que\b",
    re.IGNORECASE,
)
_ENGLISH = re.compile(
    rf"(?:{_ALWAYS_VERB})\s+\S"
    rf"|(?:{_ALSO_NOUN})\s+(?:{_AFTER_VERB}\b|\S+@\S+|\S+\s+{_PREPOSITION}\b)"
    r"|let(?:['’]s|\s+us|\s+me\s+know)\s+\S"
    r"|(?:i|we)(?:['’]d\s+like|\s+would\s+like|\s+want|\s+need)\s+you\s+to\b"
    rf"|(?:i|we)(?:['’]d\s+like|\s+would\s+like)\s+to\s+(?:{_ALSO_NOUN}|{_ALWAYS_VERB})\b",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"\s*[,;:–—]\s*(?:(?:and|as|because|since|but)\s+)?(?=(?:i|we|i['’]m|we['’]re|i['’]ve|my|our)\b)", re.IGNORECASE
)


def requests(sentence: str) -> bool:
    """Return whether a sentence asks for something to be done, and tells nothing that holds for good."""
    if _FOR_GOOD.search(sentence):
        return False
    plain = sentence.strip(" \t\n\"'“”‘’«»()[]*_-–—¡¿")
    polite = _POLITE_END.search(plain)
    plain = plain[: polite.start()] if polite else plain
    if lead := _LEAD.match(plain):
        plain = plain[lead.end() :]
        if _MAY_YOU.search(lead[0]):
            return True
    if _CHINESE.match(plain):
        return True
    return any(pattern.match(plain) for pattern in (_ENGLISH, _FOREIGN)) and not _NOUN_SENTENCE.match(plain)


def without_request(sentence: str) -> str:
    """Return the statement after a request in a sentence: of "Find a table, I eat no meat" the latter part.

    Empty if it only asks; the sentence itself if it only tells.
    """
    if not requests(sentence):
        return sentence
    lead = _LEAD.match(sentence)
    tail = _TAIL.search(sentence)
    if tail is None or _SAYS.match(sentence, lead.end() if lead else 0):
        return ""
    told = sentence[tail.end() :]
    return "" if requests(told) else told
