"""Spanish, French and Portuguese."""

from abilities.judge.claims.languages import Form, Language, Verbs, with_endings

_ES_DONE = Verbs(
    with_endings(
        "enviad mandad reenviad avisad notificad invitad reservad pedid comprad pagad transferid cancelad anulad "
        "eliminad borrad programad agendad archivad apagad encendid bloquead "
        "movid aplazad donad prorrogad desbloquead",
        "o,a,os,as",
    ),
    with_endings(
        "respondid contestad informad escrit dich llamad preguntad puest añadid agregad cread guardad cambiad "
        "modificad actualizad quitad configurad activad desactivad confirmad aceptad rechazad anotad apuntad "
        "registrad compartid publicad subid marcad fijad ajustad renombrad pausad iniciad renovad efectuad "
        "realizad",
        "o,a,os,as",
    ),
)
_ES_PAST = Verbs(
    "envié mandé reenvié avisé notifiqué invité reservé pedí compré pagué transferí cancelé anulé eliminé borré "
    "programé agendé archivé apagué encendí",
    "respondí contesté informé escribí llamé puse añadí agregué creé guardé moví cambié modifiqué actualicé quité "
    "configuré activé desactivé confirmé acepté rechacé anoté apunté registré compartí publiqué subí marqué fijé "
    "ajusté renombré pausé inicié detuve renové dije",
)
_ES_JUST = Verbs(
    "enviar enviarle mandar mandarle reenviar avisar avisarle notificar invitar reservar pedir comprar pagar "
    "transferir cancelar anular eliminar borrar programar agendar archivar apagar encender",
    "responder responderle contestar informar llamar poner añadir agregar crear guardar mover cambiar actualizar "
    "quitar activar desactivar confirmar publicar",
)

