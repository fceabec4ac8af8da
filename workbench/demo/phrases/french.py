"""The demo model's sentences in French."""

from workbench.demo.phrases.table import TO, Phrases

_MAIL = rf"(?:envoie|envoyez|écris|écrivez) (?:un )?(?:e-?mail |mail |courriel |message )?à {TO}"
_FOUND = r"(?:ça|cela|tout(?: ça)?|les deux|les résultats|les vols|la météo)"
_WHICH = r"(?:le |la |les |l'|mon |ma )?(?P<which>.+?)"

FRENCH = Phrases(
    language="fr",
    words=(
        "dans rappelle-moi le les est quel quelle je tu vous bonjour bonsoir merci oui non rappelle rappelez souviens"
        " retiens oublie temps météo demain aujourd'hui envoie envoyez aide moi et que sais savez qui pouvez peux"
        " salut plaît heure il combien font pour cent note notes montre montrez mes acheter vols vol de vendredi chaque"
        " connectez mon ai-je nouveaux agenda jour ouvré tâches rappels prévu qu'est-ce efface effacez du"
    ),
    polite=r"(?:bonjour|salut|et|maintenant|peux-tu|pouvez-vous|s'il (?:te|vous) plaît)[,!]?\s+"
    r"|,?\s+s'il (?:te|vous) plaît$",
    also=r"et puis|et ensuite|puis|ensuite|et",
    calls={
        "ask_person": (r"pose[zs]?[- ]moi (?:une question|deux questions)",),
        "add_note": (r"(?:(?:nouvelle |prends |prenez )?note|notez|notes?)(?: que| qu'| ?[:,])? ?(?P<text>.+)",),
        "export_notes": (
            r"(?:(?:envo(?:ie|yez)|donne(?:z)?)(?:-moi)? )?(?:toutes )?(?:mes |les )notes "
            r"(?:dans|sous forme de|en) (?:un )?fichier(?: texte)?",
            r"exporte[sz]? (?:toutes )?(?:mes |les )notes",
        ),
        "list_notes": (
            r"(?:(?:quelles sont|montre(?:z)?(?:-moi)?|lis|lisez) )?(?:toutes )?(?:mes |les )notes",
            r"qu'est-ce que j'ai noté|qu'ai-je noté",
        ),
        "forget_note": (
            r"(?:oublie[sz]?|efface[sz]?|supprime[sz]?) (?:la |ma )?note(?: numéro| n[.º°]*)? ?#?(?P<number>\d{1,9})",
        ),
        "list_tasks": (
            r"qu'est-ce (?:qui est|que j'ai de|qu'il y a de) prévu|qu'ai-je de prévu",
            r"(?:(?:montre(?:z)?(?:-moi)?|quels sont|quelles sont) )?(?:tou(?:te)?s )?(?:mes |les )(?:tâches|rappels)",
        ),
        "undo_last": (r"annule(?:z)? (?:ça|cela|le rappel)|(?:défais|défaites)(?: ça)?",),
        "search_mail": (
            r"(?:ai-je |est-ce que j'ai |y a-t-il )?(?:des |de |mes )?(?P<unread>nouveaux) "
            r"(?:e-?mails|courriels|messages)",
            r"(?:ai-je |est-ce que j'ai )?(?:des |mes )?(?:e-?mails|courriels) (?P<unread>non lus)",
            r"(?:montrez?(?:-moi)? )?mes (?:e-?mails|courriels)|qu'y a-t-il dans ma boîte(?: de réception)?",
            r"(?:(?:montre|cherche)z?(?:-moi)? )?(?:les |mes )(?:e-?mails|courriels) de (?P<sender>.+)",
        ),
        "list_events": (
            r"qu'(?:est-ce que j'ai|ai-je) (?:dans mon agenda )?"
            r"(?P<day>aujourd'hui|demain|après-demain)(?: dans mon agenda)?",
            r"(?:montrez?(?:-moi)? )?mon (?:agenda|calendrier)(?: (?:de |d'|pour )?(?P<day>demain|aujourd'hui))?",
        ),
        "find_free_time": (r"quand suis-je libre(?: (?P<day>aujourd'hui|demain|après-demain|\w+di))?",),
        "connect_account": (
            r"connecte[sz]? (?:mon|ma|mes|un) (?:compte|agenda|calendrier|messagerie|contacts)"
            r"(?: (?P<service>google|microsoft))?",
        ),
        "list_contacts": (r"(?:montrez?(?:-moi)? )?mes contacts",),
        "find_contacts": (r"quel est le (?:numéro|téléphone|courriel) de (?P<name>.+)",),
        "MessageSomeoneAgent": (
            r"(?:écris|écrivez|envoyez un (?:sms|message)) à (?P<to>[^\d@:,]{1,40}?)(?: que| ?:) (?P<text>.+)",
        ),
        "why_task": (rf"pourquoi {_WHICH} (?:n'est pas venu|n'a pas sonné|n'est pas passé)e?",),
        "stop_task": (rf"(?:arr[êe]tez?|supprimez?|effacez?|terminez?) {_WHICH}",),
        "pause_task": (rf"(?:suspend[sz]?|suspendez) {_WHICH}", rf"met(?:s|tez) {_WHICH} en pause"),
        "resume_task": (rf"(?:reprends|reprenez|continue(?:z)?) {_WHICH}",),
        "search_messages": (
            r"(?:(?:trouve|cherche|retrouve|montre)[rz]?(?:-moi)? )?ce qu(?:e |')"
            r"(?:nous avons|on a|j'ai|tu as|vous avez) (?:dit|écrit) (?:sur|de|du|à propos d[eu])"
            r" (?:(?:le|la|les|l'|une?|mon|ma) ?)?(?P<words>.+)",
            r"qu'(?:avons-nous|ai-je|as-tu|avez-vous|a-t-on) (?:dit|écrit) (?:sur|de|du|à propos d[eu])"
            r" (?:(?:le|la|les|l'|une?|mon|ma) ?)?(?P<words>.+)",
            r"cherchez? dans (?:mes|nos|les) (?:messages|conversations) (?P<words>.+)",
        ),
        "search_memory": (
            r"(?:sais-tu|savez-vous|te souviens-tu|vous souvenez-vous) (?P<question>(?!faire).+)",
            r"(?P<question>(?:comment s'appelle(?:nt)?|quel(?:le)? est|qui est|où est|quand est) (?:mon|ma|mes) .+)",
            r"(?P<question>(?:quand|où) (?:est-ce que )?je .+)",
        ),
    },
    weather=(
        r"(?:(?:quel(?:le)?|comment) (?:est |sera )?)?(?:le |la )?(?:temps|météo)"
        r"(?: (?:fait-il|fera-t-il|qu'il fait))?(?P<rest>.*)",
        r"(?:pleut-il|va-t-il pleuvoir|il pleut|il va pleuvoir)(?P<rest>.*)",
    ),
    place=r"(?:à|a|en|pour|de|au|sur)\s",
    time=(
        r"(?:quelle heure est-il|il est quelle heure|quel jour (?:est-on|sommes-nous)|quelle est la date)"
        r"(?: aujourd'hui| maintenant)?(?: (?:à|au|en) (?P<place>.+?))?(?: maintenant)?",
        r"(?:l')?(?:heure|date)(?: (?:à|au|en) (?P<place>.+))?",
    ),
    sums=r"(?:(?P<ask>combien (?:font|fait)|que (?:font|fait)|calcule[z]?) )?(?P<sum>.+?)\s*=?",
    numbers="zéro un deux trois quatre cinq six sept huit neuf dix onze douze",
    signs=(
        (r"(?<=\d)[.\u202f\u00a0 ](?=\d{3}\b)", ""),
        (r"(?<=\d),(?=\d)", "."),
        (r"\s*(?:%|\bpour cent\b) de ", " / 100 * "),
        (r"\b(?:la )?racine carrée de (\d[\d.]*)", r"sqrt(\1)"),
        (r"\bdivisé par\b", "/"),
        (r"\b(?:multiplié par|fois)\b", "*"),
        (r"\bpuissance\b", "^"),
        (r"\bet\b", "+"),
        (r"\bmoins\b", "-"),
    ),
    flights=(
        r"(?:(?:cherche|trouve|montre)(?:z)?(?:-moi)? |(?:je (?:veux|cherche)|il me faut) )?(?:(?:le|les|un|des) )?"
        r"vols?(?: (?:pas chers?|bon marché))?(?P<day>(?: (?!de |d'|depuis |à |pour |vers )\S+){0,3}?)"
        r"(?: (?:de |d'|depuis )(?P<origin>.+?))?(?: (?:à|pour|vers) (?P<destination>.+?))?"
        r"(?:,? (?:et )?retour (?P<back>.+))?",
    ),
    remind=(r"rappel(?:le|ez)-?\s?moi (?P<rest>.+)",),
    about=r"(?:de|que)\b|d'|qu'|:|,",
    every=(
        r"(?:chaque|tous les|toutes les) (?P<often>jours? ouvrés?|jours? de semaine|[^\W\d_]+),? (?P<rest>.+)",
        r"toutes les (?P<number>\d{1,4}) (?P<unit>minutes|heures),? (?P<rest>.+)",
        r"(?:chaque|toutes les) (?P<unit>heure|minute)s?,? (?P<rest>.+)",
    ),
    often={
        **dict.fromkeys(("jour", "jours", "matin", "matins", "soir", "soirs"), "*"),
        **dict.fromkeys(("jour ouvré", "jours ouvrés", "jour de semaine", "jours de semaine"), "1-5"),
    },
    briefing=r"(?:(?:envo(?:ie|yez)|donnez?|faites|fais)(?:-moi)? )?"
    r"(?:(?:un|mon|le) )?(?:briefing|point du jour)(?: maintenant)?",
    hour="heure",
    remember=r"(?:souviens-toi|souvenez-vous|rappelle-toi|retiens|retenez|n'oublie[zs]? pas)"
    r"(?: que| :|:)? (?:qu')?(?P<statement>.+)",
    known=r"(?:que (?:sais-tu|savez-vous)|qu'est-ce que (?:tu sais|vous savez)) (?:de|sur) moi",
    forget=r"oublie[sz]?(?: que| tout sur)? (?:qu')?(?P<what>.+)",
    mail=(rf"{_MAIL}(?: au sujet de (?P<subject>[^:]+?))?(?:,? (?:disant que|pour dire que|que)| ?:) (?P<body>.+)",),
    results=(
        rf"{_MAIL}(?: avec {_FOUND}(?: et {_FOUND})?)?",
        rf"(?:envoie|envoyez)(?:-les|-le)? (?:{_FOUND} )?(?:par e-?mail )?à {TO}",
    ),
    yes=r"oui|d'accord|vas-y|allez-y|bien sûr",
    no=r"non(?:,? merci)?|laisse(?:z)? tomber|annule(?:z)?",
    edit=(r"(?:change|mets|mettez)(?:z)? (?:le |la |les |l')?(?P<field>[^:]+?)(?: en| à| par| ?:) (?P<value>.+)",),
    make=r"plutôt (?P<value>.+)",
    help=r"aide|(?:que|qu'est-ce que) (?:sais-tu faire|peux-tu faire|tu sais faire|vous savez faire)"
    r"|qui (?:es-tu|êtes-vous)|que (?:pouvez|savez)-vous faire",
    hello=r"bonjour|bonsoir|salut",
    thanks=r"merci(?: beaucoup| bien)?",
    bye=r"au revoir|à (?:bientôt|demain|plus tard)|bonne nuit",
    examples={
        "current_time": "quelle heure est-il à Tokyo ?",
        "calculate": "combien font 3 pour cent de 80 ?",
        "add_note": "note : acheter du lait",
        "list_notes": "montrez-moi mes notes",
        "forget_note": "effacez la note 1",
        "get_weather": "la météo demain à Paris",
        "FlightSearchAgent": "vols de Paris à Rome vendredi",
        "SendEmailAgent": "envoyez un e-mail à sam@example.com : je serai en retard",
        "remind_me": "rappelez-moi dans 5 minutes d'appeler maman",
        "ScheduleTask": "chaque jour ouvré à 8 h mes notes",
        "list_tasks": "qu'est-ce qui est prévu ?",
        "search_mail": "ai-je de nouveaux e-mails ?",
        "list_events": "montrez-moi mon agenda de demain",
        "set_briefing": "chaque matin à 7 h envoyez-moi un briefing",
        "connect_account": "connectez mon agenda",
        "remember": "retenez que je ne mange pas de noix",
        "list_memories": "que savez-vous de moi ?",
        "ask_to_forget": "oubliez que je ne mange pas de noix",
    },
)
