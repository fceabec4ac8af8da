"""The demo model's sentences in German."""

from workbench.demo.phrases.table import TO, Phrases

_MAIL = rf"(?:schick|send|schreib|mail)[e]? (?:eine )?(?:e-?mail |mail |nachricht )?an {TO}"
_FOUND = r"(?:es|das|dies|alles|beides|(?:die|das|den|der) (?:ergebnisse?n?|flüge|wetter|angebote))"
_WHICH = r"(?:die |den |das |meine )?(?P<which>.+?)"

GERMAN = Phrases(
    language="de",
    words=(
        "ich du mich mir dich dir ist wie was das der und nicht bitte wetter erinnere merk merke vergiss ja nein hallo"
        " danke morgen heute hilfe schick schicke schreib kannst weißt über wird ändere wann wo warum eine ein"
        " verbinde meinen kalender mails briefing"
        " notiz notizen notiere flüge flug nach jeden jede um uhr spät steht lösche aufgabe erinnerungen von prozent"
    ),
    polite=r"(?:hallo|hey|bitte|und|dann|jetzt|kannst du|könntest du)[,!]?\s+|,?\s+bitte$",
    also=r"und dann|dann|und",
    calls={
        "ask_person": (r"frag(?:e)? mich (?:et)?was", r"stell(?:e)? mir (?:eine frage|zwei fragen)"),
        "add_note": (
            r"(?:(?:neue |mach eine |schreib(?:e)? eine )?notiz|notier[e]?(?: mir| dir)?|schreib[e]? (?:dir )?auf)"
            r"(?:,? dass |\s*[:,]\s*|\s+)(?P<text>.+)",
        ),
        "export_notes": (
            r"(?:(?:schick[e]?|send[e]?|gib)(?: mir)?(?: bitte)? )?(?:alle )?(?:meine |die )?notizen "
            r"als (?:text)?datei",
            r"exportier[e]? (?:alle )?(?:meine |die )?notizen",
        ),
        "list_notes": (
            r"(?:(?:was sind|zeig[e]?(?: mir)?(?: bitte)?|lies|wie lauten) )?(?:alle )?(?:meine |die )?notizen",
            r"was habe ich (?:mir )?notiert",
        ),
        "forget_note": (
            r"(?:vergiss|lösche?|entferne?) (?:die |meine )?notiz(?: nummer| nr\.?)? ?#?(?P<number>\d{1,9})",
        ),
        "list_tasks": (
            r"was (?:steht (?:bei mir |heute )?an|ist geplant|habe ich (?:alles )?(?:vor|geplant))",
            r"(?:(?:zeige?(?: mir)?(?: bitte)?|was sind) )?(?:alle )?(?:meine |die )(?:aufgaben|erinnerungen|termine)",
        ),
        "undo_last": (r"(?:mach (?:das|es) )?rückgängig|nimm (?:das|es|die erinnerung) zurück",),
        "search_mail": (
            r"(?:(?:habe|hab) ich |gibt es |zeige?(?: mir)? )?(?:meine )?(?P<unread>neue|ungelesene)n? "
            r"(?:e-?mails?|mails?|post)",
            r"was ist in meinem (?:posteingang|postfach)",
            r"(?:zeige?(?: mir)?(?: bitte)? )?(?:meine (?:e-?)?mails?|meinen? posteingang)",
            r"(?:(?:zeig|such|find)e?(?: mir)? )?(?:die |meine )?(?:e-?)?mails? von (?P<sender>.+)",
            r"suche? (?:in )?meinen? (?:e-?)?mails? nach (?P<text>.+)",
        ),
        "list_events": (
            r"was (?:steht|ist) (?:(?P<day>heute|morgen|übermorgen|am [a-z]+tag) )?(?:in meinem|im) kalender",
            r"(?:welche termine|was für termine) habe ich(?: (?P<day>heute|morgen|übermorgen|am [a-z]+tag))?",
            r"(?:zeige?(?: mir)? )?meinen? kalender(?: (?:für |von )?(?P<day>heute|morgen|übermorgen))?",
        ),
        "find_free_time": (r"wann (?:bin|habe) ich (?:(?P<day>heute|morgen|übermorgen|am [a-z]+tag) )?(?:frei|zeit)",),
        "connect_account": (
            r"verbinde? (?:meine?n?|eine?n?) (?:(?P<service>google|microsoft)-?)?"
            r"(?:konto|kalender|postfach|mail-?konto|e-mail-konto|kontakte)",
        ),
        "list_contacts": (r"(?:zeige?(?: mir)? )?meine kontakte|wer ist in meinen kontakten",),
        "find_contacts": (r"(?:wie ist|wie lautet|was ist) die (?:nummer|telefonnummer|adresse) von (?P<name>.+)",),
        "MessageSomeoneAgent": (
            r"schreibe? (?P<to>(?!eine?\b|an\b|mir\b|auf\b|dir\b)[^\d@:,]{1,40}?)(?: per sms)?: (?P<text>.+)",
        ),
        "why_task": (rf"warum (?:lief|kam|läuft|kommt) {_WHICH} (?:nicht|so)",),
        "stop_task": (rf"(?:stopp[e]?|beende|lösch[e]?|streich[e]?) {_WHICH}",),
        "pause_task": (rf"pausier[e]? {_WHICH}", rf"halt[e]? {_WHICH} an"),
        "resume_task": (rf"setz[e]? {_WHICH} fort", rf"mach[e]? mit {_WHICH} weiter"),
        "search_messages": (
            r"(?:(?:finde?|such[e]?|zeig[e]?(?: mir)?),? )?was (?:wir|ich|du) (?:über|zu[mr]?)"
            r" (?:(?:den|die|das|dem|der|einen?|meinen?) )?(?P<words>.+?)"
            r" (?:gesagt|geschrieben|besprochen) (?:haben|habe|hast)",
            r"was (?:haben wir|habe ich|hast du) (?:über|zu[mr]?)"
            r" (?:(?:den|die|das|dem|der|einen?|meinen?) )?(?P<words>.+?) (?:gesagt|geschrieben|besprochen)",
            r"(?:such[e]?|durchsuche?)(?: in)? (?:meinen?|unseren?|die|den|allen?) (?:nachrichten|gesprächen?|chats?)"
            r" nach (?P<words>.+)",
        ),
        "search_memory": (
            r"weißt du(?: noch)?,? (?P<question>.+)",
            r"(?P<question>(?:was|wer|wo|wann|wie) (?:ist|sind|heißt|heißen) mein.+)",
            r"(?P<question>(?:was|wo|wann) \w+ ich .+)",
        ),
    },
    weather=(
        r"(?:wie (?:ist|wird) )?(?:(?P<day>(?!das )\w+) )?(?:das )?wetter(?P<rest>.*)",
        r"(?:regnet es|wird es regnen|schneit es)(?P<rest>.*)",
    ),
    place=r"(?:in|für|bei|am|auf|von)\s",
    time=(
        r"(?:wie spät ist es|wie ?viel uhr ist es|welcher tag ist|welches datum (?:ist|haben wir))"
        r"(?: heute)?(?: (?:jetzt|gerade))?(?: in (?P<place>.+?))?(?: jetzt| gerade)?",
        r"(?:die )?(?:uhrzeit|zeit|datum)(?: in (?P<place>.+))?",
    ),
    sums=r"(?:(?P<ask>was (?:ist|sind|macht|ergibt)|wie ?viel (?:ist|sind|macht)|rechne|berechne) )?(?P<sum>.+?)\s*=?",
    numbers="null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    signs=(
        (r"(?<=\d)\.(?=\d{3}\b)", ""),
        (r"(?<=\d),(?=\d)", "."),
        (r"\s*(?:%|\bprozent\b) von ", " / 100 * "),
        (r"\b(?:die )?(?:quadrat)?wurzel (?:aus|von) (\d[\d.]*)", r"sqrt(\1)"),
        (r"\bgeteilt durch\b|\bdurch\b", "/"),
        (r"\bmal\b", "*"),
        (r"\bhoch\b", "^"),
        (r"\bund\b", "+"),
    ),
    flights=(
        r"(?:(?:such|find|zeig)[e]?(?: mir)? |ich (?:brauche|suche|möchte) )?(?:(?:den|die|einen|ein) )?"
        r"(?:(?:billig|günstig)(?:st)?en? )?fl[uü]ge?(?P<day>(?: (?!von |nach )\S+){0,3}?)"
        r"(?: von (?P<origin>.+?))?(?: nach (?P<destination>.+?))?(?:,? (?:und )?zurück (?P<back>.+))?",
    ),
    remind=(r"erinner[e]? mich(?: bitte)? (?P<rest>.+)",),
    about=r"(?:daran,? dass|daran|dass|an)\b|:|,",
    every=(
        r"(?:jede[nrs]?|immer) (?P<often>[^\W\d_]+),? (?P<rest>.+)",
        r"alle (?P<number>\d{1,4}) (?P<unit>minuten|stunden),? (?P<rest>.+)",
        r"jede (?P<unit>stunde|minute),? (?P<rest>.+)",
    ),
    often={"tag": "*", "werktag": "1-5", "wochentag": "1-5", "morgen": "*", "abend": "*"},
    briefing=r"(?:(?:schick|send|gib|zeig|mach)e? (?:mir )?"
    r"(?:bitte )?)?(?:jetzt )?(?:ein |mein |das )?(?:morgen|tages)?briefing(?: jetzt)?",
    hour="stunde",
    remember=r"(?:merk[e]? dir|merken sie sich|vergiss nicht|erinnere dich)"
    r"(?:,? dass (?P<clause>.+)|(?:,|:)? (?P<statement>.+))",
    known=r"was (?:weißt|merkst) du (?:alles )?(?:dir )?über mich|was hast du dir (?:über mich )?gemerkt",
    forget=r"vergiss(?:,? dass| alles über|,? was ich (?:über|von))? (?!es$|das$)(?P<what>.+)",
    mail=(
        rf"{_MAIL}(?: (?:über|wegen) (?P<subject>[^:]+?))?"
        r"(?:,? dass (?P<clause>.+)|(?:,? mit dem text|:) (?P<body>.+))",
    ),
    whole="Ich wollte sagen, dass {clause}",
    results=(
        rf"{_MAIL}(?: mit {_FOUND}(?: und {_FOUND})?)?",
        rf"(?:schick|send|mail)[e]? (?:mir )?{_FOUND}(?: per e-?mail)? an {TO}",
    ),
    yes=r"ja(?: bitte| gern[e]?| klar)?|klar|jawohl|mach das|mach es|einverstanden|genau",
    no=r"nein(?:,? danke)?|lieber nicht|lass (?:es|das)|vergiss (?:es|das)|abbrechen",
    edit=(r"(?:änder[e]?|setz[e]?|mach) (?:den |die |das )?(?P<field>[^:]+?)(?: auf| zu| in|:) (?P<value>.+)",),
    make=r"mach (?P<value>.+) daraus",
    help=r"hilfe|was kannst du(?: alles)?(?: tun| machen)?|wer bist du|was bist du",
    hello=r"hallo|guten (?:tag|morgen|abend)|moin|servus|grüß dich",
    thanks=r"(?:vielen |herzlichen )?dank(?:e)?(?: schön| dir| sehr)?",
    bye=r"tschüss|auf wiedersehen|bis (?:bald|später|morgen)|gute nacht",
    examples={
        "current_time": "wie spät ist es in Tokio?",
        "calculate": "was ist 3 Prozent von 80?",
        "add_note": "Notiz: Milch kaufen",
        "list_notes": "zeig mir meine Notizen",
        "forget_note": "lösche Notiz 1",
        "get_weather": "Wetter morgen in Berlin",
        "FlightSearchAgent": "Flüge von Berlin nach Rom am Freitag",
        "SendEmailAgent": "schreib eine E-Mail an sam@example.com: Ich komme später",
        "remind_me": "erinnere mich in 5 Minuten an den Tee",
        "ScheduleTask": "jeden Werktag um 8 meine Notizen",
        "list_tasks": "was steht an?",
        "search_mail": "habe ich neue Mails?",
        "list_events": "was steht morgen im Kalender?",
        "set_briefing": "jeden Morgen um 7 schick mir ein Briefing",
        "connect_account": "verbinde meinen Kalender",
        "remember": "merk dir, dass ich keine Nüsse vertrage",
        "list_memories": "was weißt du über mich?",
        "ask_to_forget": "vergiss, dass ich keine Nüsse vertrage",
    },
)
