"""Lines that mail programs put above quoted or forwarded text, in the languages of their users; pure.

A mark counts by its form, not by its language: a line that names an address and a moment and ends with a colon, or the
names of headers in a block with a moment. A person's own sentence has neither, so it is never taken for a mark.
"""

import re
from collections.abc import Sequence

ATTRIBUTION_LINES, _ATTRIBUTION_LENGTH = 4, 400
"""Programs break the line above a quote, such as "On Mon, Nov 23, 2026 at 9:00 AM Ann <ann@example.org> wrote:"."""
_WIDTH = 60
"""Characters at which the shortest lines of programs end."""
_BLOCK_LINES = 14
_ADDRESS = re.compile(r"[^\s<>(),;:\"'@]{1,64}@[^\s<>(),;:\"'@]{1,255}\.[^\s<>(),;:\"'@\[\]]{2,63}")
_CLOCK = re.compile(r"(?<!\d)\d{1,2}\s?[:.h时時點点]\s?\d{2}(?!\d)|(?<!\d)\d{1,2}\s?(?:[AaPp]\.?[Mm]\b|시)")
_DATE = re.compile(
    r"(?<!\d)(?:19|20|25)\d\d(?!\d)|(?<!\d)\d{1,2}([./-])\d{1,2}\1\d{2,4}(?!\d)"
    r"|(?<!\d)\d{4}([./-])\d{1,2}\2\d{1,2}(?!\d)"
)
_YEAR = re.compile(r"(?<!\d)(?:19|20|25)\d\d(?!\d)")
_DAY = re.compile(r"(?<![\d:.])\d{1,2}(?![\d:])")
_BEGINS = re.compile(
    r"(?:On|At|Am|Le|El|Em|A|Il(?: giorno)?|Op|Den|Dnia|W dniu|Dne|Στις|Vào|Ngày|Pada|在|于)\b.{0,200}\d",
    re.IGNORECASE,
)
_WROTE = re.compile(
    r"(?:wrote|writes|said|schrieb|geschrieben|a écrit|escribió|escreveu|ha scritto|schreef|skrev|kirjoitti|ezt írta"
    r"|napisał(?:\(a\))?|pisze|napsal(?:\(a\))?|написал(?:\(а\))?|пишет|написав|пише|yazdı|έγραψε|đã viết|menulis"
    r"|写道|寫道|のメール|님이 작성)"
)
_SENTENCE_END = re.compile(r"(?:[?!]|\d\.)$")
"""No full stop after letters: "a.m." and "Nov." occur in the middle of an attribution."""
_VERB_IN_MIDDLE = re.compile(r"\b(?:schrieb|schreef|skrev)\b")
_ZOHO = re.compile(r"-{3,} ?[^-].{10,300}\S ?-{3,}")

