"""The demo model's sentences in Portuguese."""

from workbench.demo.phrases.table import TO, Phrases

_MAIL = rf"(?:envi[ae]|mand[ae]|escrev[ae]) (?:um |uma )?(?:e-?mail |mensagem |correio )?(?:a|para) {TO}"
_FOUND = r"(?:isso|isto|tudo|ambos|os resultados|os voos|o tempo)"
_WHICH = r"(?:o |a |os |as |meu |minha )?(?P<which>.+?)"

PORTUGUESE = Phrases(
    language="pt",
    words=(
        "olá obrigado obrigada lembra-me lembre-me lembra lembre esqueça esquece amanhã hoje sim não envia envie ajuda"
        " sabe sabes mim eu você uma o os é bom boa dia muda mude quem pode podes fazer que tempo memorize sobre"
        " horas são quanto por cento nota notas mostre mostra minhas comprar leite voos voo sexta-feira cada útil"
        " ligue calendário tenho novos meu agendado tarefas lembretes apague apaga em às consegue um chego"
    ),
    polite=r"(?:olá|e|agora|por favor|pode|podes|poderia)[,!]?\s+|,?\s+por favor$",
    also=r"e depois|e então|depois|e",
    calls={
        "ask_person": (r"(?:faz|faça)-me (?:uma pergunta|duas perguntas)",),
        "add_note": (r"(?:(?:nova |faça uma |tome )?nota|anot[ae]|apont[ae])(?: que|\s*[:,])? (?P<text>.+)",),
        "export_notes": (
            r"(?:(?:envi[ae]|mand[ae]|d[êá])(?:-me)? )?(?:todas )?(?:as )?(?:minhas )?notas (?:como|em|num) (?:um )?"
            r"(?:ficheiro|arquivo)(?: de texto)?",
            r"export[ae] (?:todas )?(?:as )?(?:minhas )?notas",
        ),
        "list_notes": (
            r"(?:(?:quais são|mostr[ae](?:-me)?|l[êe]|leia) )?(?:todas )?(?:as )?(?:minhas )?notas",
            r"o que (?:anotei|tenho anotado)",
        ),
        "forget_note": (
            r"(?:esque(?:ce|ça)|apag[aeu]e?|elimin[ae]|remov[ae]) (?:a )?(?:minha )?nota(?: número| n[.º°]*)? ?#?"
            r"(?P<number>\d{1,9})",
        ),
        "list_tasks": (
            r"o que (?:tenho|há) (?:agendado|previsto|pendente|marcado|planeado)",
            r"(?:(?:mostr[ae](?:-me)?|quais são) )?(?:tod[oa]s )?(?:[ao]s )?(?:minhas |meus )?(?:tarefas|lembretes)",
        ),
        "undo_last": (r"desfa(?:z|ça)(?: isso)?|desfazer|anul[ae] isso",),
        "search_mail": (
            r"(?:tenho |há )?(?:e-?mails|mensagens|correio) (?P<unread>novos|novas|novo|por ler|não lidos)",
            r"(?:mostr[ae](?:-me)? )?(?:os )?meus e-?mails|o que (?:há|está) na minha caixa de (?:entrada|correio)",
            r"(?:(?:mostr[ae](?:-me)?|procur[ae]) )?(?:os )?e-?mails d[eoa] (?P<sender>.+)",
        ),
        "list_events": (
            r"o que tenho (?:(?P<day>hoje|amanhã|depois de amanhã) )?(?:na agenda|no calendário)",
            r"(?:mostr[ae](?:-me)? )?(?:a minha agenda|o meu calendário)(?: (?:de |para )?(?P<day>hoje|amanhã))?",
        ),
        "find_free_time": (r"quando (?:estou livre|tenho tempo)(?: (?P<day>hoje|amanhã|depois de amanhã))?",),
        "connect_account": (
            r"lig(?:a|ar|ue) (?:(?:a|o|os) )?(?:(?:minha|meu|meus|uma) )?(?:conta|calendário|agenda|correio|contactos)"
            r"(?: (?:do |da )?(?P<service>google|microsoft))?",
        ),
        "list_contacts": (r"(?:mostr[ae](?:-me)? )?(?:os )?meus contactos",),
        "find_contacts": (r"qual é o (?:número|telefone|e-?mail) d[eoa] (?P<name>.+)",),
        "MessageSomeoneAgent": (
            r"(?:escrev[ae]|envi[ae] uma mensagem) (?:a|ao|à|para) (?P<to>[^\d@:,]{1,40}?)(?: que|:) (?P<text>.+)",
        ),
        "why_task": (rf"porque (?:é que )?{_WHICH} não (?:veio|correu|tocou|chegou)",),
        "stop_task": (rf"(?:par[ae]|termin[ae]|apag[ue]e?|elimin[ae]|cancel[ae]) {_WHICH}",),
        "pause_task": (rf"(?:paus[ae]|suspend[ae]) {_WHICH}",),
        "resume_task": (rf"(?:retom[ae]|continu[ae](?: com)?) {_WHICH}",),
        "search_messages": (
            r"(?:(?:encontr[ae]|procur[ae]|mostr[ae])(?:-me)? )?o que (?:é que )?(?:(?:nós|eu) )?"
            r"(?:dissemos|disse|falámos|falamos|escrevemos|escrevi) (?:sobre|acerca d[eoa]|d[eoa])"
            r" (?:(?:o|a|os|as|um|uma) )?(?P<words>.+)",
            r"procur[ae] (?:nas|nos) (?:minhas |nossas |meus )?(?:mensagens|conversas|chats) (?:por )?(?P<words>.+)",
        ),
        "search_memory": (
            r"(?:sab(?:e|es)|lembra(?:-se|s-te) de) (?P<question>(?!fazer).+)",
            r"(?P<question>(?:como se chamam?|qual é|quem é|onde está|quando é) (?:[ao]s? )?(?:meus?|minhas?) .+)",
            r"(?P<question>(?:quando|onde) (?:é que )?(?:eu )?\w+o(?: .+)?)",
        ),
    },
    weather=(
        r"(?:(?:como|que|qual) (?:está |é |estará |vai estar )?)?(?:o |a )?(?:tempo|meteorologia|previsão"
        r"(?: do tempo)?)(?: (?:faz|fará|vai fazer))?(?P<rest>.*)",
        r"(?:chove|está a chover|vai chover)(?P<rest>.*)",
    ),
    place=r"(?:em|no|na|para|de|do|da)\s",
    time=(
        r"(?:que horas são|que dia é(?: hoje)?|qual é a data(?: de hoje)?)(?: agora)?(?: (?:em|no|na) (?P<place>.+?))?"
        r"(?: agora)?",
        r"(?:as |a )?(?:horas?|data)(?: (?:em|no|na) (?P<place>.+))?",
    ),
    sums=r"(?:(?P<ask>quanto (?:é|são|dá)|calcul[ae]) )?(?P<sum>.+?)\s*=?",
    numbers="zero um dois três quatro cinco seis sete oito nove dez onze doze",
    signs=(
        (r"(?<=\d)\.(?=\d{3}\b)", ""),
        (r"(?<=\d),(?=\d)", "."),
        (r"\s*(?:%|\bpor cento\b) de ", " / 100 * "),
        (r"\b(?:a )?raiz quadrada de (\d[\d.]*)", r"sqrt(\1)"),
        (r"\b(?:dividido por|a dividir por)\b", "/"),
        (r"\b(?:vezes|multiplicado por)\b", "*"),
        (r"\belevado a\b", "^"),
        (r"\b(?:mais|e)\b", "+"),
        (r"\bmenos\b", "-"),
    ),
    flights=(
        r"(?:(?:procur[ae]|encontr[ae]|mostr[ae])(?:-me)? |(?:preciso de|quero) )?(?:(?:o|os|um|uns) )?"
        r"voos?(?: baratos?)?(?P<day>(?: (?!de |do |da |a |para )\S+){0,3}?)"
        r"(?: (?:de|do|da|desde) (?P<origin>.+?))?(?: (?:a|ao|à|para) (?P<destination>.+?))?"
        r"(?:,? (?:e |com )?(?:regresso|volta) (?P<back>.+))?",
    ),
    remind=(r"lembr[ae]-?\s?me (?P<rest>.+)", r"me lembr[ae] (?P<rest>.+)"),
    about=r"(?:de que|que|de|para)\b|:|,",
    every=(
        r"(?:cada|todos os|todas as) (?P<often>dia útil|dias úteis|[^\W\d_]+(?:-feiras?)?),? (?P<rest>.+)",
        r"(?:a )?cada (?P<number>\d{1,4}) (?P<unit>minutos|horas),? (?P<rest>.+)",
        r"(?:a )?cada (?P<unit>hora|minuto),? (?P<rest>.+)",
    ),
    often={
        **dict.fromkeys(("dia", "dias", "manhã", "manhãs", "noite", "noites"), "*"),
        **dict.fromkeys(("dia útil", "dias úteis"), "1-5"),
        **{"segunda": "1", "terça": "2", "quarta": "3", "quinta": "4", "sexta": "5", "sábados": "6", "domingos": "0"},
    },
    briefing=r"(?:(?:envi[ae]|mand[ae]|d[êá])(?:-me)? )?"
    r"(?:(?:um|o meu|o) )?(?:resumo (?:do dia|diário|da manhã)|briefing)(?: agora)?",
    hour="hora",
    remember=r"(?:lembra-te|lembre-se|memoriz[ae]|não (?:te |se )?esqueç[a]s?)(?: de)?(?: que|:)? (?P<statement>.+)",
    known=r"(?:o )?que (?:sabes|sabe) (?:de|sobre) mim",
    forget=r"esque(?:ce|ça)(?:-te|-se)?(?: de)?(?: que| tudo sobre)? (?P<what>.+)",
    mail=(rf"{_MAIL}(?: sobre (?P<subject>[^:]+?))?(?:,? (?:a dizer(?: que)?|dizendo(?: que)?|que)|:) (?P<body>.+)",),
    results=(
        rf"{_MAIL}(?: com {_FOUND}(?: e {_FOUND})?)?",
        rf"(?:envi[ae]|mand[ae])(?:-os|-o)? (?:{_FOUND} )?(?:por e-?mail )?(?:a|para) {TO}",
    ),
    yes=r"sim(?:,? por favor)?|claro(?: que sim)?|está bem|pode ser|avance",
    no=r"não(?:,? obrigad[oa])?|deix[ae](?: estar)?|cancel[ae]",
    edit=(r"(?:mud[ae]|alter[ae]) (?:o |a |os |as )?(?P<field>[^:]+?)(?: para|:) (?P<value>.+)",),
    make=r"que seja (?P<value>.+)",
    help=r"ajuda|(?:o )?que (?:podes|pode|sabes|sabe|consegues?) fazer|quem (?:és|é)(?: tu| você)?",
    hello=r"olá|bo[am] (?:dia|tarde|noite)",
    thanks=r"(?:muito )?obrigad[oa]",
    bye=r"adeus|até (?:logo|amanhã|já|breve)|tchau",
    examples={
        "current_time": "que horas são em Tóquio?",
        "calculate": "quanto é 3 por cento de 80?",
        "add_note": "nota: comprar leite",
        "list_notes": "mostre-me as minhas notas",
        "forget_note": "apague a nota 1",
        "get_weather": "o tempo amanhã em Lisboa",
        "FlightSearchAgent": "voos de Lisboa para Roma na sexta-feira",
        "SendEmailAgent": "envie um e-mail para sam@example.com: chego tarde",
        "remind_me": "lembre-me daqui a 5 minutos de ligar à mãe",
        "ScheduleTask": "cada dia útil às 8 as minhas notas",
        "list_tasks": "o que tenho agendado?",
        "search_mail": "tenho e-mails novos?",
        "list_events": "o que tenho amanhã na agenda?",
        "set_briefing": "todos os dias às 7 envie-me o resumo do dia",
        "connect_account": "ligue o meu calendário",
        "remember": "memorize que não como nozes",
        "list_memories": "o que sabe sobre mim?",
        "ask_to_forget": "esqueça que não como nozes",
    },
)
