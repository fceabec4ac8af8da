"""Words that only hold a sentence together bring nothing up, in the languages that the product speaks."""

import pytest

from abilities.memory.extraction.words import content_words
from abilities.memory.momex import Momex
from tests.abilities.memory.harness import told

LIVES = {
    "de": """Meine Schwester heißt Ottilie. | Ich habe eine Katze, die Mohr heißt. | Mein Auto ist ein alter Lada.
        Ich wohne seit zwei Jahren in Graz. | Am Freitag gehe ich mit meinem Bruder schwimmen.
        Ich bin gegen Nüsse allergisch. | Meine Chefin kommt aus Linz und mag keinen Kaffee.
        Wie immer fahre ich im Sommer ans Meer. | Unser Garten ist nicht groß, aber schön.
        Ich lese gern, was meine Tochter mir gibt.""",
    "es": """Mi hermana se llama Otilia. | Tengo un gato que se llama Moro. | Mi coche es un Lada viejo.
        Vivo en Graz desde hace dos años. | Los viernes voy a nadar con mi primo.
        Soy alérgica a las nueces. | Mi jefa es de Linz y no le gusta el café.
        Como siempre, en verano voy al mar. | Nuestro jardín no es grande, pero es bonito.
        Me gusta leer lo que me da mi hija.""",
    "fr": """Ma sœur s'appelle Odile. | J'ai un chat qui s'appelle Maure. | Ma voiture est une vieille Lada.
        J'habite à Graz depuis deux ans. | Le vendredi je vais nager avec mon frère.
        Je suis allergique aux noix. | Ma cheffe est de Linz et n'aime pas le café.
        Comme toujours, je vais à la mer en été. | Notre jardin n'est pas grand, mais il est beau.
        J'aime lire ce que ma fille me donne.""",
    "pt": """A minha irmã chama-se Otília. | Tenho um gato que se chama Mouro. | O meu carro é um Lada velho.
        Moro em Graz há dois anos. | Às sextas vou nadar com o meu primo.
        Sou alérgica a nozes. | A minha chefe é de Linz e não gosta de café.
        Como sempre, no verão vou ao mar. | O nosso jardim não é grande, mas é bonito.
        Gosto de ler o que a minha filha me dá.""",
}


def life(language: str) -> list[str]:
    """Return the ten memories of a language."""
    return [text.strip() for line in LIVES[language].splitlines() for text in line.split("|")]


@pytest.mark.parametrize(
    ("language", "question", "answer"),
    [
        ("de", "Wie heißt meine Schwester?", 0),
        ("de", "Was ist mein Auto?", 2),
        ("es", "¿Cómo se llama mi hermana?", 0),
        ("es", "¿Qué coche tengo yo?", 2),
        ("fr", "Comment s'appelle ma sœur ?", 0),
        ("fr", "Quelle est ma voiture ?", 2),
        ("pt", "Como se chama a minha irmã?", 0),
        ("pt", "Qual é o meu carro?", 2),
    ],
)
async def test_only_what_answers_is_recalled(momex: Momex, language: str, question: str, answer: int) -> None:
    memories = life(language)
    assert len(memories) == 10
    await momex.add_now("ann", [told(text, days_ago=3) for text in memories])
    assert [hit.memory.text for hit in (await momex.search("ann", question)).found] == [memories[answer]]


@pytest.mark.parametrize("word", ["die", "war", "rot", "art", "gift", "fast", "pan", "sin", "son", "red", "car", "fin"])
def test_an_english_word_that_is_a_little_one_elsewhere_counts(word: str) -> None:
    assert content_words(word) == [word]