_SENDER = (
    r"From|Von|De|Da|Van|Od|От|От кого|Från|Fra|Lähettäjä|Feladó|Kimden|Gönderen|Από|מאת|من|Від|De la|Expéditeur"
    r"|Remitente|Remetente|发件人|發件人|寄件者|寄件人|差出人|送信者|보낸 ?사람"
)
_MOMENT = (
    r"Sent|Date|Gesendet|Datum|Envoyé(?: le)?|Enviado(?: el| em)?|Enviada(?: em)?|Fecha|Data|Inviato"
    r"|Verzonden|Wysłano"
    r"|Дата|Отправлено|Skickat|Sendt|Dato|Lähetetty|Päivämäärä|Elküldve|Dátum|Gönderildi|Tarih|Odesláno"
    r"|Ημερομηνία|Στάλθηκε|נשלח|التاريخ|تم الإرسال|Надіслано|发送时间|發送時間|日期|寄件日期|送信日時|日時"
    r"|보낸 ?날짜|날짜"
)
_ABOUT = (
    r"Subject|Betreff|Objet|Sujet|Asunto|Assunto|Oggetto|Onderwerp|Temat|Тема|Ämne|Emne|Aihe|Tárgy|Konu|Předmět|Θέμα"
    r"|נושא|الموضوع|主题|主題|主旨|件名|제목"
)
_LABELS = {
    name: re.compile(rf"[*|\s]*(?:{labels})\s?\*?\s?(?:[:：]|\|)\*?\s?(?P<value>.*)", re.IGNORECASE)
    for name, labels in (("sender", _SENDER), ("moment", _MOMENT), ("about", _ABOUT))
}
_ANY_LABEL = re.compile(r"\*?[^\s:：*@\d][^:：*@\d]{0,29}\*?\s?[:：]\*?\s?(?P<value>\S.*)")
_LONGEST_DASHED = 200
_RULE = re.compile(r"[_\u2500\u2501]{10,}")
_DASHED = re.compile(r"[ \t]*[-\u2010-\u2015_*=]{2,}\s*(?P<words>[^\s-].{2,60}?)\s*[-\u2010-\u2015_*=]{2,}")
_ORIGINAL = re.compile(
    r"Original Message|Original-Nachricht|Ursprüngliche (?:Nachricht|E-Mail)|Message d['’]origine|Message original"
    r"|Mensaje original|Mensagem [Oo]riginal|Messaggio originale|Oorspronkelijk bericht|Oryginalna wiadomość"
    r"|Wiadomość oryginalna|Исходное сообщение|Originalmeddelande|Original melding"
    r"|Oprindelig meddelelse|Alkuperäinen viesti|Eredeti üzenet|Orijinal [Mm]esaj|Původní zpráva|Αρχικό μήνυμα"
    r"|原始邮件|原始郵件|原邮件|回复的原邮件|原件|元のメッセージ|원본 메[시세]지|Reply message|Original [Ee]-?mail",
    re.IGNORECASE,
)
_PASSED_ON = re.compile(
    r"Forwarded message"
    r"|Weitergeleitete Nachricht|Message transféré|Mensaje reenviado|Messaggio inoltrato"
    r"|Mensagem (?:encaminhada|reencaminhada)|Doorgestuurd bericht|Przekazana wiadomość|Wiadomość "
    r"przekazana|Пересылаемое сообщение"
    r"|Пересланное сообщение|Vidarebefordrat meddelande|Videresendt (?:melding|meddelelse|besked)|Välitetty viesti"
    r"|Továbbított üzenet|Yönlendirilmiş ileti|İletilen mesaj|Přeposlaná zpráva"
    r"|转发(?:的)?(?:邮件|消息|信息)|轉寄郵件"
    r"|转发邮件信息|転送(?:された)?メッセージ|전달된 메[시세]지",
    re.IGNORECASE,
)
_BEGINS_PASSED_ON = re.compile(
    r"[ \t]*(?:Begin forwarded message|Anfang der weitergeleiteten (?:Nachricht|E-Mail)"
    r"|Début du (?:message|mail|e-mail) (?:transféré|réexpédié)|Inicio del mensaje reenviado"
    r"|Início da mensagem (?:encaminhada|reencaminhada)|Inizio messaggio inoltrato|Begin doorgestuurd bericht"
    r"|Начало переадресованного сообщения|Vidarebefordrat brev|开始转发的邮件|以下是转发的邮件|下面是被转发的邮件"
    r"|転送されたメッセージ|전달된 메시지 시작) ?[:：]",
    re.IGNORECASE,
)


def attribution_ending_at(lines: Sequence[str], end: int, *, quoted_below: bool) -> int:
    """Return the first line of the attribution that ends at `end`; -1 if none does.

    `quoted_below`: the next line is marked as quoted. Otherwise an attribution must contain an address.
    """
    if not lines[end].rstrip().endswith((":", "\uff1a", "----")):
        return -1
    shortest = -1
    for start in range(end, max(-1, end - ATTRIBUTION_LINES), -1):
        line = lines[start].strip()
        if not line or line.startswith(">") or (start < end and not _is_broken(line, lines[start + 1].strip())):
            break
        said = " ".join(part.strip() for part in lines[start : end + 1])
        if len(said) > _ATTRIBUTION_LENGTH:
            break
        if not _is_attribution(said, quoted_below=quoted_below):
            continue
        if _BEGINS.match(line):
            return start
        if shortest < 0:
            shortest = start
    return shortest


def names_address(text: str, address: str) -> bool:
    """Return whether a text contains an address."""
    return address.casefold() in (found[0].casefold() for found in _ADDRESS.finditer(text))


