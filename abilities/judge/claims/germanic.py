"""English and German."""

from abilities.judge.claims.languages import Form, Language, Verbs

_EN = Verbs(
    "sent emailed e-mailed mailed texted messaged forwarded notified invited booked reserved purchased bought paid "
    "transferred refunded submitted phoned contacted accepted declined cancelled canceled deleted scheduled "
    "rescheduled rebooked unsubscribed archived wired extended renewed blocked unblocked reordered donated invoiced",
    "set added created made put moved changed updated removed saved stored shared posted published uploaded "
    "started stopped paused resumed renamed confirmed registered enrolled subscribed marked ticked cleared "
    "called informed alerted asked ordered placed replied responded answered told filed logged recorded enabled "
    "disabled activated deactivated locked unlocked adjusted closed opened connected disconnected muted raised "
    "lowered erased dimmed pushed postponed delayed brought tipped signed checked printed copied restored synced "
    "labelled starred flagged pinned installed upgraded downgraded played terminated redeemed returned exchanged "
    "arranged organised organized",
)
_I = r"\bI(?:['’]ve|\s+have)?\s+" + "<adverbs>"
_NO_CLAUSE = r"(?:(?!\b(?:that|who|how|if)\b)[^.!?;\n])"

ENGLISH = Language(
    adverbs=r"(?:(?:just|already|also|now|then|successfully|gladly|quickly|finally|all|been|officially|gone\s+ahead\s+"
    r"and|went\s+ahead\s+and)\s+){0,3}",
    forms=(
        Form(_I + r"(?P<did><verb>)\b", _EN),
        Form(_I + r"(?P<did><verb>)\s+(?!you\b|me\b|us\b)[^.,;!?\n]{1,40}?\s+know\b", Verbs("let")),
        Form(_I + r"(?P<did><verb>)\s+(?:[^.,;!?\n]{1,30}\s+)?(?:on|off)\b", Verbs("turned switched")),
        Form(_I + rf"[a-z]+(?:ed|t|ght|d)\b{_NO_CLAUSE}{{0,90}}?\band\s+<adverbs>(?P<did><verb>)\b", _EN),
        Form(
            r"(?:\b(?:is|are|was|were|(?:has|have)\s+been)|['’]s|['’]ve\s+been)\s+<adverbs>(?P<did><verb>)\b",
            Verbs(_EN.strong, f"{_EN.weak} gone"),
            passive=True,
        ),
        Form(r"^(?P<did><verb>)(?=\s*(?:[.!:,✅–—-]|$))", _EN),
        Form(r"^<adverbs>(?!set\b|put\b|let\b)(?P<did><verb>)\s+(?!by\b|in\b|as\b|if\b)\S", _EN, passive=True),
        Form(r"^consider\s+(?:it|that|this)\s+(?P<did><verb>)\b", _EN, passive=True),
        Form(
            r"^(?:(?:ok|okay|sure|great|perfect|alright)\W+)?(?:(?!(?:i|you|he|she|they|we|it|who|be|is|are|was|were"
            r"|been|has|have|had|not|never|nothing|none|no|neither|nobody|if|when|once|after|will|can|to|that)\b)"
            r"[\w'’.-]+\s+){1,4}?<adverbs>(?P<did><verb>)(?=\s+(?:for|to|on|at|in|from|with)\b|\s*[.!:,–—-]|\s*$)",
            _EN,
            passive=True,
        ),
        Form(
            r"\bI\s+(?:was\s+able|managed)\s+to\s+(?P<did><verb>)\b",
            Verbs(
                "send email text message forward notify invite book reserve purchase buy pay transfer refund submit "
                "cancel delete schedule reschedule archive get",
                "set add create move change update remove save confirm order",
            ),
        ),
        Form(
            r"\byour\s+(?:calendar|shopping\s+list|list|agenda)\s+(?P<did><verb>)\s+(?:has|shows|includes|contains)\b",
            Verbs("", "now"),
            passive=True,
        ),
        Form(r"\b(?:is|are)\s+(?P<did><verb>)\s+(?:on|in)\s+your\s+\w+", Verbs("", "now"), passive=True),
    ),
    done=r"^(?:(?:ok|okay|sure|great|alright)\W+)?(?:all\s+)?(?:done|sorted|taken\s+care\s+of|(?:it|that)['’]s\s+done|"
    r"(?:you['’]re\s+)?all\s+set|consider\s+it\s+done)\b",
    outward=r"sent|e-?mailed|mailed|texted|messaged|forwarded|notified|invited|booked|reserved|ordered|purchased|bought"
    r"|paid|transferred|refunded|told|let|replied|responded|answered|posted|published|submitted|called|phoned"
    r"|informed|contacted|alerted|asked|placed|wired|donated|tipped|shared|accepted|declined|send|email|text|message|forward|notify|invite"
    r"|book|reserve|purchase|buy|pay|transfer|refund|submit|order",
    to_the_reader=r"\b(?:above|below|here)\b"
    r"|\b(?:sent|shared|forwarded|told|informed|notified|answered|asked)\s+(?:it\s+|them\s+)?(?:to\s+)?you\b"
    r"(?!.*\b(?:e-?mail|mail|text|sms|invit\w+)\b)"
    r"|\bset\s+(?:out|forth|down|aside)\b|\bordered\s+(?:by|from|alphabetically|them)\b",
    barred=r"\b(?:once|when|whenever|after|if|as\s+soon\s+as|until|unless|before|whether|in\s+case|says?|said|wrote"
    r"|writes|according)\b|\b(?:that|which|who|will|would|should|could|can|may|might|must|to|not|never|than)"
    r"\s*$|n['’]t\s*$|^\W*(?:nothing|none|no|neither|nobody)\b",
    things=r"\b(?:reminders?|alarms?|timers?|calendar|events?|meetings?|appointments?|tasks?|shopping\s+list|to-?do"
    r"|contacts?|bookings?|reservations?|subscriptions?|payments?|thermostat|heating|lights?|lamps?|invitations?|orders?|refunds?|tickets?|cards?|doors?|music|music|volume"
    r"|folders?|files|attachments?|receipts?|notes?|address\s+book|your\s+(?:\w+\s+)?list)\b",
    texts=r"\b(?:drafts?|texts?|paragraphs?|sentences?|wording|tone|title|versions?|lines?|summary|poem|essay|greeting"
    r"|sections?|headings?|intro\w*|bullets?|typos?|words?|translation|code|function|verses?|ending|story|letter"
    r"|recipe|phrases?)\b",
    past=r"\b(?:yesterday|last\s+(?:night|week|month|year|time|\w+day)|earlier|ago|previously|this\s+morning"
    r"|on\s+\w+day)\b",
    asks=r"(?:(?:e-?)?mail|text|message|send|forward|reply|respond|answer|write\s+to|tell(?!\s+me)|let|notify|inform|invite"
    r"|call|book|reserve|order|buy|purchase|get\s+me|pay|transfer|cancel|delete|remove|erase|clear|add|put|set|create"
    r"|make\s+an?\s+(?:reminder|appointment|reservation|booking|note|list|event)|schedule|reschedule|move|postpone"
    r"|change|rename|update|save|store|remind|wake|turn|switch|start|stop|pause|resume|unsubscribe|subscribe|sign"
    r"|register|confirm|accept|decline|archive|mark|tick|lock|unlock|dim|renew|block|arrange|rsvp|ping|get\s+rid|sort\s+out|take\s+care|shoot|drop|log|note|wire|push|extend|rebook|place|dim|raise|lower|open|close|play|print|sign|file|share|post|upload|submit)\b",
    begins=r"^\W*(?:(?:hi|hey|ok|okay|so|now|please|pls|just|then|also|and|great)\W+)*|\b(?:please|pls|and|then|also|you\s+to"
    r"|(?:want|need|like)\s+to)\s+|[,.;:!]\s+(?:please\s+)?",
    polite=r"\b(?:can|could|would|will)\s+you\s+(?:please\s+|also\s+|just\s+)*",
    inquires=r"^\W*(?:(?:so|and|hey|ok|please)\W+)*(?:who|what|when|where|why|which|how|did|do|does|have|has|had|is|are"
    r"|was|were|am|find\s+out|look\s+up|check|see|tell\s+me|show|list|read|summari[sz]e|translate|explain|search)\b",
    agrees=r"^\W*(?:yes|yep|yeah|ok|okay|sure|go\s+ahead|do\s+it|please\s+do|sounds\s+good)\b",
)

