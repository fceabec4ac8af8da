"""What the demo model understands besides English: a table for each language, of patterns for what people ask.

The groups are those of the English patterns in `english`; `rest` holds words in any order, of which a day or a moment
is found by reading it.
"""

from dataclasses import dataclass

ADDRESS = r"[A-Za-z0-9._+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"
_TO = rf"(?P<to>{ADDRESS})"


@dataclass(frozen=True, slots=True)
class Phrases:
    """How one language asks. `polite` is what a sentence may begin or end with besides."""

    language: str
    words: str
    """Words by which the language is recognised."""
    polite: str
    weather: tuple[str, ...]
    place: str
    """What may stand before the name of a place."""
    remind: tuple[str, ...]
    about: str
    """What may stand before the words of a reminder."""
    remember: str
    known: str
    forget: str
    mail: tuple[str, ...]
    yes: str
    no: str
    edit: tuple[str, ...]
    help: str
    hello: str
    thanks: str
    examples: dict[str, str]
    """What help shows, by tool."""


GERMAN = Phrases(
    language="de",
    words=(
        "ich du mich mir dich dir ist wie was das der und nicht bitte wetter erinnere merk merke vergiss ja nein hallo"
        " danke morgen heute hilfe schick schicke schreib kannst weißt über wird ändere wann wo warum eine ein"
    ),
    polite=r"(?:hallo|hey|bitte|und|dann|jetzt|kannst du|könntest du)[,!]?\s+|,?\s+bitte$",
    weather=(
        r"(?:wie (?:ist|wird) )?(?:(?P<day>(?!das )\w+) )?(?:das )?wetter(?P<rest>.*)",
        r"(?:regnet es|wird es regnen|schneit es)(?P<rest>.*)",
    ),
    place=r"(?:in|für|bei|am|auf)\s",
    remind=(r"erinner[e]? mich(?: bitte)? (?P<rest>.+)",),
    about=r"(?:daran,? dass|daran|dass|an)\b|:|,",
    remember=r"(?:merk[e]? dir|vergiss nicht|erinnere dich)(?:,? dass|,|:)? (?P<statement>.+)",
    known=r"was (?:weißt|merkst) du (?:alles )?(?:dir )?über mich|was hast du dir (?:über mich )?gemerkt",
    forget=r"vergiss(?:,? dass| alles über|,? was ich (?:über|von))? (?!es$|das$)(?P<what>.+)",
    mail=(
        rf"(?:schick|send|schreib|mail)[e]? (?:eine )?(?:e-?mail |mail |nachricht )?an {_TO}"
        r"(?: (?:über|wegen) (?P<subject>[^:]+?))?(?:,? (?:dass|mit dem text)|:) (?P<body>.+)",
    ),
    yes=r"ja(?: bitte| gern[e]?| klar)?|klar|jawohl|mach das|mach es|einverstanden|genau",
    no=r"nein(?:,? danke)?|lieber nicht|lass (?:es|das)|vergiss (?:es|das)|abbrechen",
    edit=(r"(?:änder[e]?|setz[e]?|mach) (?:den |die |das )?(?P<field>[^:]+?)(?: auf| zu| in|:) (?P<value>.+)",),
    help=r"hilfe|was kannst du(?: alles)?(?: tun| machen)?|wer bist du|was bist du",
    hello=r"hallo|guten (?:tag|morgen|abend)|moin|servus|grüß dich",
    thanks=r"danke(?: schön| dir| sehr)?|vielen dank",
    examples={
        "get_weather": "Wetter morgen in Berlin",
        "remind_me": "erinnere mich in 5 Minuten an den Tee",
        "remember": "merk dir, dass ich keine Nüsse vertrage",
        "list_memories": "was weißt du über mich?",
        "ask_to_forget": "vergiss, dass ich keine Nüsse vertrage",
        "SendEmailAgent": "schreib eine E-Mail an sam@example.com: Ich komme später",
    },
)
SPANISH = Phrases(
    language="es",
    words=(
        "qué cómo está hola gracias recuérdame recuerdame recuerda olvida mañana hoy sí favor envía manda ayuda"
        " sabes mí el los una y es cambia cuándo dónde puedes eres quién vale tengo que tiempo"
    ),
    polite=r"(?:hola|oye|por favor|y|ahora|puedes|podrías)[,!]?\s+|,?\s+por favor$",
    weather=(
        r"(?:(?:qué|que|cómo|como|cuál) (?:está |es |será |estará |va a hacer |va a estar )?)?(?:el )?(?:tiempo|clima)"
        r"(?: (?:que hace|hace|hará|va a hacer))?(?P<rest>.*)",
        r"(?:llueve|lloverá|va a llover|nieva)(?P<rest>.*)",
    ),
    place=r"(?:en|para|de|a)\s",
    remind=(r"recu[ée]rdame (?P<rest>.+)",),
    about=r"(?:de que|que|lo de|de)\b|:|,",
    remember=r"(?:recuerda|acu[ée]rdate|no olvides)(?: de)?(?: que|:)? (?P<statement>.+)",
    known=r"(?:qué|que) sabes (?:de|sobre) mí|(?:qué|que) recuerdas(?: de| sobre)?(?: mí)?",
    forget=r"olvida(?: que| lo de| todo sobre)? (?P<what>.+)",
    mail=(
        rf"(?:env[ií]a|manda|escribe)(?:le)? (?:un )?(?:correo |e-?mail |mensaje )?a {_TO}"
        r"(?: sobre (?P<subject>[^:]+?))?(?:,? (?:que diga(?: que)?|diciendo(?: que)?|que)|:) (?P<body>.+)",
    ),
    yes=r"s[ií]|claro(?: que sí)?|vale|de acuerdo|hazlo|adelante",
    no=r"no(?:,? gracias)?|mejor no|déjalo|olvídalo|cancela(?:lo)?",
    edit=(r"(?:cambia|pon) (?:el |la |los |las )?(?P<field>[^:]+?)(?: a| por| como|:) (?P<value>.+)",),
    help=r"ayuda|qué (?:puedes|sabes) hacer|quién eres|qué eres",
    hello=r"hola|buen(?:os|as) (?:días|tardes|noches)",
    thanks=r"(?:muchas )?gracias",
    examples={
        "get_weather": "el tiempo mañana en Madrid",
        "remind_me": "recuérdame en 5 minutos llamar a mamá",
        "remember": "recuerda que no como nueces",
        "list_memories": "¿qué sabes de mí?",
        "ask_to_forget": "olvida que no como nueces",
        "SendEmailAgent": "envía un correo a sam@example.com: llego tarde",
    },
)
FRENCH = Phrases(
    language="fr",
    words=(
        "dans rappelle-moi le les est quel quelle je tu vous bonjour bonsoir merci oui non rappelle rappelez souviens"
        " retiens oublie temps météo demain aujourd'hui envoie envoyez aide moi et que sais savez qui pouvez peux"
        " salut plaît"
    ),
    polite=r"(?:bonjour|salut|et|maintenant|peux-tu|pouvez-vous|s'il (?:te|vous) plaît)[,!]?\s+"
    r"|,?\s+s'il (?:te|vous) plaît$",
    weather=(
        r"(?:(?:quel(?:le)?|comment) (?:est |sera )?)?(?:le |la )?(?:temps|météo)"
        r"(?: (?:fait-il|fera-t-il|qu'il fait))?(?P<rest>.*)",
        r"(?:pleut-il|va-t-il pleuvoir|il pleut|il va pleuvoir)(?P<rest>.*)",
    ),
    place=r"(?:à|a|en|pour|de|au|sur)\s",
    remind=(r"rappelle(?:z)?-?\s?moi (?P<rest>.+)",),
    about=r"(?:de|que)\b|d'|qu'|:|,",
    remember=r"(?:souviens-toi|souvenez-vous|rappelle-toi|retiens|retenez|n'oublie[zs]? pas)"
    r"(?: que| :|:)? (?:qu')?(?P<statement>.+)",
    known=r"(?:que (?:sais-tu|savez-vous)|qu'est-ce que (?:tu sais|vous savez)) (?:de|sur) moi",
    forget=r"oublie[sz]?(?: que| tout sur)? (?:qu')?(?P<what>.+)",
    mail=(
        rf"(?:envoie|envoyez|écris|écrivez) (?:un )?(?:e-?mail |mail |courriel |message )?à {_TO}"
        r"(?: au sujet de (?P<subject>[^:]+?))?(?:,? (?:disant que|pour dire que|que)| ?:) (?P<body>.+)",
    ),
    yes=r"oui|d'accord|vas-y|allez-y|bien sûr",
    no=r"non(?:,? merci)?|laisse(?:z)? tomber|annule(?:z)?",
    edit=(r"(?:change|mets|mettez)(?:z)? (?:le |la |les |l')?(?P<field>[^:]+?)(?: en| à| par| ?:) (?P<value>.+)",),
    help=r"aide|(?:que|qu'est-ce que) (?:sais-tu faire|peux-tu faire|tu sais faire|vous savez faire)"
    r"|qui (?:es-tu|êtes-vous)|que (?:pouvez|savez)-vous faire",
    hello=r"bonjour|bonsoir|salut",
    thanks=r"merci(?: beaucoup| bien)?",
    examples={
        "get_weather": "la météo demain à Paris",
        "remind_me": "rappelle-moi dans 5 minutes d'appeler maman",
        "remember": "retiens que je ne mange pas de noix",
        "list_memories": "que savez-vous de moi ?",
        "ask_to_forget": "oublie que je ne mange pas de noix",
        "SendEmailAgent": "envoie un e-mail à sam@example.com : je serai en retard",
    },
)
PORTUGUESE = Phrases(
    language="pt",
    words=(
        "olá obrigado obrigada lembra-me lembre-me lembra lembre esqueça esquece amanhã hoje sim não envia envie ajuda"
        " sabe sabes mim eu você uma o os é bom boa dia muda mude quem pode podes fazer que tempo memorize sobre"
    ),
    polite=r"(?:olá|e|agora|por favor|pode|podes|poderia)[,!]?\s+|,?\s+por favor$",
    weather=(
        r"(?:(?:como|que|qual) (?:está |é |estará |vai estar )?)?(?:o |a )?(?:tempo|meteorologia|previsão"
        r"(?: do tempo)?)(?: (?:faz|fará|vai fazer))?(?P<rest>.*)",
        r"(?:chove|está a chover|vai chover)(?P<rest>.*)",
    ),
    place=r"(?:em|no|na|para|de|do|da)\s",
    remind=(r"lembr[ae]-?\s?me (?P<rest>.+)", r"me lembr[ae] (?P<rest>.+)"),
    about=r"(?:de que|que|de|para)\b|:|,",
    remember=r"(?:lembra-te|lembre-se|memoriz[ae]|não (?:te |se )?esqueç[a]s?)(?: de)?(?: que|:)? (?P<statement>.+)",
    known=r"(?:o )?que (?:sabes|sabe) (?:de|sobre) mim",
    forget=r"esque(?:ce|ça)(?:-te|-se)?(?: de)?(?: que| tudo sobre)? (?P<what>.+)",
    mail=(
        rf"(?:envi[ae]|mand[ae]|escrev[ae]) (?:um |uma )?(?:e-?mail |mensagem |correio )?(?:a|para) {_TO}"
        r"(?: sobre (?P<subject>[^:]+?))?(?:,? (?:a dizer(?: que)?|dizendo(?: que)?|que)|:) (?P<body>.+)",
    ),
    yes=r"sim(?:,? por favor)?|claro(?: que sim)?|está bem|pode ser|avance",
    no=r"não(?:,? obrigad[oa])?|deix[ae](?: estar)?|cancel[ae]",
    edit=(r"(?:mud[ae]|alter[ae]) (?:o |a |os |as )?(?P<field>[^:]+?)(?: para|:) (?P<value>.+)",),
    help=r"ajuda|(?:o )?que (?:podes|pode|sabes|sabe) fazer|quem (?:és|é)(?: tu| você)?",
    hello=r"olá|bo[am] (?:dia|tarde|noite)",
    thanks=r"(?:muito )?obrigad[oa]",
    examples={
        "get_weather": "o tempo amanhã em Lisboa",
        "remind_me": "lembre-me daqui a 5 minutos de ligar à mãe",
        "remember": "memorize que não como nozes",
        "list_memories": "o que sabe sobre mim?",
        "ask_to_forget": "esqueça que não como nozes",
        "SendEmailAgent": "envie um e-mail para sam@example.com: chego tarde",
    },
)
CHINESE = Phrases(
    language="zh",
    words="",
    polite=r"(?:请|麻烦你?|帮我|你好[,，]?|能不能|可以)",
    weather=(
        r"(?P<rest>.+?)的?(?:天气|气温)(?:预报|怎么样|如何|好吗)?(?:呢)?",
        r"(?:天气|气温)(?:预报|怎么样|如何)?(?P<rest>.*)",
        r"(?P<rest>.+?)(?:会)?下雨吗",
    ),
    place=r"在",
    remind=(r"提醒我(?P<rest>.+)", r"(?P<rest>.+?提醒我.+)"),
    about=r"提醒我|要|去|[:：,，]",
    remember=r"(?:记住|记一下|记得)[:：,，]?(?P<statement>.+)",
    known=r"你(?:都)?(?:知道|了解|记得)(?:关于)?我(?:的)?(?:些)?(?:什么|哪些事)|关于我你(?:都)?知道(?:些)?什么",
    forget=r"(?:忘记|忘掉|忘了)[:：,，]?(?P<what>.+)",
    mail=(
        rf"(?:给|向)\s?{_TO}\s?(?:发|写)(?:一?封)?(?:邮件|电子邮件|信)?(?:说)?[:：,，]?(?:说)?\s?(?P<body>.+)",
        rf"(?:发|写)(?:一?封)?(?:邮件|电子邮件|信)给\s?{_TO}\s?[:：,，]?(?:说)?[:：,，]?\s?(?P<body>.+)",
    ),
    yes=r"是的?|好的?|可以|行|对|没问题|确认|同意",
    no=r"不(?:用|要|行|了)?(?:，?谢谢)?|算了|取消|别",
    edit=(r"把?(?P<field>\w+?)(?:改成|改为|换成)(?P<value>.+)",),
    help=r"帮助|你(?:会|能)(?:做)?(?:些)?什么|你是谁",
    hello=r"你好|您好|嗨|早上好|下午好|晚上好",
    thanks=r"谢谢你?|多谢",
    examples={
        "get_weather": "明天北京天气怎么样",
        "remind_me": "提醒我5分钟后喝茶",
        "remember": "记住我不吃坚果",
        "list_memories": "你知道我什么",
        "ask_to_forget": "忘记我不吃坚果",
        "SendEmailAgent": "给 sam@example.com 发邮件说我晚点到",
    },
)
TABLES = (SPANISH, GERMAN, FRENCH, PORTUGUESE, CHINESE)
