"""Reactions that phones send as texts are told apart from what a person says."""

import pytest

from channels.sms.parse import parse_message
from channels.sms.tapbacks import find_tapback
from channels.sms.texts import Account
from core.messaging.inbound import Reaction
from core.messaging.messages import InboundMessage
from tests.channels.sms.builders import NUMBER, SID, webhook

REACTIONS = [
    # Apple's six, and their removals, in English
    "Liked “Dinner at 8”",
    "Loved “Dinner at 8”",
    "Disliked “Dinner at 8”",
    "Laughed at “Dinner at 8”",
    "Emphasized “Send it? Reply OK 7K”",
    "Emphasised “Dinner at 8”",
    "Questioned “Dinner at 8”",
    "Removed a like from “Dinner at 8”",
    "Removed a heart from “Dinner at 8”",
    "Removed a dislike from “Dinner at 8”",
    "Removed a laugh from “Dinner at 8”",
    "Removed an exclamation from “Dinner at 8”",
    "Removed a question mark from “Dinner at 8”",
    # any emoji since iOS 18, with and without its variation selector, with a skin tone, joined
    "Reacted 👍 to “Dinner at 8”",
    "Reacted ❤️ to “Dinner at 8”",
    "Reacted 👍🏽 to “Dinner at 8”",
    "Reacted 👩‍👩‍👧 to “Dinner at 8”",
    "Reacted with 🎉 to “Dinner at 8”",
    "Removed 👍 from “Dinner at 8”",
    # what else was sent
    "Loved an image",
    "Liked a movie",
    "Reacted 😂 to an attachment",
    "Laughed at 3 images",
    # more than one line; quotes within; cut short; straight quotes after a gateway
    "Liked “1. Milk\n2. Bread\n\nAnything else?”",
    "Liked “He said “no””",
    "Loved “A long answer that the phone has cut…",
    "Loved “A long answer that the phone has cut…”",
    'Liked "Dinner at 8"',
    'Laughed at "Dinner at..."',
    # Google Messages, with the unseen letters that it puts around
    "\u200a\u200b👍\u200b to “\u200aDinner at 8\u200a”\u200a",
    "👍 to “Dinner at 8”",
    # Spanish
    "Le gustó “Cena a las 8”",
    "Le encantó “Cena a las 8”",
    "No le gustó “Cena a las 8”",
    "Le dio risa “Cena a las 8”",
    "Exclamó por “Cena a las 8”",
    "Dudó sobre “Cena a las 8”",
    "Reaccionó con 😂 a “Cena a las 8”",
    "Le encantó una imagen",
    # French, of both wordings
    "A aimé « Dîner à 20 h »",
    "A adoré «\u00a0Dîner à 20 h\u00a0»",
    "N’a pas aimé « Dîner à 20 h »",
    "a attribué la mention « J’aime » à « Dîner à 20 h »",
    "A attribué la mention « 😂 » à « Dîner à 20 h »",
    "A retiré la mention « Adore » de « Dîner à 20 h »",
    "A réagi ❤️ à « Dîner à 20 h »",
    "a réagi avec 🔥 à « la photo »",
    # German
    "Gefällt „Essen um 8“",
    "Gefällt „Essen um 8“ nicht",
    "Liebt „Essen um 8“",
    "Lacht über „Essen um 8“",
    "Hebt „Essen um 8“ hervor",
    "Hinterfragt „Essen um 8“",
    "Hat mit 👍 auf „Essen um 8“ reagiert",
    "Gefällt ein Bild",
    # Portuguese
    "Curtiu “Jantar às 8”",
    "Gostou de “Jantar às 8”",
    "Não curtiu “Jantar às 8”",
    "Amou “Jantar às 8”",
    "Riu de “Jantar às 8”",
    "Reagiu com 👍🏽 a “Jantar às 8”",
    "Curtiu uma imagem",
    # Chinese
    "赞了“八点吃饭”",
    "给“八点吃饭”点了赞",
    "踩了“八点吃饭”",
    "强调了“八点吃饭”",
    "用👍回应了“八点吃饭”",
    "赞了一张图片",
    # Google Messages in any language, by its unseen letters
    *(
        f"\u200a{before}\u200b👍\u200b{between}\u200aDinner at 8\u200a{after}\u200a"
        for before, between, after in (
            ("", " to “", "”"),
            ("", " für „", "“"),
            ("Reaccionó con ", " a “", "”"),
            ("", " à « ", " »"),
            ("", " para “", "”"),
            ("对消息回应了", "：“", "”"),
        )
    ),
]
SAID = [
    "Liked it",
    "Loved “Dune”, what else is like it?",
    "I liked “Dune”",
    "Liked “Dune” and “Arrival”. More?",
    "Loved “Dune” and “Arrival”",
    "Questioned whether to go",
    "Loved an image of you, can you send it again?",
    "What does “Reply OK 7K” mean?",
    "Translate “bonjour”",
    "👍",
    "👍 to all of it",
    "Reacted badly to “Dinner at 8”",
    "Remind me to call “Sam”",
    "Removed the eggs from “the list”",
    "“Dinner at 8”",
    "Le gustó la cena",
    "A aimé le dîner",
    "Gefällt mir „Dune“ besser?",
    "Lacht über „Dune“ nicht",
    "Gefällt das",
    "Curtiu o jantar",
    "Curtiu “Duna”? Eu não",
    "赞了",
    "给“八点吃饭”点了外卖",
    "\u200aI meet Sam at 8\u200a",
    "ok",
    "",
]