_DE = Verbs(
    "geschickt abgeschickt verschickt gesendet versendet abgesendet zugesandt gemailt weitergeleitet "
    "benachrichtigt eingeladen gebucht umgebucht reserviert bestellt abbestellt gekauft bezahlt überwiesen "
    "storniert abgesagt gekündigt gelöscht archiviert eingeschaltet ausgeschaltet angeschaltet abgeschaltet "
    "verlängert gesperrt entsperrt ausgeladen nachbestellt zurückgebucht gespendet",
    "geschrieben geantwortet beantwortet informiert mitgeteilt gesagt angerufen gestellt eingestellt gesetzt "
    "eingetragen hinzugefügt angelegt erstellt notiert gespeichert abgelegt verschoben verlegt geändert "
    "aktualisiert umbenannt entfernt gestrichen gestartet gestoppt pausiert bestätigt zugesagt vereinbart "
    "abgehakt aktiviert deaktiviert eingerichtet geteilt veröffentlicht hochgeladen eingereicht angenommen "
    "abgelehnt geplant gefragt nachgefragt angefragt angesetzt angemeldet abgemeldet eingeplant umgestellt "
    "vorgemerkt markiert abonniert unterschrieben heruntergefahren geöffnet geschlossen gedimmt gedreht "
    "angemacht ausgemacht hochgedreht runtergedreht",
)
_DE_GAP = r"(?:(?!\b(?:nicht|kein\w*|nie\w*|dass|ob|weil|wenn|wie)\b)[^.!?;:\n])"

