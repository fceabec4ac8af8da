"""Whatever is written in whatever order, nobody is linked who did not agree after they were asked."""

import random

import pytest

from tests.core.people.harness import CHAT, DESK, PHONE, Harness

PLACES = (("+15550000001", PHONE), ("+15550000002", PHONE), ("7001", CHAT), ("U0ABC", DESK))
STEPS = 30


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_no_order_of_link_commands_links_without_consent(harness: Harness, seed: int) -> None:
    chance = random.Random(seed)
    codes: list[str] = []
    asked: set[tuple[str, str]] = set()
    linked = refused = 0
    for sender, account in PLACES:
        await harness.ask("hello", sender, account)
    for _ in range(STEPS):
        sender, account = chance.choice(PLACES)
        word = "/link" if account is CHAT else "LINK"
        await harness.settle()
        if not codes or chance.random() < 0.3:
            codes = [*codes[-1:], await harness.code(sender, account)]
            continue
        code, agrees = chance.choice(codes), chance.random() < 0.5
        before = [await harness.tenant(*place) for place in PLACES]
        heard = await harness.ask(f"{word} {code}" + " agree" * agrees, sender, account)
        if [await harness.tenant(*place) for place in PLACES] == before:
            refused += 1
        else:
            linked += 1
            assert agrees, heard
            assert (code, sender) in asked, heard
        if f"{code} AGREE" in heard:
            asked = {(item, who) for item, who in asked if item != code} | {(code, sender)}
    assert refused, "nothing was tried"
    if not linked:  # chance found no way: the way itself is open
        code = await harness.code(*PLACES[0])
        assert (await harness.link(code, *PLACES[1])).startswith("Linked")