@pytest.mark.parametrize("text", REACTIONS)
def test_a_phones_wording_is_a_reaction(text: str) -> None:
    (inbound,) = parse_message(tuple(webhook(Body=text)), Account(sid=SID, sender=NUMBER))
    assert isinstance(inbound, Reaction)
    assert len(inbound.added + inbound.removed) == 1


@pytest.mark.parametrize(
    ("text", "added", "removed", "quote", "cut"),
    [
        ("Liked “Dinner at 8”", "👍", "", "Dinner at 8", False),
        ("Disliked “Dinner at 8”", "👎", "", "Dinner at 8", False),
        ("Loved “Dinner at 8”", "❤", "", "Dinner at 8", False),
        ("Removed a like from “Dinner at 8”", "", "👍", "Dinner at 8", False),
        ("Removed an exclamation from “Dinner at 8”", "", "‼", "Dinner at 8", False),
        ("Reacted 👍🏽 to “Dinner at 8”", "👍", "", "Dinner at 8", False),
        ("Reacted ❤️ to “Dinner at 8”", "❤", "", "Dinner at 8", False),
        ("Removed 👎 from “Dinner at 8”", "", "👎", "Dinner at 8", False),
        ("\u200a\u200b👍\u200b to “\u200aDinner at 8\u200a”\u200a", "👍", "", "Dinner at 8", False),
        ("Liked “He said “no””", "👍", "", "He said “no”", False),
        ("Loved “A long answer that the phone has cut…”", "❤", "", "A long answer that the phone has cut", True),
        ('Laughed at "Dinner at..."', "😂", "", "Dinner at", True),
        ("Loved an image", "❤", "", "", False),
        ("No le gustó “Cena a las 8”", "👎", "", "Cena a las 8", False),
        ("Reaccionó con 😂 a “Cena a las 8”", "😂", "", "Cena a las 8", False),
        ("a attribué la mention « J’aime » à « Dîner à 20 h »", "👍", "", "Dîner à 20 h", False),
        ("A retiré la mention « Adore » de « Dîner à 20 h »", "", "❤", "Dîner à 20 h", False),
        ("a réagi avec 🔥 à « la photo »", "🔥", "", "la photo", False),
        ("A attribué la mention « Bof » à « Dîner »", ":Bof:", "", "Dîner", False),
        ("Gefällt „Essen um 8“", "👍", "", "Essen um 8", False),
        ("Gefällt „Essen um 8“ nicht", "👎", "", "Essen um 8", False),
        ("Gefällt „Sag „ja“ dazu“ nicht", "👎", "", "Sag „ja“ dazu", False),
        ("Gefällt „Essen um…“ nicht", "👎", "", "Essen um", True),
        ("Hat mit 👎 auf „Essen um 8“ reagiert", "👎", "", "Essen um 8", False),
        ("Hat 👎 von „Essen um 8“ entfernt", "", "👎", "Essen um 8", False),
        ("Não curtiu “Jantar às 8”", "👎", "", "Jantar às 8", False),
        ("Removeu 👍 de “Jantar às 8”", "", "👍", "Jantar às 8", False),
        ("给“八点吃饭”点了踩", "👎", "", "八点吃饭", False),
        ("点赞了「八点吃饭」", "👍", "", "八点吃饭", False),
        ("\u200a\u200b👎\u200b für „\u200aEssen um 8\u200a“\u200a", "👎", "", "Essen um 8", False),
        ("\u200aEntfernt: \u200c👍\u200c von „\u200aEssen um 8\u200a“\u200a", "", "👍", "Essen um 8", False),
        ("\u200a\u200b❤️\u200b à « \u200aLa fin manque…\u200a »\u200a", "❤", "", "La fin manque", True),
    ],
)
def test_a_reaction_has_an_emoji_and_what_it_quotes(text: str, added: str, removed: str, quote: str, cut: bool) -> None:
    (read,) = parse_message(tuple(webhook(Body=text)), Account(sid=SID, sender=NUMBER))
    assert isinstance(read, Reaction)
    assert (read.added, read.removed) == ((added,) if added else (), (removed,) if removed else ())
    assert (read.quote, read.cut) == (quote, cut)


@pytest.mark.parametrize("text", SAID)
def test_what_a_person_says_is_none(text: str) -> None:
    assert not find_tapback(text)


def test_a_reaction_that_comes_with_a_picture_is_said() -> None:
    picture = {"NumMedia": "1", "MediaUrl0": "https://api.twilio.com/a", "MediaContentType0": "image/jpeg"}
    (inbound,) = parse_message(tuple(webhook(Body="Liked “a”", **picture)), Account(sid=SID, sender=NUMBER))
    assert isinstance(inbound, InboundMessage)


def test_a_long_text_is_looked_at_once() -> None:
    assert not find_tapback("Liked “" + "a “" * 100_000 + " b")
    assert not find_tapback("\u200a\u200b👍\u200b\u200a" + "a\u200b" * 100_000)
