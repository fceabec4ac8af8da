"""A request tells nothing of the person, in six languages; what is told beside it, or holds for good, is kept."""

import itertools

import pytest

from abilities.memory.extraction.statements import statements, worth_keeping
from abilities.memory.momex import Momex
from tests.abilities.memory.harness import everything, told

REQUESTS = {
    "en": """email bob about lunch | send Anna the report by five | call the dentist tomorrow morning
        text Mum that I'm running late | remind me to water the plants at six | set an alarm for seven
        book a table for two on Friday | order two pizzas for tonight | find me a flight to Lisbon
        look up trains to Vienna | check the weather in Oslo | show me my tasks for today
        tell me a joke about cats | give me three ideas for dinner | add milk to the shopping list
        cancel my appointment with Dr Weiss | delete the second reminder | move the meeting to Thursday
        translate good morning into Greek | summarise this article in one line | help me write a letter to my landlord
        play some jazz in the kitchen | watch the price of that flight | let me know when it rains
        schedule a call with Dana at noon | forget my old address | I need you to pay the electricity bill
        I'd like to book a room in Graz | I want you to reply to Sam | let's plan the trip to Rome""",
    "de": """schick Anna den Bericht bis fünf | schreib Bob eine Mail wegen des Mittagessens
        ruf morgen den Zahnarzt an | erinnere mich um sechs an die Blumen | stell einen Wecker auf sieben
        buche einen Tisch für zwei am Freitag | bestell zwei Pizzen für heute Abend
        such mir einen Flug nach Lissabon
        zeig mir meine Aufgaben für heute | sag mir einen Witz über Katzen | gib mir drei Ideen fürs Abendessen
        trag den Termin am Montag ein | lösche die zweite Erinnerung | verschieb das Treffen auf Donnerstag
        übersetze guten Morgen ins Griechische | fass den Artikel in einem Satz zusammen
        hilf mir bei einem Brief an den Vermieter | vergiss meine alte Adresse | ich möchte, dass du Sam antwortest
        kannst du mir ein Taxi rufen | schicken Sie den Bericht an Anna""",
    "es": """envía el informe a Ana antes de las cinco | escribe un correo a Bob sobre la comida
        llama al dentista mañana por la mañana | recuérdame regar las plantas a las seis | pon una alarma a las siete
        reserva una mesa para dos el viernes | pide dos pizzas para esta noche | búscame un vuelo a Lisboa
        muéstrame mis tareas de hoy | dime un chiste sobre gatos | dame tres ideas para la cena
        añade leche a la lista de la compra | borra el segundo recordatorio | mueve la reunión al jueves
        traduce buenos días al griego | resume este artículo en una frase | ayúdame a escribir una carta al casero
        olvida mi antigua dirección | quiero que respondas a Sam | necesito que pagues la factura de la luz
        avísame cuando llueva en Madrid""",
    "fr": """envoie le rapport à Anne avant cinq heures | écris un mail à Bob au sujet du déjeuner
        appelle le dentiste demain matin | rappelle-moi d'arroser les plantes à six heures
        mets un réveil à sept heures
        réserve une table pour deux vendredi | commande deux pizzas pour ce soir | trouve-moi un vol pour Lisbonne
        montre-moi mes tâches du jour | raconte-moi une blague sur les chats | donne-moi trois idées pour le dîner
        ajoute du lait à la liste de courses | supprime le deuxième rappel | déplace la réunion à jeudi
        traduis bonjour en grec | résume cet article en une phrase | aide-moi à écrire une lettre au propriétaire
        oublie mon ancienne adresse | je voudrais que tu répondes à Sam | envoyez le rapport à Anne
        préviens-moi quand il pleut à Paris""",
    "pt": """envie o relatório à Ana antes das cinco | escreva um e-mail ao Bob sobre o almoço
        ligue ao dentista amanhã de manhã | lembre-me de regar as plantas às seis | ponha um alarme para as sete
        reserve uma mesa para dois na sexta | peça duas pizzas para esta noite | procure um voo para Lisboa
        mostre-me as minhas tarefas de hoje | diga-me uma piada sobre gatos | dê-me três ideias para o jantar
        adicione leite à lista de compras | apague o segundo lembrete | mude a reunião para quinta
        traduza bom dia para grego | resuma este artigo numa frase | ajude-me a escrever uma carta ao senhorio
        esqueça a minha morada antiga | quero que responda ao Sam | preciso que pague a conta da luz
        avise-me quando chover no Porto""",
    "zh": """帮我给安娜发报告 | 给鲍勃发一封关于午饭的邮件 | 明天早上打电话给牙医 | 提醒我六点浇花 | 设一个七点的闹钟
        预订周五两个人的桌子 | 帮我点两个披萨 | 查一下去里斯本的航班 | 告诉我今天有哪些任务 | 讲个关于猫的笑话
        给我三个晚饭的主意 | 把牛奶加到购物清单 | 删除第二个提醒 | 把会议改到星期四 | 把早上好翻译成希腊语
        总结一下这篇文章 | 取消我和牙医的预约 | 忘记我的旧地址 | 我想让你回复山姆 | 播放一些爵士乐""",
}
FRAMES = {
    "en": ("{0}", "Please {0}.", "Hey, can you {0}?", "{0}, please", "Could you {0}", "And then {0}!"),
    "de": ("{0}", "Bitte {0}.", "{0}, bitte", "Hallo, {0}!", "Und {0}."),
    "es": ("{0}", "Por favor, {0}.", "{0}, por favor", "Hola, {0}!", "Y {0}."),
    "fr": ("{0}", "S'il te plaît, {0}.", "{0}, s'il vous plaît", "Bonjour, {0} !", "Et {0}."),
    "pt": ("{0}", "Por favor, {0}.", "{0}, por favor", "Olá, {0}!", "E {0}."),
    "zh": ("{0}", "请{0}。", "你好，{0}", "麻烦{0}！", "{0}吧"),
}
QUESTIONS = {
    "de": "wo wohne ich noch mal | wie heißt meine Schwester | wann muss ich morgen los | habe ich Allergien"
    " | weißt du, wo ich arbeite | welches Auto fahre ich",
    "es": "¿dónde vivo ahora? | ¿cómo se llama mi hermana? | qué coche tengo yo | ¿sabes dónde trabajo?"
    " | ¿tengo alergias?"
    " | cuándo es mi vuelo a Lisboa",
    "fr": "où est-ce que j'habite | comment s'appelle ma sœur ? | quel est mon vol pour Lisbonne"
    " | tu sais où je travaille ?"
    " | est-ce que j'ai des allergies | quelle est mon adresse",
    "pt": "onde é que eu moro | como se chama a minha irmã? | qual é o meu voo para Lisboa | sabe onde trabalho?"
    " | quando é a minha consulta | tenho alergias?",
    "zh": "我住在哪里 | 我妹妹叫什么名字 | 我明天几点出发 | 你知道我在哪儿工作吗 | 我对什么过敏 | 我的车是什么颜色",
}
FACTS = """I live in Graz. | My sister is called Ottilie. | Call me Captain from now on.
        Book club meets on Tuesdays.
    Text messages annoy me. | Email is how my boss reaches me. | Order and quiet matter to me. | Play is how I relax.
    Always answer me in French. | Never call me before nine. | Don't send me emails at night.
        Plan B is to stay in Graz.
    I send my mother flowers every May. | I need glasses for reading. | I want to learn Spanish.
        I'd like to live by the sea.
    Work starts at nine for me. | My checks bounce sometimes. | Watches are my hobby. | Set theory is my field.
    Search engines bore me. | Help desk work is what I do. | We book a cottage every summer.
        I call my mum on Sundays.
    Ich wohne in Graz und mag Tee. | Meine Schwester heißt Ottilie. | Ich schreibe gern Briefe. | Nenn mich Captain.
    Bestellungen mache ich immer online. | Ruf mich nie vor neun an. | Vivo en Graz desde mayo.
        Mi hermana se llama Ana.
    Yo llamo a mi madre los domingos. | Llámame siempre Capitán. | Quiero aprender alemán este año.
        Trabajo en Norvex.
    J'habite à Graz depuis mai. | Ma sœur s'appelle Ottilie. | Appelle-moi toujours Capitaine.
        Je voudrais vivre à la mer.
    J'écris des lettres à ma mère. | Eu moro em Graz desde maio. | A minha irmã chama-se Ana. | Chame-me Capitão.
    Quero aprender alemão este ano. | Escrevo cartas à minha mãe. | 我住在格拉茨。 | 我妹妹叫小丽。 | 请叫我船长。
    De niño vivía en Graz. | Busco piso en Graz. | Da minha janela vejo o mar. | Such a nice flat I have.
    我每天给妈妈打电话。 | 我想学西班牙语。 | 我对坚果过敏，不能吃。"""