GERMAN = Language(
    adverbs="",
    forms=(
        Form(rf"\b(?:ich\s+habe?|habe?\s+ich|hab['’]\s*ich)\b{_DE_GAP}{{1,90}}?\b(?P<did><verb>)\b", _DE),
        Form(
            rf"\b(?:ich\s+habe?|habe?\s+ich)\b{_DE_GAP}{{1,90}}?\bund\b{_DE_GAP}{{1,60}}?\b(?P<did><verb>)\b",
            _DE,
        ),
        Form(rf"\b(?:wurden?|ist|sind)\b{_DE_GAP}{{1,60}}?\b(?P<did><verb>)\b", _DE, passive=True),
        Form(r"^(?P<did><verb>)(?=\s*(?:[.!:,✅–—-]|$))", _DE),
        Form(
            r"^(?:(?:ok|klar|gut|super|perfekt)\W+)?(?:(?!(?:ich|du|sie|er|es|wir|hast|hat|habe|haben|ist"
            r"|sind|wird|wurden?|werden|nichts|nicht|kein\w*|niemand|wenn|falls|sobald|dass)\b)[\w'’.-]+\s+){1,4}?"
            r"(?P<did><verb>)(?=\s+(?:für|auf|an|am|um|zu|bei|im|in)\b|\s*[.!:,–—-]|\s*$)",
            _DE,
            passive=True,
        ),
        Form(
            rf"\bich\s+konnte\b{_DE_GAP}{{1,80}}?\b(?P<did><verb>)\b",
            Verbs("schicken senden buchen reservieren bestellen kaufen bezahlen stornieren absagen löschen kündigen"),
        ),
    ),
    done=r"^(?:(?:ok|klar|gut|gern|alles\s+klar)\W+)?(?:erledigt|gemacht|alles\s+erledigt|ist\s+erledigt|schon\s+passiert)\b",
    outward=r"(?:ab|ver)?geschickt|(?:ver|ab)?gesendet|zugesandt|gemailt|weitergeleitet|benachrichtigt|eingeladen"
    r"|(?:um)?gebucht|reserviert|bestellt|gekauft|bezahlt|überwiesen|geschrieben|geantwortet|beantwortet|informiert"
    r"|mitgeteilt|gesagt|angerufen|gefragt|nachgefragt|angefragt|zugesagt|abgesagt|geteilt|veröffentlicht|eingereicht",
    to_the_reader=r"\b(?:oben|unten|hier)\b|\b(?:dir|ihnen|euch)\b(?!.*\b(?:e-?mail|mail|sms|einladung\w*)\b).*"
    r"\b(?:geschickt|gesendet|zugesandt|geschrieben|geteilt|mitgeteilt|gesagt|geantwortet|beantwortet)\b"
    r"|\b(?:dich|sie|euch)\b.*\bgefragt\b",
    barred=r"\b(?:sobald|wenn|falls|nachdem|bevor|bis|ob|schreibt|schrieb|sagt|sagte|laut|dass)\b|\bnicht\s*$"
    r"|^\W*(?:nichts|kein\w*|niemand)\b",
    things=r"erinnerung|wecker|alarm|timer|kalender|termin|treffen|meeting|aufgabe|einkaufsliste|kontakt|buchung"
    r"|reservierung|\babo\b|zahlung|heizung|\blicht\b|lampe|einladung|ordner|dateien|anhang|notiz|\bliste\b|bestellung|karte|\btür|musik|antwort",
    texts=r"entwurf|\btexte?s?\b|absatz|absätze|\bs[aä]tze?\b|formulierung|\bton\b|titel|version|zeile|zusammenfassung"
    r"|gedicht|anrede|abschnitt|überschrift|schluss|einleitung|w[oö]rter|übersetzung|\bbrief|\bcode\b",
    past=r"\b(?:gestern|vorgestern|letzte\w*|vorhin|vor\s+\w+\s+\w+|heute\s+(?:morgen|früh)|am\s+\w+tag)\b",
    asks=r"(?:schick|send|schreib|sag|leit|antwort|buch|reservier|bestell|kauf|bezahl|zahl|überweis|storn|kündig|lösch"
    r"|entfern|füg|trag|eintrag|setz|stell|einstell|erstell|leg|anleg|verschieb|verleg|änder|speicher|erinner|weck"
    r"|schalt|einschalt|ausschalt|anschalt|mach\b.*\b(?:an|aus)\b|dreh|start|stopp|pausier|meld|lad|einlad|verläng"
    r"|vereinbar|bestätig|benachrichtig|informier|ruf|anruf|teil|archivier|aktivier|deaktivier|richt|plan|absag|hak|frag(?!e)|nimm|sperr|öffne|schließ|dimm|merk"
    r"|benenn|streich|hinzufüg|weiterleit)\w*",
    begins=r"^\W*(?:(?:bitte|hallo|hey|ok|und|dann|jetzt)\W+)*|\b(?:bitte|und|dann)\s+|[,.;:!]\s+",
    polite=r"\b(?:kannst|könntest|würdest|magst|können\s+sie|könnten\s+sie)\b(?:\s+[^\s,]+){0,8}?\s+",
    inquires=r"^\W*(?:(?:und|hey|ok|bitte)\W+)*(?:wer|was|wann|wo|warum|wieso|wie|welche\w*|hast|habe|hat|haben|ist|sind"
    r"|war|wurde|gibt|zeig\w*|lies|fass|übersetz\w*|such\w*|finde|prüf\w*|schau\w*|erklär\w*|nenn\w*)\b",
    agrees=r"^\W*(?:ja|jo|okay|ok|gerne?|mach\s+das|klar)\b",
)
