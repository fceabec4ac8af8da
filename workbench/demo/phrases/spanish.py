"""The demo model's sentences in Spanish."""

from workbench.demo.phrases.table import TO, Phrases

_MAIL = rf"(?:env[ií]a|manda|escribe)(?:le)? (?:un )?(?:correo |e-?mail |mensaje )?a {TO}"
_FOUND = r"(?:eso|esto|todo|ambos|los resultados|los vuelos|el tiempo)"
_WHICH = r"(?:el |la |los |las |mi )?(?P<which>.+?)"

SPANISH = Phrases(
    language="es",
    words=(
        "qué cómo está hola gracias recuérdame recuerdame recuerda olvida mañana hoy sí favor envía manda ayuda"
        " sabes mí el los una y es cambia cuándo dónde puedes eres quién vale tengo que tiempo hora son cuánto"
        " por ciento nota notas muéstrame mis vuelos vuelo cada laborable tareas recordatorios viernes"
        " conecta calendario correos nuevos programado las borra comprar leche pan"
    ),
    polite=r"(?:hola|oye|por favor|y|ahora|puedes|podrías)[,!]?\s+|,?\s+por favor$",
    also=r"y luego|y después|luego|después|y",
    calls={
        "ask_person": (r"(?:hazme|haz) (?:una pregunta|dos preguntas)",),
        "add_note": (r"(?:(?:nueva |crea una |toma )?nota|anota|apunta)(?: que|\s*[:,])? (?P<text>.+)",),
        "export_notes": (
            r"(?:(?:envíame|mándame|dame|pásame|exporta) )?(?:todas )?(?:mis |las )?notas "
            r"(?:como|en) (?:un )?(?:archivo|fichero)(?: de texto)?",
            r"exporta (?:todas )?(?:mis |las )?notas",
        ),
        "list_notes": (
            r"(?:(?:cuáles son|muéstrame|muestra|enséñame|lee|dime) )?(?:todas )?(?:mis |las )?notas",
            r"qué (?:he anotado|tengo anotado)",
        ),
        "forget_note": (
            r"(?:olvida|borra|elimina|quita) (?:la |mi )?nota(?: número| n[.º°]*)? ?#?(?P<number>\d{1,9})",
        ),
        "list_tasks": (
            r"qué (?:tengo|hay) (?:programado|previsto|pendiente|planeado)(?: hoy)?",
            r"(?:(?:muéstrame|muestra|enséñame|cuáles son) )?(?:tod[ao]s )?(?:mis |las |los )(?:tareas|recordatorios)",
        ),
        "undo_last": (r"deshaz(?:lo|er)?|deshacer",),
        "search_mail": (
            r"(?:tengo |hay |muéstrame (?:mis )?)?(?:correos|mensajes|e-?mails) (?P<unread>nuevos|sin leer)",
            r"qué hay en mi (?:bandeja(?: de entrada)?|buzón)|(?:muéstrame |muestra |lee )?mis (?:correos|e-?mails)",
            r"(?:(?:muéstrame|busca) )?(?:los |mis )?(?:correos|e-?mails) de (?P<sender>.+)",
            r"busca en mis (?:correos|e-?mails) (?P<text>.+)",
        ),
        "list_events": (
            r"qué (?:tengo|hay) (?:(?P<day>hoy|mañana|pasado mañana) )?en (?:mi|el|la) (?:calendario|agenda)",
            r"(?:muéstrame )?mi (?:calendario|agenda)(?: (?:de |para )?(?P<day>hoy|mañana|pasado mañana))?",
        ),
        "find_free_time": (r"cuándo (?:estoy libre|tengo tiempo)(?: (?P<day>hoy|mañana|pasado mañana|el \w+))?",),
        "connect_account": (
            r"conecta (?:mi|mis|una) (?:cuenta|calendario|agenda|correo|contactos)"
            r"(?: de (?P<service>google|microsoft))?",
        ),
        "list_contacts": (r"(?:muéstrame )?mis contactos",),
        "find_contacts": (r"cuál es el (?:número|teléfono|correo) de (?P<name>.+)",),
        "MessageSomeoneAgent": (
            r"(?:escríbele|mándale un mensaje|escribe) a (?P<to>[^\d@:,]{1,40}?)(?: que|:) (?P<text>.+)",
        ),
        "why_task": (rf"por qué no (?:llegó|se ejecutó|vino|sonó) {_WHICH}",),
        "stop_task": (rf"(?:para|det[eé]n|borra|elimina|quita|cancela) {_WHICH}",),
        "pause_task": (rf"(?:pausa|pon en pausa) {_WHICH}",),
        "resume_task": (rf"(?:reanuda|contin[uú]a(?: con)?|sigue con) {_WHICH}",),
        "search_messages": (
            r"(?:(?:busca|encuentra|muéstrame) )?(?:lo que|qué) (?:dijimos|dije|dijiste|hablamos|escribimos|escribí)"
            r" (?:sobre|de|acerca de) (?:(?:el|la|los|las|un|una|mi) )?(?P<words>.+)",
            r"busca en (?:mis|nuestros?|nuestras?|los) (?:mensajes|conversaciones|chats?) (?P<words>.+)",
        ),
        "search_memory": (
            r"(?:sabes|recuerdas|te acuerdas de) (?P<question>(?!de mí|sobre mí).+)",
            r"(?P<question>(?:cómo se llama|cuál es|quién es|dónde está|cuándo es) (?:mi|mis) .+)",
            r"(?P<question>(?:cuándo|dónde) \w+o(?: .+)?)",
        ),
    },
    weather=(
        r"(?:(?:qué|que|cómo|como|cuál) (?:está |es |será |estará |va a hacer |va a estar )?)?(?:el )?(?:tiempo|clima)"
        r"(?: (?:que hace|hace|hará|va a hacer))?(?P<rest>.*)",
        r"(?:llueve|lloverá|va a llover|nieva)(?P<rest>.*)",
    ),
    place=r"(?:en|para|de|a)\s",
    time=(
        r"(?:qué hora es|qué (?:día|fecha) es(?: hoy)?|a qué día estamos)(?: ahora)?(?: en (?P<place>.+?))?(?: ahora)?",
        r"(?:la )?(?:hora|fecha)(?: en (?P<place>.+))?",
    ),
    sums=r"(?:(?P<ask>cuánto (?:es|son|da)|qué (?:es|da)|calcula) )?(?P<sum>.+?)\s*=?",
    numbers="cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce",
    signs=(
        (r"(?<=\d)\.(?=\d{3}\b)", ""),
        (r"(?<=\d),(?=\d)", "."),
        (r"(?:\bel )?(\d[\d.]*)\s*(?:%|\bpor ciento\b) de ", r"\1 / 100 * "),
        (r"\b(?:la )?raíz cuadrada de (\d[\d.]*)", r"sqrt(\1)"),
        (r"\b(?:dividido (?:por|entre)|entre)\b", "/"),
        (r"\b(?:multiplicado )?por\b", "*"),
        (r"\belevado a\b", "^"),
        (r"\b(?:más|y)\b", "+"),
        (r"\bmenos\b", "-"),
    ),
    flights=(
        r"(?:(?:busca|encuentra|muéstrame|muestra)(?:me)? |(?:necesito|quiero) )?(?:(?:el|los|un|unos) )?"
        r"vuelos?(?: baratos?)?(?P<day>(?: (?!de |desde |a )\S+){0,3}?)"
        r"(?: (?:de|desde) (?P<origin>.+?))?(?: (?:a|hasta) (?P<destination>.+?))?"
        r"(?:,? (?:y |con )?(?:vuelta|regreso|de vuelta|volviendo) (?P<back>.+))?",
    ),
    remind=(r"recu[ée]rdame (?P<rest>.+)",),
    about=r"(?:de que|que|lo de|de)\b|:|,",
    every=(
        r"(?:cada|todos los|todas las) (?P<often>día laborable|días laborables|[^\W\d_]+),? (?P<rest>.+)",
        r"cada (?P<number>\d{1,4}) (?P<unit>minutos|horas),? (?P<rest>.+)",
        r"cada (?P<unit>hora|minuto),? (?P<rest>.+)",
    ),
    often={
        **dict.fromkeys(("día", "días", "mañana", "mañanas", "noche", "noches"), "*"),
        **dict.fromkeys(("día laborable", "días laborables"), "1-5"),
        **{"sábados": "6", "domingos": "0"},
    },
    briefing=r"(?:(?:env[ií]a|manda|da)(?:me)? )?"
    r"(?:(?:un|mi|el) )?(?:resumen (?:del día|diario|de la mañana)|briefing)(?: ahora)?",
    hour="hora",
    remember=r"(?:recuerda|acu[ée]rdate|no olvides)(?: de)?(?: que|:)? (?P<statement>.+)",
    known=r"(?:qué|que) sabes (?:de|sobre) mí|(?:qué|que) recuerdas(?: de| sobre)?(?: mí)?",
    forget=r"olvida(?: que| lo de| todo sobre)? (?P<what>.+)",
    mail=(rf"{_MAIL}(?: sobre (?P<subject>[^:]+?))?(?:,? (?:que diga(?: que)?|diciendo(?: que)?|que)|:) (?P<body>.+)",),
    results=(
        rf"{_MAIL}(?: con {_FOUND}(?: y {_FOUND})?)?",
        rf"(?:env[ií]a|manda)(?:lo|los|me)? (?:{_FOUND} )?(?:por correo )?a {TO}",
    ),
    yes=r"s[ií](?:,? por favor)?|claro(?: que sí)?|vale|de acuerdo|hazlo|adelante",
    no=r"no(?:,? gracias)?|mejor no|déjalo|olvídalo|cancela(?:lo)?",
    edit=(r"(?:cambia|pon) (?:el |la |los |las )?(?P<field>[^:]+?)(?: a| por| como|:) (?P<value>.+)",),
    make=r"que sea (?P<value>.+)",
    help=r"ayuda|qué (?:puedes|sabes) hacer|quién eres|qué eres",
    hello=r"hola|buen(?:os|as) (?:días|tardes|noches)",
    thanks=r"(?:muchas )?gracias",
    bye=r"adiós|hasta (?:luego|mañana|pronto)|chao",
    examples={
        "current_time": "¿qué hora es en Tokio?",
        "calculate": "¿cuánto es el 3 por ciento de 80?",
        "add_note": "nota: comprar leche y pan",
        "list_notes": "muéstrame mis notas",
        "forget_note": "borra la nota 1",
        "get_weather": "el tiempo mañana en Madrid",
        "FlightSearchAgent": "vuelos de Madrid a Roma el viernes",
        "SendEmailAgent": "envía un correo a sam@example.com: llego tarde",
        "remind_me": "recuérdame en 5 minutos llamar a mamá",
        "ScheduleTask": "cada día laborable a las 8 mis notas",
        "list_tasks": "¿qué tengo programado?",
        "search_mail": "¿tengo correos nuevos?",
        "list_events": "¿qué tengo mañana en mi calendario?",
        "set_briefing": "cada día a las 7 envíame el resumen del día",
        "connect_account": "conecta mi calendario",
        "remember": "recuerda que no como nueces",
        "list_memories": "¿qué sabes de mí?",
        "ask_to_forget": "olvida que no como nueces",
    },
)