def is_header_block(lines: Sequence[str], at: int) -> bool:
    """Return whether a block of headers begins at a line, as Outlook and others put it above quoted text."""
    if _RULE.fullmatch(lines[at].strip()):
        block = _block(lines, at + 1)
        return _has_headers(block) or _has_any_headers(block)
    return any(_LABELS[name].match(lines[at]) for name in ("sender", "moment")) and _has_headers(_block(lines, at))


def is_original(lines: Sequence[str], at: int) -> bool:
    """Return whether a line says that the original message begins, such as "-----Original Message-----"."""
    words = _words_between_dashes(lines[at])
    if not words or _PASSED_ON.fullmatch(words):
        return False
    if _ORIGINAL.fullmatch(words):
        return True
    # A program writes a rule or such a line, never both: above a rule the line is the person's.
    below = lines[at + 1] if at + 1 < len(lines) else ""
    return bool(below) and not _RULE.fullmatch(below.strip()) and is_header_block(lines, at + 1)


def is_passed_on(line: str) -> bool:
    """Return whether a line says that a message begins which is passed on."""
    return bool(_BEGINS_PASSED_ON.fullmatch(line) or _PASSED_ON.fullmatch(_words_between_dashes(line)))


def _is_attribution(said: str, *, quoted_below: bool) -> bool:
    moment = bool(_DATE.search(said)) + bool(_CLOCK.search(said))
    if said.endswith("----"):
        return bool(_ZOHO.fullmatch(said) and moment and _ADDRESS.search(said))
    if _ADDRESS.search(said):
        return moment > 0
    if not (quoted_below and _has_day(said)):
        return False
    wrote = _WROTE.search(said[-40:]) or _VERB_IN_MIDDLE.search(said)
    return moment == 2 or bool(moment and wrote)


def _is_broken(line: str, following: str) -> bool:
    """Return whether a program broke a line: at its length, or around an address, and never after a sentence."""
    if _SENTENCE_END.search(line) and following[:1].isupper():
        return False
    word = following.partition(" ")[0]
    return (
        len(line) + len(word) >= _WIDTH
        or word.startswith("<")
        or (len(following) < 20 and bool(_WROTE.search(following)))
    )


def _has_day(said: str) -> bool:
    """Return whether a date is complete: a person says "on Monday", or "in 2026"; a program writes the day."""
    found = _DATE.search(said)
    return found is not None and not (_YEAR.fullmatch(found[0]) and not _DAY.search(_CLOCK.sub(" ", said)))


def _words_between_dashes(line: str) -> str:
    found = _DASHED.fullmatch(line) if len(line) < _LONGEST_DASHED else None
    return found["words"].strip() if found else ""


def _block(lines: Sequence[str], at: int) -> list[str]:
    """Return the lines from `at` on that may be a block of headers, without the empty lines between them.

    A line quoted by ">" ends an unquoted block.
    """
    block, quoted = list[str](), any(line.startswith(">") for line in lines[at : at + 1])
    for line in lines[at : at + _BLOCK_LINES]:
        if line and line.startswith(">") is not quoted:
            break
        if line.strip():
            block.append(line)
        elif block and not _ANY_LABEL.match(block[-1]):
            break
    return block


def _has_headers(block: Sequence[str]) -> bool:
    found: dict[str, str] = {}
    for line in block:
        for name, label in _LABELS.items():
            if match := label.match(line):
                if name in found:  # the block begins later: a line of the person's stands above it
                    return False
                found[name] = match["value"].strip()
        if len(found) == len(_LABELS) and (_LABELS["sender"].match(block[0]) or not _ANY_LABEL.match(line)):
            break  # a block that begins with its date may be a person's line above the block itself
    moment = found.get("moment", "")
    return len(found) == len(_LABELS) and bool(found["sender"] and (_DATE.search(moment) or _CLOCK.search(moment)))


def _has_any_headers(block: Sequence[str]) -> bool:
    """Return whether the lines are headers in an unknown language; a rule above them suggests that."""
    labelled = [match["value"] for line in block[:6] if (match := _ANY_LABEL.match(line))]
    return (
        len(labelled) > 2
        and any(_ADDRESS.search(value) for value in labelled)
        and any(_DATE.search(value) and _CLOCK.search(value) for value in labelled)
    )