SPANISH = Language(
    adverbs=r"(?:(?:ya|también|bien|correctamente|sido)\s+){0,2}",
    forms=(
        Form(r"\b(?:he|hemos)\s+<adverbs>(?P<did><verb>)\b", _ES_DONE),
        Form(r"\b(?P<did><verb>)\b", _ES_PAST),
        Form(r"\bacab(?:o|amos)\s+de\s+(?P<did><verb>)\b", _ES_JUST),
        Form(
            r"\b(?:(?:ha|han)\s+sido|está|están|queda|quedan|quedó|quedaron|fue|fueron|se\s+(?:le\s+)?(?:ha|han))\s+"
            r"<adverbs>(?P<did><verb>)\b",
            _ES_DONE,
            passive=True,
        ),
        Form(r"^¡?(?P<did><verb>)(?=\s*(?:[.!:,✅–—-]|$))", _ES_DONE),
        Form(
            r"^¡?(?:(?:vale|claro|perfecto|genial)\W+)?(?:(?!(?:yo|tú|él|ella|no|he|has|ha|han|que|si"
            r"|se|está|están|fue|fueron|nada|ningun\w*|nadie|cuando)\b)[\w'’.-]+\s+){1,4}?"
            r"(?P<did><verb>)(?=\s+(?:para|a|al|en|del?|con|por)\b|\s*[.!:,–—-]|\s*$)",
            _ES_DONE,
            passive=True,
        ),
        Form(r"\b(?:he\s+podido|pude|logré|conseguí)\s+(?P<did><verb>)\b", _ES_JUST),
    ),
    done=r"^¡?(?:listo|hecho|todo\s+listo|ya\s+está)\b",
    outward=r"(?:re)?envi\w+|mand\w+|avis\w+|notifi\w+|invit\w+|reserv\w+|ped[ií]\w*|compr\w+|pag\w+|transfer\w+"
    r"|respond\w+|contest\w+|inform\w+|escri\w+|dich\w+|dije|llam\w+|compart\w+|public\w+|publiqu\w+",
    to_the_reader=r"\b(?:arriba|abajo|aquí)\b|\b(?:te|os)\s+(?:l[oa]s?\s+)?(?:he\s+)?(?:envi|mand|compart|escri|respond"
    r"|contest|dich|dije|inform|avis|pregunt|pedid)(?!.*\b(?:correo|e-?mail|sms|invitaci)\w*)",
    barred=r"\b(?:cuando|si|una\s+vez|después\s+de|antes\s+de|hasta|según|dice|dijo|escribe|escribió)\b"
    r"|\b(?:no|nunca|tampoco|sin|que|quien)(?:\s+(?:te|se|les?|l[oa]s?|me|os))*\s*$|^\W*(?:nada|ningun\w*|nadie)\b",
    things=r"recordatorio|alarma|temporizador|calendario|evento|reunión|cita|tarea|lista\s+de|contacto|reserva"
    r"|suscripción|pago|calefacción|\bluz|luces|lámpara|invitación|carpeta|archivos|adjunto|\bnota",
    texts=r"borrador|texto|párrafo|frase|tono|título|versión|línea|resumen|poema|saludo|apartado|introducción|palabra"
    r"|traducción|carta|código",
    past=r"\b(?:ayer|anoche|anteayer|pasad[oa]|hace\s+\w+|esta\s+mañana|el\s+(?:lunes|martes|miércoles|jueves|viernes"
    r"|sábado|domingo))\b",
    asks=r"(?:env[ií]|m[áa]nd|reenv|av[ií]s|notific|inv[ií]t|res[ée]rv|p[íi]de|pide|pedir|c[óo]mpr|p[áa]g|transf|canc[ée]l"
    r"|anul|elim[íi]n|b[óo]rr|program|agend|archiv|ap[áa]g|enci[ée]nd|encend|resp[óo]nd|cont[ée]st|inf[óo]rm|llam|ll[áa]m"
    r"|pon|pón|añ[áa]d|agr[ée]g|cr[ée]a|gu[áa]rd|mu[ée]v|mov|c[áa]mbi|modif|actual|qu[íi]t|configur|act[íi]v|desact"
    r"|acept|rechaz|an[óo]t|ap[úu]nt|compart|public|sub[ei]|m[áa]rc|recu[ée]rd|despi[ée]rt|d[íi]les?\b|suscr|renuev"
    r"|paus|inici|bloqu|necesit|quiero|quer[íi]a|org[áa]niz|escr[íi]bele|haz\s+una\s+(?:reserva|cita))\w*",
    begins=r"^\W*(?:(?:por\s+favor|hola|vale|y|ahora|entonces)\W+)*|\b(?:por\s+favor|y|luego)\s+|[,.;:!]\s+",
    polite=r"\b(?:puedes|podrías|puede|podría)\s+",
    inquires=r"^\W*(?:quién|quien|qué|que|cuándo|cuando|dónde|por\s+qué|cuál|cómo|cuánto|has|he|ha|está|hay|b[úu]sca\w*|mu[ée]stra\w*"
    r"|res[úu]me\w*|trad[úu]ce\w*|l[ée]e\w*|expl[íi]ca\w*|mira|comprueba|dime|dame|mejora)\b",
    agrees=r"^\W*(?:sí|si|vale|ok|claro|hazlo|adelante)\b",
)

_FR = Verbs(
    with_endings(
        "envoyé expédié transféré prévenu notifié invité réservé commandé acheté payé réglé viré annulé résilié "
        "supprimé effacé programmé planifié archivé allumé éteint désabonné reporté confirmé bloqué débloqué "
        "renouvelé décalé prolongé",
        ",e,s,es",
    )
    + " transmis transmise transmises",
    with_endings(
        "répondu écrit informé appelé dit ajouté créé enregistré sauvegardé déplacé demandé changé modifié actualisé "
        "retiré enlevé configuré activé désactivé accepté refusé partagé publié posté marqué fixé ajusté "
        "renommé lancé arrêté effectué",
        ",e,s,es",
    )
    + " mis mise mises inscrit inscrite",
)
_FR_JUST = Verbs(
    "envoyer transmettre transférer prévenir notifier inviter réserver commander acheter payer régler virer annuler "
    "résilier supprimer effacer programmer planifier archiver allumer éteindre",
    "répondre informer appeler ajouter créer enregistrer déplacer changer modifier retirer activer désactiver "
    "confirmer partager publier mettre",
)