def of(lines: str) -> list[str]:
    """Return the phrases of a table."""
    return [phrase.strip() for line in lines.splitlines() for phrase in line.split("|") if phrase.strip()]


def kept(text: str) -> list[str]:
    """Return what rules would remember of a message."""
    return [statement for statement in statements(text) if worth_keeping(statement)]


def test_hundreds_of_requests_and_questions_in_six_languages_tell_nothing() -> None:
    phrasings = [
        frame.format(request)
        for language, lines in REQUESTS.items()
        for request in of(lines)
        for frame in FRAMES[language]
    ]
    asked = [question + end for lines in QUESTIONS.values() for question in of(lines) for end in ("", "?", " ??")]
    assert len(phrasings) > 600
    assert len(asked) > 80
    wrong = {text: kept(text) for text in [*phrasings, *asked] if kept(text)}
    assert not wrong, f"{len(wrong)} of {len(phrasings) + len(asked)}: {wrong}"


def test_each_request_is_one_however_it_is_written() -> None:
    upper = [phrase[0].upper() + phrase[1:] for lines in REQUESTS.values() for phrase in of(lines)]
    marks = ("", ".", "!", " 🙂", "...")
    wrong = {text: kept(text) for phrase, mark in itertools.product(upper, marks) if kept(text := phrase + mark)}
    assert not wrong


@pytest.mark.parametrize("fact", of(FACTS))
def test_what_begins_like_a_request_and_tells_is_kept(fact: str) -> None:
    assert kept(fact) == [fact]


@pytest.mark.parametrize(
    ("text", "told_in_it"),
    [
        ("Book a table for two, I'm allergic to walnuts.", ["I'm allergic to walnuts."]),
        ("Email bob about lunch. I live in Graz.", ["I live in Graz."]),
        ("Find me a flat; my budget is 900 euros a month.", ["my budget is 900 euros a month."]),
        ("Tell Anna, I'm late.", []),
    ],
)
def test_what_is_told_beside_a_request_is_kept(text: str, told_in_it: list[str]) -> None:
    assert kept(text) == told_in_it


async def test_a_request_is_listed_by_nobody(momex: Momex) -> None:
    said = ("Email bob about lunch", "Schick Anna den Bericht bis fünf", "I live in Graz.")
    await momex.adder.add("ann", "", [told(text) for text in said])
    assert [memory.text for memory in await everything(momex, "ann")] == ["I live in Graz."]