FRENCH = Language(
    adverbs=r"(?:(?:bien|déjà|aussi|donc|également|immédiatement|maintenant|désormais|tout\s+de\s+suite|été)\s+){0,3}",
    forms=(
        Form(
            r"\bj(?:e\s+(?:(?:les?|la|lui|leur|vous|te)\s+|[ltm]['’]\s*)+|['’](?:en\s+|y\s+)?)ai\s+<adverbs>(?P<did><verb>)\b",
            _FR,
        ),
        Form(r"\bj['’]ai\s+\w+\b[^.!?;\n]{0,80}?\bet\s+(?:(?:l['’])?ai\s+)?<adverbs>(?P<did><verb>)\b", _FR),
        Form(
            r"\bje\s+viens\s+(?:tout\s+juste\s+)?d(?:e\s+|['’])(?:(?:les?|la|lui|leur)\s+|l['’])?(?P<did><verb>)\b",
            _FR_JUST,
        ),
        Form(r"\b(?:est|sont|(?:a|ont)\s+(?:bien\s+|déjà\s+)?été)\s+<adverbs>(?P<did><verb>)\b", _FR, passive=True),
        Form(r"^(?:c['’]est\s+)?(?P<did><verb>)(?=\s*(?:[.!:,✅–—-]|$))", _FR),
        Form(
            r"^(?:(?:parfait|très\s+bien|d['’]accord|ok)\W+)?(?:(?!(?:je|tu|il|elle|nous|vous|ils|on|ne|pas|qui|que|a|ai|as|ont|est|sont|été|rien|aucune?|personne|si|quand|une\s+fois)"
            r"\b)[\w'’.-]+\s+){1,4}?(?P<did><verb>)(?=\s+(?:pour|à|aux?|dans|de|du|des|en|sur|avec)\b|\s*[.!:,–—-]|\s*$)",
            _FR,
            passive=True,
        ),
        Form(r"\bj['’]ai\s+(?:bien\s+)?(?:pu|réussi\s+à)\s+(?P<did><verb>)\b", _FR_JUST),
    ),
    done=r"^(?:voilà\W+)?(?:c['’]est\s+fait|fait|c['’]est\s+bon)\b",
    outward=r"envoyée?s?|expédiée?s?|transm\w+|transf\w+|prév\w+|notifi\w+|invit\w+|réserv\w+|command\w+|achet\w+|pay\w+"
    r"|vir\w+|répond\w+|écrit\w*|inform\w+|appel\w+|dite?s?|partag\w+|publi\w+|posté\w*|envoyer",
    to_the_reader=r"\b(?:ci-dessus|ci-dessous|plus\s+haut|plus\s+bas|ici)\b|\bje\s+(?:t['’]|te\s+l['’]|vous\s+(?:l['’])?)ai\s+"
    r"(?:\w+\s+)?(?:envoy|transmis|écrit|répondu|dit|partag|inform|demand)(?!.*\b(?:e-?mail|mail|courriel|sms|texto|invitation)\b)",
    barred=r"\b(?:quand|lorsque|si|une\s+fois|après|avant|jusqu|selon|d['’]après|dit|écrit|dès)\b|\bn['’]$|\bne\s+$"
    r"|\b(?:qui|que)\s*$|^\W*(?:rien|aucune?|personne)\b",
    things=r"rappel|alarme|réveil|minuteur|agenda|calendrier|événement|réunion|rendez-vous|tâche|\b(?:la|ta|votre)\s+liste|liste\s+de|contact"
    r"|réservation|abonnement|paiement|virement|chauffage|lumière|lampe|invitation|dossier|fichiers|pièce\s+jointe|\bnote",
    texts=r"brouillon|\btextes?\b|paragraphe|phrase|formulation|\bton\s+du|titre|version|ligne|résumé|poème|salutation"
    r"|section|introduction|\bmots?\b|traduction|lettre|\bcode\b",
    past=r"\b(?:hier|avant-hier|dernière?|il\s+y\s+a|ce\s+matin|(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)\s+"
    r"dernier)\b",
    asks=r"(?:envoi|envoy|expédi|transm|transf|prévien|préven|notifi|invit|réserv|command|ach[èe]t|pai|pay|r[èe]gl|régl"
    r"|vire|virer|annul|résili|supprim|effac|programm|planifi|archiv|allum|étei|désabonn|report|répond|inform|appel"
    r"|mets|mett|ajout|crée|enregistr|sauvegard|déplac|décal|chang|modifi|actualis|retir|enl[èe]v|prolong|configur|activ"
    r"|désactiv|confirm|accept|refus|inscri|partag|publi|rappel|réveill|dis[- ](?:lui|leur|à)|il\s+me\s+faut"
    r"|j['’]ai\s+besoin|bloqu|fixe|lanc|arrêt|renouvel"
    r"|prends?\s+rendez)\w*",
    begins=r"^\W*(?:(?:s['’]il\s+te\s+plaît|bonjour|salut|merci\s+de|ok|et|alors|veuillez)\W+)*|\b(?:et|puis|merci\s+de)\s+"
    r"|[,.;:!]\s+",
    polite=r"\b(?:peux-tu|pouvez-vous|tu\s+peux|vous\s+pouvez|pourrais-tu|pourriez-vous|peut-on)\s+(?:me\s+|lui\s+)?",
    inquires=r"^\W*(?:qui|quand|quoi|que|qu['’]\w+|où|pourquoi|comment|combien|quel\w*|est-ce|as-tu|avez-vous|tu\s+as"
    r"|vous\s+avez|cherche|montre|résume|traduis|lis|explique\S*|vérifie|améliore)\b",
    agrees=r"^\W*(?:oui|ok|d['’]accord|vas-y|allez-y)\b",
)

_PT_DONE = Verbs(
    with_endings(
        "enviad mandad reenviad encaminhad avisad notificad convidad reservad encomendad comprad pag transferid "
        "cancelad anulad eliminad apagad excluíd deletad agendad programad arquivad ligad desligad marcad desmarcad "
        "bloquead desbloquead confirmad remarcad renovad adiad pedid",
        "o,a,os,as",
    ),
    with_endings(
        "respondid informad colocad adicionad acrescentad criad guardad salv movid mudad alterad modificad atualizad "
        "removid configurad ativad desativad aceit recusad registad registrad partilhad compartilhad "
        "publicad definid ajustad efetuad",
        "o,a,os,as",
    ),
)
_PT_PAST = Verbs(
    "enviei mandei reenviei encaminhei avisei notifiquei convidei reservei encomendei comprei paguei transferi "
    "cancelei anulei eliminei apaguei excluí deletei agendei programei arquivei liguei desliguei marquei "
    "desmarquei remarquei renovei bloqueei confirmei adiei pedi",
    "respondi escrevi informei disse pus coloquei adicionei acrescentei criei guardei salvei movi mudei alterei "
    "modifiquei atualizei removi retirei configurei ativei desativei perguntei aceitei recusei anotei registei "
    "registrei partilhei compartilhei publiquei defini ajustei pausei iniciei tirei",
)
_PT_JUST = Verbs(
    "enviar mandar encaminhar avisar notificar convidar reservar encomendar comprar pagar transferir cancelar anular "
    "eliminar apagar excluir agendar arquivar ligar desligar marcar",
    "responder informar colocar adicionar criar guardar salvar mover mudar alterar atualizar remover ativar "
    "desativar confirmar registar registrar publicar",
)

PORTUGUESE = Language(
    adverbs=r"(?:(?:já|também|agora|sido|devidamente)\s+){0,2}",
    forms=(
        Form(r"\b(?P<did><verb>)\b", _PT_PAST),
        Form(r"\bacab(?:ei|amos|o)\s+de\s+(?P<did><verb>)\b", _PT_JUST),
        Form(
            r"\b(?:foi|foram|está|estão|ficou|ficaram)\s+<adverbs>(?P<did><verb>)\b",
            _PT_DONE,
            passive=True,
        ),
        Form(r"^(?P<did><verb>)(?=\s*(?:[.!:,✅–—-]|$))", _PT_DONE),
        Form(
            r"^(?:(?:claro|certo|perfeito|ok)\W+)?(?:(?!(?:eu|tu|ele|ela|você|não|que|se|já|foi|foram|tem"
            r"|está|estão|nada|nenhum\w*|ninguém|quando)\b)[\w'’.-]+\s+){1,4}?"
            r"(?P<did><verb>)(?=\s+(?:para|a|à|ao|em|n[ao]s?|d[eao]s?|com|por)\b|\s*[.!:,–—-]|\s*$)",
            _PT_DONE,
            passive=True,
        ),
        Form(r"\bconsegui\s+(?P<did><verb>)\b", _PT_JUST),
    ),
    done=r"^(?:pronto|feito|está\s+feito|tudo\s+certo|prontinho)\b",
    outward=r"(?:re)?envi\w+|mand\w+|encaminh\w+|avis\w+|notifi\w+|convid\w+|reserv\w+|encomend\w+|compr\w+|pag(?:o|a|os|as"
    r"|uei|ar)|transfer\w+|respond\w+|escrev\w+|inform\w+|disse|partilh\w+|compartilh\w+|public\w+|publiquei|pedi",
    to_the_reader=r"\b(?:acima|abaixo|aqui)\b|\b(?:te|vos)\s+(?:enviei|mandei|disse|informei|respondi)|(?:enviei|mandei)-"
    r"(?:te|vos)(?!.*\b(?:e-?mail|correio|sms|convite)\b)",
    barred=r"\b(?:quando|se|depois\s+de|antes\s+de|até|segundo|diz|disse|escreve|escreveu|assim\s+que)\b"
    r"|\b(?:não|no|nunca|nem|sem|que|quem)(?:\s+(?:te|se|lhes?|[oa]s?|me|vos))*\s*$|^\W*(?:nada|nenhum\w*|ninguém)\b",
    things=r"lembrete|alarme|temporizador|calendário|agenda|evento|reunião|consulta|compromisso|tarefa|lista|contac?to"
    r"|reserva|assinatura|subscrição|pagamento|aquecimento|\bluz|lâmpada|convite|pasta|ficheiros|anexo|\bnota",
    texts=r"rascunho|\btextos?\b|parágrafo|frase|\btom\b|título|versão|linha|resumo|poema|saudação|seção|secção"
    r"|introdução|palavra|tradução|\bcarta|código",
    past=r"\b(?:ontem|anteontem|passad[oa]|há\s+\w+|esta\s+manhã|hoje\s+de\s+manhã|na\s+(?:segunda|terça|quarta|quinta"
    r"|sexta)(?:-feira)?)\b",
    asks=r"(?:envi|mand|reenvi|encaminh|avis|notifi|convid|reserv|encomend|compr|paga|pague|transf|cancel|anul|elimin"
    r"|apag|exclu|delet|agend|program|arquiv|liga|ligue|ligar|deslig|marc|marqu|respond|inform|põe|ponha|pôr|coloc|coloq"
    r"|adicion|acrescent|cria|crie|guard|salv|mov|mud|alter|modif|atualiz|remov|retir|configur|ativ|desativ|confirm"
    r"|aceit|recus|bloque|desmarc|remarc|tir[ae]|ped[ei]|peça|precis[oa]\s+de|anot|regist|partilh|compartilh|public|defin|ajust|lembr|acord|diz-lhe|diga|renov)\w*",
    begins=r"^\W*(?:(?:por\s+favor|olá|oi|ok|e|agora|então)\W+)*|\b(?:por\s+favor|e|depois)\s+|[,.;:!]\s+",
    polite=r"\b(?:podes|pode|podia|poderia|podias|poderias|consegues?)\s+",
    inquires=r"^\W*(?:quem|que|o\s+que|quando|onde|por\s*qu[eê]|qual|como|quanto|já|você\s+já|resume|traduz|lê|explica"
    r"|procura|verifica|a\s+que\s+horas|corrige|faz\s+um\s+resumo)\b",
    agrees=r"^\W*(?:sim|ok|claro|pode\s+ser|força|faz\s+isso)\b",
)
